"""Writes small vectors of three runs (golden.json) with their stability, their ensemble
and the spread of some scores, for the test of evaluate/seeds. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    ./venv/bin/python make_golden.py
"""

import json

import numpy as np
from scipy import stats

NEIGHBORS, BANDS, WORDS_PER_BAND, DIM = 10, 5, 17, 6
GAP = 1e-5  # cosines that lie nearer could change places by rounding

random = np.random.default_rng(40)


def runs():
    """Three noisy views of the same vectors, each rotated, scaled, in another order and without some words."""
    words = [f"w{i}" for i in range(140)]
    meant = random.normal(size=(len(words), DIM)) + 0.5
    for seed in range(3):
        rotation = np.linalg.qr(random.normal(size=(DIM, DIM)))[0]
        vectors = (meant + 0.4 * random.normal(size=meant.shape)) @ rotation * (1 + seed)
        order = random.permutation(len(words))[: len(words) - 5 * seed] if seed else np.arange(len(words))
        yield {"words": [words[i] for i in order], "vectors": vectors[order].astype(np.float32)}


def rows(run, words):
    at = {word: i for i, word in enumerate(run["words"])}
    return np.array([run["vectors"][at[word]] for word in words], dtype=np.float64)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def neighbors(vectors, i):
    cosines = unit(vectors) @ unit(vectors)[i]
    cosines[i] = -np.inf
    order = np.argsort(-cosines)
    assert cosines[order[NEIGHBORS - 1]] - cosines[order[NEIGHBORS]] > GAP, "choose another seed"
    return set(order[:NEIGHBORS].tolist())


def interval(values):
    half = stats.norm.ppf(0.975) * np.std(values, ddof=1) / np.sqrt(len(values))
    return [np.mean(values), np.mean(values) - half, np.mean(values) + half]


def stability(tables, words):
    size = len(words)
    bands = [(b * size // BANDS, (b + 1) * size // BANDS) for b in range(BANDS)]
    pairs = [(i, k) for i in range(len(tables)) for k in range(i)]
    overlaps, of_bands = [], []
    for first, last in bands:
        compared = min(last - first, WORDS_PER_BAND)
        band = []
        for i in range(compared):
            row = first + i * (last - first) // compared
            found = [neighbors(t, row) for t in tables]
            band.append([len(found[i] & found[k]) / NEIGHBORS for i, k in pairs])
        overlaps += band
        of_bands.append(interval(np.mean(band, axis=1)))
    overlaps = np.array(overlaps)
    return {"words": size, "all": interval(overlaps.mean(axis=1)), "bands": of_bands,
            "least": overlaps.mean(axis=0).min(), "most": overlaps.mean(axis=0).max()}


def ensemble_cosines(tables, dim):
    """The cosines with the first word when the runs, side by side, have singular values to the power .8 and dim dimensions."""
    u, s, _ = np.linalg.svd(np.hstack([unit(t) for t in tables]), full_matrices=False)
    rows = u[:, :dim] * s[:dim] ** 0.8
    return unit(rows) @ unit(rows)[0]


def spread(values):
    n, deviation = len(values), np.std(values, ddof=1)
    half = stats.t.ppf(0.975, n - 1) * deviation / np.sqrt(n)
    bounds = np.sqrt((n - 1) / stats.chi2.ppf([0.975, 0.025], n - 1)) * deviation
    return {"values": values, "mean": [np.mean(values), np.mean(values) - half, np.mean(values) + half],
            "deviation": [deviation, *bounds]}


def plain(value):
    return value.tolist()


made = list(runs())
common = [w for w in made[0]["words"] if all(w in run["words"] for run in made)]
tables = [rows(run, common) for run in made]
golden = {
    "dim": DIM, "words_per_band": WORDS_PER_BAND,
    "runs": [{"words": run["words"], "vectors": run["vectors"].ravel()} for run in made],
    "common": common, "stability": stability(tables, common),
    "cosines": ensemble_cosines(tables, DIM * len(tables)), "reduced_cosines": ensemble_cosines(tables, DIM),
    "spreads": [spread(v) for v in ([0.31, 0.34], [0.5, 0.52, 0.49], [0.1, 0.3, 0.2, 0.25, 0.15, 0.22])],
}
with open("golden.json", "w", encoding="utf-8") as f:
    json.dump(golden, f, default=plain, separators=(",", ":"))
    f.write("\n")
