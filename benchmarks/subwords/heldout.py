"""Pairs of an unseen and a known word, judged by the vectors of a larger text, for w2vcl eval.

    heldout.py REFERENCE TEXT LEAVE OUT

REFERENCE is the run folder of the larger text, at word level. An unseen word is one that occurs 20 times or more there, and fewer
than five times in TEXT, the text that is trained on. Words of the pairs in the file LEAVE (RW) are left out. A pair's score is
the cosine in REFERENCE, less the mean vector. Each unseen word gets its ten nearest known words and ten random ones. OUT/derived.txt
has 2,000 words that a known word and an affix make, OUT/derived-near.txt only their nearest words, OUT/derived-both.txt pairs of
two of them, and OUT/other.txt 1,000 other words.
Needs numpy.
"""
import collections, os, random, sys
import numpy as np

SUFFIXES = """s es d ed ing ings r er ers or ors ly ness less ful ment ments able ible ability al ally ial ous ously ive ively ity ion
ions ation ations ize ized izing ise ised ish ism isms ist ists ic ical ship hood dom ward like proof man men work y ier iest est ance
ence ancy ency ian ant ent""".split()
PREFIXES = """un in im il ir dis mis non re pre post over under out sub super inter trans anti counter fore semi co de en em micro mono
multi poly pseudo ultra auto bio hyper intra extra mid neo""".split()


def vectors(path):
    b = open(path, "rb").read()
    at = b.index(b"\n") + 1
    n, dim = map(int, b[:at].split())
    words, x = [], np.empty((n, dim), np.float32)
    for i in range(n):
        end = b.index(b" ", at)
        words.append(b[at:end].lstrip(b"\n").decode())
        x[i] = np.frombuffer(b, "<f4", dim, end + 1)
        at = end + 1 + 4 * dim
    x -= x.mean(0)
    return words, x / np.linalg.norm(x, axis=1, keepdims=True)


def derived(word, known):
    for s in SUFFIXES:
        stem = word[:-len(s)]
        if word.endswith(s) and len(stem) >= 4 and {stem, stem + "e", stem + "y", stem[:-1], stem[:-1] + "y", stem + "ion"} & known:
            return True
    return any(word.startswith(p) and len(word) - len(p) >= 4 and word[len(p):] in known for p in PREFIXES)


def nearest(similar, n):
    return np.argpartition(-similar, n, 1)[:, :n]


def main(reference, text, leave, out):
    words, x = vectors(reference + "/vectors.bin")
    often = {w: int(n) for w, n, *_ in (line.rstrip("\n").split("\t") for line in open(reference + "/vocab.tsv")) if n.isdigit()}
    at = {w: i for i, w in enumerate(words)}
    left = {w.lower() for line in open(leave) for w in line.split()[:2]}
    known = [w for w, n in collections.Counter(open(text).read().split()).most_common() if n >= 5]
    have = set(known)
    candidates = [w for w in words if w not in have and often[w] >= 20 and w not in left]
    random.Random(1).shuffle(candidates)
    affixed = [w for w in candidates if derived(w, have)][:2000]
    unseen = affixed + [w for w in candidates if not derived(w, have)][:1000]
    known, draw = [w for w in known if w in at], np.random.default_rng(1)
    u = x[[at[w] for w in unseen]]
    similar = u @ x[[at[w] for w in known]].T
    columns = np.hstack([nearest(similar, 10), draw.integers(0, len(known), (len(unseen), 10))])
    of_unseen = u @ u.T
    np.fill_diagonal(of_unseen, -9)
    columns_of_unseen = np.hstack([nearest(of_unseen, 5), draw.integers(0, len(unseen), (len(unseen), 5))])

    def write(name, rows, columns, similar, others, most):
        with open(f"{out}/{name}.txt", "w") as f:
            for i in rows:
                for k in columns[i]:
                    if k < most and similar[i, k] > -2:
                        print(unseen[i], others[k], f"{similar[i, k]:.4f}", sep="\t", file=f)
    os.makedirs(out, exist_ok=True)
    n = len(affixed)
    write("derived", range(n), columns, similar, known, len(known))
    write("derived-near", range(n), columns[:, :10], similar, known, len(known))
    write("derived-both", range(n), columns_of_unseen, of_unseen, unseen, n)
    write("other", range(n, len(unseen)), columns, similar, known, len(known))
    print(len(known), "known words,", n, "derived,", len(unseen) - n, "other")


main(*sys.argv[1:])
