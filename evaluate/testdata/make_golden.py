"""Writes a small table, data sets for it, and the scores that gensim, scipy and
scikit-learn give them (golden.json), for the tests of evaluate and of the packages
below it. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install gensim==4.4.0 scikit-learn==1.9.1
    ./venv/bin/python make_golden.py
"""

import json

import numpy as np
from gensim.models import KeyedVectors
from scipy import stats
from sklearn.linear_model import LogisticRegression

random = np.random.default_rng(7)
DIM = 8

# Two relations: the answers lie off their sources by a common offset and
# noise. Some words occur in two spellings, to tell the rules for case apart.
words, rows = [], []


def add(word, vector):
    words.append(word)
    rows.append(vector)


relations = {"capital": 12, "plural": 10}
pairs = {}
for relation, count in relations.items():
    offset = random.normal(size=DIM)
    pairs[relation] = []
    for i in range(count):
        source = random.normal(size=DIM)
        names = (f"{relation}{i}", f"{relation.title()}{i}x")
        add(names[0], source)
        add(names[1], source + offset + 0.45 * random.normal(size=DIM))
        pairs[relation].append(names)
for i in range(5):  # another spelling, later and so less frequent
    add(f"CAPITAL{i}", random.normal(size=DIM))
for i in range(4):
    add(f"other{i}", random.normal(size=DIM))
order = random.permutation(len(words))
words = [words[i] for i in order]
table = KeyedVectors(DIM)
table.add_vectors(words, np.array([rows[i] for i in order], dtype=np.float32))
table.save_word2vec_format("vectors.txt")

with open("questions.txt", "w", encoding="utf-8") as f:
    for relation in relations:
        f.write(f": {relation}\n")
        for a, b in pairs[relation]:
            for c, d in pairs[relation]:
                if a != c:
                    f.write(f"{a} {b} {c} {d}\n")
        f.write(f"{relation}0 {relation.title()}0x unknown{relation} unknown\n")

with open("pairs.tsv", "w", encoding="utf-8") as f:
    f.write("# word\tword\tscore\n")
    for i in range(60):
        first, second = random.choice(words, 2)
        score = round(float(table.similarity(first, second)) * 5 + 5 + random.normal() * 3, 0)  # many ties
        f.write(f"{first.lower()}\t{second}\t{score}\n")
    f.write("unknown\tother1\t3.0\n")

runs = []
for restrict in [0, len(words) // 2]:
    pearson, spearman, oov = table.evaluate_word_pairs("pairs.tsv", restrict_vocab=restrict or len(words))
    score, sections = table.evaluate_word_analogies("questions.txt", restrict_vocab=restrict or len(words))
    runs.append({
        "restrict": restrict,
        "pearson": float(pearson[0]), "spearman": float(spearman[0]), "pairs_found": round(61 * (1 - oov / 100)),
        "analogy": float(score),
        "sections": [{"name": s["section"], "right": len(s["correct"]), "found": len(s["correct"]) + len(s["incorrect"])}
                     for s in sections[:-1]],
    })

correlations = []
for x, y in [
    ([1, 2, 3, 4], [1, 3, 2, 4]),
    ([1, 1, 2, 2, 3], [5, 4, 4, 3, 1]),
    ([0.1, 0.2, 0.2, 0.2, 5], [1, 2, 3, 4, 5]),
    (random.normal(size=40).round(1).tolist(), random.normal(size=40).round(1).tolist()),
]:
    correlations.append({"x": x, "y": y, "spearman": float(stats.spearmanr(x, y)[0]), "pearson": float(stats.pearsonr(x, y)[0])})

unit = table.get_normed_vectors().astype(np.float64)


def regression(unit, positive, negative):
    model = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-10, max_iter=10_000)
    return model.fit(np.vstack([unit[positive], unit[negative]]), [1] * len(positive) + [0] * len(negative))


# LRCos by its definition, without case: only the first spelling counts. The
# table is that of one relation and so small that all other words are the
# random negative words.
small = KeyedVectors(DIM)
kept = [w for w in words if not w.lower().startswith("plural")]
small.add_vectors(kept, table[kept])
small.save_word2vec_format("lrcos.txt")
small_unit = small.get_normed_vectors().astype(np.float64)
first = {}
for i, word in enumerate(kept):
    first.setdefault(word.upper(), i)
ids = [(first[a.upper()], first[b.upper()]) for a, b in pairs["capital"]]
answers, lrcos = {b for _, b in ids}, []
for source, answer in ids:
    rest = [i for i in range(len(kept)) if i not in (source, answer)]
    model = regression(small_unit, [i for i in rest if i in answers], [i for i in rest if i not in answers])
    scores = model.predict_proba(small_unit)[:, 1] * (small_unit @ small_unit[source])
    for i, word in enumerate(kept):
        if first[word.upper()] == source:
            scores[i] = -np.inf
    lrcos.append(kept[int(np.argmax(scores))].upper() == kept[answer].upper())

positive, negative = list(range(0, 10)), list(range(10, 40))
model = regression(unit, positive, negative)
logistic = {
    "features": np.hstack([unit[positive + negative], np.ones((40, 1))]).tolist(),
    "positive": len(positive),
    "weights": model.coef_[0].tolist() + model.intercept_.tolist(),
}

with open("golden.json", "w", encoding="utf-8") as f:
    json.dump({"runs": runs, "correlations": correlations, "lrcos": {"right": int(sum(lrcos)), "found": len(lrcos)}, "logistic": logistic}, f, indent=1)
    f.write("\n")
