"""The steps of gensim's word2vec tutorial, with w2vcl. Lines that differ from the tutorial end with a mark."""

import os
import tempfile

import numpy as np
from gensim import utils
from gensim.test.utils import datapath
import w2vcl; from w2vcl import train as Word2Vec  # changed


class MyCorpus:
    """An iterator that yields sentences (lists of str)."""

    def __iter__(self):
        corpus_path = datapath("lee_background.cor")
        for line in open(corpus_path):
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

with tempfile.TemporaryDirectory() as folder:
    temporary_filepath = os.path.join(folder, "model.bin")
    model.save(temporary_filepath)
    new_model = w2vcl.load(temporary_filepath)  # changed
    assert np.array_equal(new_model["king"], vec_king)

model = Word2Vec(sentences, min_count=10)
model = Word2Vec(sentences, vector_size=200)
model = Word2Vec(sentences, workers=4)

print(model.keyed_vectors.evaluate_word_pairs(datapath("wordsim353.tsv")))  # changed

more_sentences = [["Advanced", "users", "can", "load", "a", "model", "and", "continue", "training", "it"]] * 5
model = Word2Vec(list(sentences) + more_sentences, subword="none", init=model)  # changed

model_with_loss = Word2Vec(sentences, min_count=1, sg=1, seed=42)
training_loss = model_with_loss.summary["loss"]  # changed
print(training_loss)

labels = np.asarray(model.wv.index_to_key)
vectors = np.asarray(model.wv.vectors)
assert vectors.shape == (len(labels), 100)
