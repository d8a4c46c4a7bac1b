"""The steps of gensim's word2vec tutorial, with w2vcl. Lines that differ from the tutorial end with a mark.

The tutorial also downloads a model of 2 GB and measures times, which is left out here.
"""

import os
import tempfile

import numpy as np
from gensim import utils
from gensim.test.utils import datapath
import w2vcl; from w2vcl import train as Word2Vec


class MyCorpus:
    """An iterator that yields sentences (lists of str)."""

    def __iter__(self):
        corpus_path = datapath("lee_background.cor")
        for line in open(corpus_path):
            # assume there's one document per line, tokens separated by whitespace
            yield utils.simple_preprocess(line)


sentences = MyCorpus()
model = Word2Vec(sentences=sentences)

vec_king = model.wv["king"]
for index, word in enumerate(model.wv.index_to_key):
    if index == 10:
        break
    print(f"word #{index}/{len(model.wv.index_to_key)} is {word}")

try:
    vec_cameroon = model.wv["cameroon"]
except KeyError:
    print("The word 'cameroon' does not appear in this model")

pairs = [("police", "government"), ("police", "people"), ("police", "water")]
for w1, w2 in pairs:
    print("%r\t%r\t%.2f" % (w1, w2, model.wv.similarity(w1, w2)))
print(model.wv.most_similar(positive=["police", "people"], topn=5))
print(model.wv.doesnt_match(["fire", "water", "land", "sea", "air", "car"]))

with tempfile.NamedTemporaryFile(prefix="gensim-model-", delete=False) as tmp:
    temporary_filepath = tmp.name
    model.save(temporary_filepath + ".model")  # changed
    new_model = w2vcl.load(temporary_filepath + ".model")  # changed
    assert np.array_equal(new_model.wv["king"], vec_king)

model = Word2Vec(sentences, min_count=10)
model = Word2Vec(sentences, vector_size=200)
model = Word2Vec(sentences, workers=4)

model.wv.evaluate_word_analogies(datapath("questions-words.txt"))
print(model.wv.evaluate_word_pairs(datapath("wordsim353.tsv")))

model = w2vcl.Run(temporary_filepath + ".model")  # changed
more_sentences = [["Advanced", "users", "can", "load", "a", "model", "and", "continue", "training", "it", "with", "more", "sentences"]]
# The line model.build_vocab(more_sentences, update=True) is gone.  # changed
model = model.train(more_sentences, epochs=model.epochs, min_count=1)  # changed
assert "Advanced" in model.wv

# cleaning up temporary file
os.remove(temporary_filepath)

# instantiating and training the Word2Vec model
model_with_loss = Word2Vec(sentences, min_count=1, compute_loss=True, hs=0, sg=1, seed=42)

# getting the training loss value
training_loss = model_with_loss.summary["loss"]  # changed
print(training_loss)

labels = np.asarray(model.wv.index_to_key)
vectors = np.asarray(model.wv.vectors)
assert vectors.shape == (len(labels), 100)
