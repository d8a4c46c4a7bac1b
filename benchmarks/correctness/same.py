"""same.py W2VCL TEXT DIR: skip-gram with hierarchical softmax by w2vcl and by gensim, where no random number is left: the same first
vectors, windows of one word, no subsampling, one rate, and only words whose counts all differ, so that there is one Huffman tree. Both are
compared with plain loops in double precision, with σ and with the table that gensim and word2vec.c have in its place."""
import subprocess, sys
from collections import Counter
import numpy as np
from gensim.models import Word2Vec, KeyedVectors

w2vcl, source, folder = sys.argv[1:4]
DIM, ALPHA = 50, 0.025
exact = lambda x: 1 / (1 + np.exp(-x))
entries = exact((np.arange(1000) / 1000 * 2 - 1) * 6)
table = lambda x: entries[int((x + 6) * 83)]  # 83 is 1000 / 6 / 2 in whole numbers

def plain(model, start, lines, epochs, sigma):
    words = {w: start[i].astype("f8") for i, w in enumerate(model.wv.index_to_key)}
    nodes = np.zeros((len(words), DIM))
    path = {w: list(zip(model.wv.get_vecattr(w, "point"), model.wv.get_vecattr(w, "code"))) for w in words}
    for line in lines * epochs:
        for t, word in enumerate(line):
            for c in (t - 1, t + 1):
                if not 0 <= c < len(line):
                    continue
                h, change = words[line[c]], np.zeros(DIM)
                for node, code in path[word]:
                    g = ALPHA * (1 - code - sigma(h @ nodes[node]))
                    change += g * nodes[node]
                    nodes[node] += g * h
                words[line[c]] = h + change
    return np.array([words[w] for w in model.wv.index_to_key])

def apart(words, least):
    counts = Counter(words)
    seen = Counter(counts.values())
    return [w for w in words if seen[counts[w]] == 1 and counts[w] >= least]

all_words = apart(open(source).read().split()[:400000], 21)
for tokens, epochs in ((2000, 1), (2000, 3), (20000, 1)):
    words = apart(all_words[:tokens], 1)
    lines = [words[i:i + 1000] for i in range(0, len(words), 1000)]
    with open(f"{folder}/text.txt", "w") as f:
        f.writelines(" ".join(l) + "\n" for l in lines)
    m = Word2Vec(vector_size=DIM, window=1, min_count=1, sample=0, workers=1, sg=1, hs=1, negative=0, alpha=ALPHA, min_alpha=ALPHA, seed=1)
    m.build_vocab(lines)
    start = m.wv.vectors.copy()
    m.wv.save_word2vec_format(f"{folder}/first.txt")
    m.train(lines, total_examples=len(lines), epochs=epochs)
    subprocess.run([w2vcl, *f"train --mode word2vec --model sg --hs --dim {DIM} --window 1 --sample 0 --min-count 1 --epochs {epochs} --lr {ALPHA} --decay none --threads 1 --init {folder}/first.txt --corpus {folder}/text.txt --out {folder}/run --force --quiet".split()], check=True, timeout=200)
    ours = KeyedVectors.load_word2vec_format(f"{folder}/run/vectors.bin", binary=True)
    ours = np.array([ours[w] for w in m.wv.index_to_key])
    way = np.linalg.norm(m.wv.vectors - start)
    far = lambda a, b: f"{np.linalg.norm(a - b) / way:.1e}"
    with_sigma, with_table = (plain(m, start, lines, epochs, s) for s in (exact, table))
    print(f"{len(words)} words, {len(set(words))} different, epochs {epochs}: w2vcl from σ {far(ours, with_sigma)}, gensim from σ {far(m.wv.vectors, with_sigma)}, gensim from its table {far(m.wv.vectors, with_table)}, of the way that vectors went")
