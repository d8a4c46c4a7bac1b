"""Writes small archives of NumPy with the same graph, as SciPy and as PecanPy 2.0.9 write
them, for the tests of this package. Run it in this folder:

    python3 -m venv venv && ./venv/bin/pip install scipy==1.17.1
    ./venv/bin/python make_golden.py
"""

import numpy as np
import scipy.sparse

names = ["ann", "ben", "cleo", "dän"]
dense = np.zeros((4, 4), dtype=np.float32)
for a, b, weight in [(0, 1, 0.5), (1, 2, 2), (2, 3, 0.25), (3, 0, 4)]:
    dense[a, b] = dense[b, a] = weight
matrix = scipy.sparse.csr_matrix(dense)
scipy.sparse.save_npz("scipy.npz", matrix)
scipy.sparse.save_npz("columns.npz", matrix.tocsc())
# What pecanpy.graph.BaseGraph.save does.
np.savez(
    "pecanpy.npz",
    IDs=names,
    data=matrix.data,
    indptr=matrix.indptr.astype(np.uint32),
    indices=matrix.indices.astype(np.uint32),
)
