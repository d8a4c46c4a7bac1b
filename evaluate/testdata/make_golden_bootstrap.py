"""Writes items of two tables, and the interval and p that SciPy's bootstrap gives their
difference (golden_bootstrap.json), for the test of evaluate. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install scipy==1.17.1
    ./venv/bin/python make_golden_bootstrap.py
"""

import json
import warnings

import numpy as np
from scipy import stats

RESAMPLES = 100_000
ROUNDING = 1e-12  # scores that lie this close are equal

random = np.random.default_rng(11)


def difference(case):
    first, second = np.array(case["first"]), np.array(case["second"])
    if case["human"] is None:
        return lambda items, axis: (first - second)[items].mean(axis)
    human = np.array(case["human"])

    def spearman(values, items):
        # One row a resample. A row with one value only has no correlation: NaN.
        x, y = (stats.rankdata(v[items], axis=-1) for v in (human, values))
        x, y = (r - r.mean(-1, keepdims=True) for r in (x, y))
        return (x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1))

    return lambda items, axis: spearman(first, items) - spearman(second, items)


def golden(case):
    items = np.arange(len(case["first"]))
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")  # of resamples without a correlation
        values = stats.bootstrap(
            (items,), difference(case), n_resamples=RESAMPLES, batch=10_000, vectorized=True, axis=-1,
            method="percentile", rng=random).bootstrap_distribution
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.025, 0.975])
    p = min(1, 2 * min(np.mean(values <= ROUNDING), np.mean(values >= -ROUNDING)))
    return case | {"defined": len(values) / RESAMPLES, "low": low, "high": high, "p": p}


def questions(n, first, second):
    return {"human": None, "first": (random.random(n) < first).astype(float).tolist(),
            "second": (random.random(n) < second).astype(float).tolist()}


def pairs(n, first, second):
    """Pairs of which the tables know that much of what people say, the rest is noise."""
    human = random.normal(size=n).round(1)
    return {"human": human.tolist()} | {
        name: (know * human + random.normal(size=n)).round(3).tolist() for name, know in (("first", first), ("second", second))}


cases = [
    {"human": None, "first": [1.0, 1.0, 0.0], "second": [0.0, 1.0, 0.0]},
    {"human": None, "first": [1.0, 0.0, 0.0, 1.0], "second": [0.0, 1.0, 0.0, 0.0]},
    questions(10, 0.8, 0.4), questions(60, 0.6, 0.5), questions(300, 0.62, 0.55), questions(300, 0.5, 0.5),
    # Resamples of few pairs are often one pair or equal judgements: no correlation.
    {"human": [1.0, 2.0, 3.0], "first": [0.1, 0.3, 0.2], "second": [0.3, 0.1, 0.2]},
    {"human": [1.0, 1.0, 1.0, 2.0], "first": [0.1, 0.3, 0.2, 0.5], "second": [0.3, 0.1, 0.6, 0.2]},
    {"human": [1.0, 2.0, 3.0, 4.0], "first": [0.1, 0.3, 0.2, 0.4], "second": [0.3, 0.2, 0.4, 0.1]},
    {"human": [1.0, 1.0, 1.0, 1.0, 1.0, 7.0], "first": [0.1, 0.3, 0.2, 0.2, 0.1, 0.9], "second": [0.3, 0.1, 0.2, 0.9, 0.4, 0.5]},
    pairs(10, 2, 0.5), pairs(60, 1, 0.6), pairs(300, 1, 0.9), pairs(300, 1, 1),
]
with open("golden_bootstrap.json", "w", encoding="utf-8") as f:
    json.dump([golden(case) for case in cases], f, separators=(",", ":"))
    f.write("\n")
