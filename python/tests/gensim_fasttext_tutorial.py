"""The steps of gensim's FastText tutorial, with w2vcl. Lines that differ from the tutorial end with a mark.

The distance between sentences is left out: it needs POT, a download of 33 MB.
"""

from pprint import pprint as print
import w2vcl
from gensim.test.utils import datapath

# Set file names for train and test data
corpus_file = datapath("lee_background.cor")

# The line model = FastText(vector_size=100) is gone.  # changed
# build the vocabulary
model = w2vcl.train(corpus_file, vector_size=100)  # changed
# The call of model.train(corpus_file=corpus_file, ...) is gone.  # changed

print(model)

# Save a model trained via Gensim's fastText implementation to temp.
import tempfile
import os

with tempfile.NamedTemporaryFile(prefix="saved_model_gensim-", delete=False) as tmp:
    model.save(tmp.name + ".model")  # changed

# Load back the same model.
loaded_model = w2vcl.load(tmp.name + ".model")  # changed
print(loaded_model)

os.unlink(tmp.name)  # demonstration complete, don't need the temp file anymore

wv = model.wv
print(wv)

# FastText models support vector lookups for out-of-vocabulary words by summing up character ngrams belonging to the word.
print("night" in wv.key_to_index)
print("nights" in wv.key_to_index)
print(wv["night"])
print(wv["nights"])

# Similarity operations
print(wv.similarity("night", "nights"))
print(wv.most_similar("nights"))
print(wv.n_similarity(["sushi", "shop"], ["japanese", "restaurant"]))
print(wv.doesnt_match("breakfast cereal dinner lunch".split()))
print(wv.most_similar(positive=["baghdad", "england"], negative=["london"]))
print(wv.evaluate_word_analogies(datapath("questions-words.txt")))
