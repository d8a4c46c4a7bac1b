"""Writes small MATLAB files of each kind with scipy, and what is in them
(golden.json), for the tests of this package. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install scipy==1.17.1
    ./venv/bin/python make_golden.py
"""

import json

import numpy as np
import scipy.io
import scipy.sparse

random = np.random.default_rng(3)
dense = random.integers(-3, 4, size=(5, 4)).astype(np.float64)
sparse = scipy.sparse.random(9, 7, density=0.3, format="csc", random_state=1)
variables = {
    "title": "not numbers",
    "cells": np.array([[1, "two"]], dtype=object),
    "complex": np.array([[1 + 2j, 3]]),
    "cube": np.zeros((2, 2, 2)),
    "network": sparse,
    "group": dense,
    "one": np.array([[7]], dtype=np.uint8),
    "empty": np.zeros((0, 3)),
    "logical": scipy.sparse.csc_matrix(dense > 0),
}
for kind in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32"]:
    variables[kind] = np.abs(dense).astype(kind) if kind.startswith("u") else dense.astype(kind)
scipy.io.savemat("plain.mat", variables)
scipy.io.savemat("compressed.mat", variables, do_compression=True)

golden = {}
for name, value in scipy.io.loadmat("plain.mat").items():
    if name.startswith("__") or name in ["title", "cells", "complex", "cube"]:
        continue
    full = scipy.sparse.csc_matrix(value)
    full.sort_indices()
    coordinates = full.tocoo()
    golden[name] = {
        "rows": full.shape[0], "columns": full.shape[1],
        "entries": [[int(r), int(c), float(v)] for r, c, v in sorted(zip(coordinates.row, coordinates.col, coordinates.data), key=lambda e: (e[1], e[0]))],
    }
with open("golden.json", "w", encoding="utf-8") as f:
    json.dump(golden, f)
    f.write("\n")
