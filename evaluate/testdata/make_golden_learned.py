"""Writes small examples for classification, clustering and links, and the scores
that scikit-learn gives them (golden_learned.json), for the tests of the packages
below evaluate. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install scikit-learn==1.9.1
    ./venv/bin/python make_golden_learned.py
"""

import json
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

warnings.simplefilter("ignore")
random = np.random.default_rng(11)
DIM, CLASSES = 6, 5


def regression():
    return LogisticRegression(C=1.0, tol=1e-10, max_iter=100_000)


# Nodes near the middle of their labels. Label 3 is rare: none to learn from in
# one of the splits; label 4 is everywhere in it.
centres = random.normal(size=(CLASSES, DIM))
labels, features = [], []
for i in range(90):
    own = set(random.choice(3, size=random.integers(1, 3), replace=False).tolist())
    if i in (40, 41, 42, 44, 60, 61):
        own.add(3)
    if i < 40 or random.random() < 0.3:
        own.add(4)
    labels.append(sorted(own))
    features.append(np.mean(centres[sorted(own)], axis=0) + 0.7 * random.normal(size=DIM))
x = np.array(features, dtype=np.float32).astype(np.float64)
y = np.zeros((len(labels), CLASSES), dtype=int)
for i, own in enumerate(labels):
    y[i, own] = 1

splits = []
for learn in (list(range(40)), random.permutation(90)[:60].tolist(), random.permutation(90)[:45].tolist()):
    find = [i for i in range(90) if i not in learn]
    model = OneVsRestClassifier(regression()).fit(x[learn], y[learn])
    probabilities = model.predict_proba(x[find])
    known = np.zeros((len(find), CLASSES), dtype=int)
    for row, node in enumerate(find):  # as in DeepWalk's scoring.py
        known[row, probabilities[row].argsort(kind="stable")[-len(labels[node]):]] = 1
    threshold = model.predict(x[find])
    splits.append({"learn": learn, "find": find, **{
        f"{average}-f1{suffix}": f1_score(y[find], found, average=average, zero_division=0)
        for average in ("micro", "macro") for suffix, found in (("", known), ("-threshold", threshold))}})

pairs = [(i, c) for c in range(CLASSES) for i in range(90) if c in labels[i]]
px, py = x[[i for i, _ in pairs]], np.array([c for _, c in pairs])
folds = {metric: cross_val_score(regression(), px, py, cv=5, scoring=f"f1_{metric}").tolist() for metric in ("micro", "macro")}
test_folds = np.zeros(len(py), dtype=int)
for fold, (_, test) in enumerate(StratifiedKFold(5).split(px, py)):
    test_folds[test] = fold

# Links: products of two vectors, an edge where they are alike.
a, b = random.normal(size=(120, DIM)), random.normal(size=(120, DIM))
edge = (np.sum(a * b, axis=1) + random.normal(size=120) > 0).astype(int)
hadamard = (a * b).astype(np.float32).astype(np.float64)
areas, accuracies = [], []
for learn, find in StratifiedKFold(10).split(hadamard, edge):
    model = regression().fit(hadamard[learn], edge[learn])
    areas.append(roc_auc_score(edge[find], model.decision_function(hadamard[find])))
    accuracies.append(accuracy_score(edge[find], model.predict(hadamard[find])))
ties = random.integers(0, 6, size=120).astype(float)

# Clusters that overlap, on the unit sphere.
middle = random.normal(size=(6, DIM))
points = np.vstack([m + 0.6 * random.normal(size=(25, DIM)) for m in middle])
points /= np.linalg.norm(points, axis=1, keepdims=True)
category = np.repeat(np.arange(6), 25)
best = KMeans(n_clusters=6, n_init=200, random_state=0, tol=0).fit(points)
usual = [KMeans(n_clusters=6, n_init=10, random_state=seed, tol=0).fit(points).inertia_ for seed in range(5)]

with open("golden_learned.json", "w", encoding="utf-8") as f:
    json.dump({
        "nodes": {"features": x.tolist(), "labels": labels, "classes": CLASSES, "splits": splits,
                  "pairs": pairs, "folds": test_folds.tolist(), "micro": folds["micro"], "macro": folds["macro"]},
        "links": {"features": hadamard.tolist(), "edge": edge.tolist(), "areas": areas, "accuracies": accuracies,
                  "ties": ties.tolist(), "ties_area": roc_auc_score(edge, ties)},
        "clusters": {"points": points.tolist(), "category": category.tolist(), "assigned": best.labels_.tolist(),
                     "purity": float(contingency_matrix(category, best.labels_).max(axis=0).sum() / len(category)),
                     "inertia": float(best.inertia_), "usual": usual},
    }, f)
    f.write("\n")
