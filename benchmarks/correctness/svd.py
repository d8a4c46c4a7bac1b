# The singular values of mode ppmi beside SciPy's, on a matrix that this script counts itself.
#   svd.py TEXT VECTORS (of w2vcl train --mode ppmi --singular-exponent 1 --context-weight 0 --sample 0)
import collections, resource, sys
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as linalg
text, path = sys.argv[1:3]
lines = [l.split() for l in open(text)]
counts = collections.Counter(w for l in lines for w in l)
words = [w for w, n in sorted(counts.items(), key=lambda x: (-x[1], x[0].encode())) if n >= 5]
ids = {w: i for i, w in enumerate(words)}
V, W = len(words), 5
m = sp.csr_matrix((V, V))
for d in range(1, W + 1):  # rare words are removed before windows are laid
    a, b = [], []
    for l in lines:
        x = [ids[w] for w in l if w in ids]
        a += x[:-d]; b += x[d:]
    m = m + sp.coo_matrix((np.full(len(a), (W + 1 - d) / W), (a, b)), (V, V)).tocsr()
m = (m + m.T).tocoo()
n = np.asarray(m.tocsr().sum(1)).ravel()
p = n ** .75 / (n ** .75).sum()
x = np.log(m.data) - np.log(n[m.row]) - np.log(p[m.col])
keep = x > 0
A = sp.csr_matrix((x[keep], (m.row[keep], m.col[keep])), (V, V))
with open(path, 'rb') as f:
    v, dim = map(int, f.readline().split())
    assert v == V
    rows = np.empty((v, dim), np.float32)
    for i in range(v):
        word = b''
        while (c := f.read(1)) != b' ': word += c
        assert word.decode().strip() == words[i]
        rows[i] = np.frombuffer(f.read(4 * dim), np.float32)
ours = np.sort(np.sqrt((rows.astype(np.float64) ** 2).sum(0)))[::-1]
t = resource.getrusage(resource.RUSAGE_SELF).ru_utime
s = np.sort(linalg.svds(A, k=dim, return_singular_vectors=True)[1])[::-1]
t = resource.getrusage(resource.RUSAGE_SELF).ru_utime - t
e = np.abs(ours - s) / s
print(f'{V} words, {A.nnz} entries; svds {t:.1f} s user')
print('first', s[:3], ours[:3]); print('last', s[-3:], ours[-3:])
print(f'largest relative difference {e.max():.2e} at value {e.argmax() + 1}; of the first half {e[:dim // 2].max():.2e}')
