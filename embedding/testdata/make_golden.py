"""Writes the files beside it with the programs that other people use, so that
the tests read what those programs write. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install gensim==4.4.0 safetensors==0.8.0
    ./venv/bin/python make_golden.py

All files hold the same table, written here once more as WORDS and VECTORS and
in golden_test.go.
"""

import numpy as np
from gensim.models import KeyedVectors
from safetensors.numpy import save_file

WORDS = ["the", "naïve", "日本", "x-1"]
VECTORS = np.array(
    [[0.5, -0.25, 0.1], [1e-7, 3.0, -1234.5], [0.0, -0.0, 16777216.0], [0.333333343, 1.17549435e-38, 3.4028235e38]],
    dtype=np.float32,
)

vectors = KeyedVectors(VECTORS.shape[1])
vectors.add_vectors(WORDS, VECTORS)
vectors.save_word2vec_format("gensim.txt", binary=False)
vectors.save_word2vec_format("gensim.bin", binary=True)  # no line break after a vector
vectors.save_word2vec_format("gensim-glove.txt", binary=False, write_header=False)

# word2vec.c: fprintf("%s "), fwrite of each float, fprintf("\n")
with open("word2vec-c.bin", "wb") as f:
    f.write(b"%d %d\n" % VECTORS.shape)
    for word, vector in zip(WORDS, VECTORS):
        f.write(word.encode() + b" " + vector.tobytes() + b"\n")

np.save("numpy.npy", VECTORS)
np.save("numpy-float64.npy", VECTORS.astype(np.float64))
for name in ["numpy", "numpy-float64"]:
    with open(name + ".words.txt", "w", encoding="utf-8") as f:
        f.write("".join(word + "\n" for word in WORDS))

words = np.frombuffer("\n".join(WORDS).encode(), dtype=np.uint8)
save_file({"vectors": VECTORS, "words": words}, "library.safetensors", metadata={"by": "safetensors"})
