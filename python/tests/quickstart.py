"""The first ten lines of a user: train, neighbours, an unseen word, gensim."""

import w2vcl

run = w2vcl.demo(dim=50, iterations=256)  # on the text that comes along
print(run.neighbors("railroad", 5))
print(run.vector("railroadless")[:4])  # the text does not have it
print(run.neighbors("railroadless", 5))
keyed = run.keyed_vectors
print(keyed.most_similar("economy", topn=5))
