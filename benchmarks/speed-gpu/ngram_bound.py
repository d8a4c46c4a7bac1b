import collections, sys
import numpy as np, scipy.sparse as sp
# The first blocks of n-gram training on a GPU, all pieces of a block in lockstep, window by window, with the shares of
# kernels/cuda/sentence/shares.go: simulate.py TEXT fullw2v|pword2vec M BLOCKS. It prints how far W and C go.
path, mode, most0, nblocks = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
N, FL = 100, 1584
rng = np.random.default_rng(1)
text = open(path).read(60_000_000).split()
full = collections.Counter(text)
# min-count scaled
voc = [w for w, n in full.most_common() if n >= 30]; V = len(voc); ids = {w: i for i, w in enumerate(voc)}
cnt = np.array([full[w] for w in voc], float)
toks = np.array([ids[w] for w in text if w in ids]); del text
f = cnt / cnt.sum(); keep = np.minimum(1, np.sqrt(1e-4 / f) + 1e-4 / f)
def ng(w):
    s = '<' + w + '>'; return [s[i:i+n] for i in range(len(s)) for n in range(3, 7) if i+n <= len(s) and s[i:i+n] != s]
users = collections.defaultdict(list); per = [ng(w) or ['<'+w+'>'] for w in voc]
for i in range(V):
    for g in per[i]: users[g].append(i)
key = {}; cls = {}; 
for g, u in users.items(): cls[g] = key.setdefault(tuple(u), len(key))
U = len(key); size = np.zeros(U)
for g in cls: size[cls[g]] += 1
rows, cols = [], []
for i in range(V):
    for c in set(cls[g] for g in per[i]): rows.append(i); cols.append(c)
A = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), shape=(V, U))
AS = sp.csr_matrix(A.multiply(size[None, :].astype(np.float32)))
G1 = 1 + np.asarray(AS.sum(1)).ravel()
Z = ((rng.random((U, N), np.float32) * 2 - 1) / N / np.sqrt(size)[:, None]).astype(np.float32)
O = ((rng.random((V, N), np.float32) - .5) / N).astype(np.float32)
C = np.zeros((V, N), np.float32)
noise = cnt.copy(); noise /= noise.sum(); cum = np.cumsum(noise)
fixed = mode == 'fullw2v'; R = 3 if fixed else 5
K = 5; lr = .025
p = cnt * keep; p /= p.sum()
held = 2 * R + 1
outputs = max(1, (FL * (p + K * noise)).max() / 135)
strain = max(1, 3 / 3) * outputs
shareW = np.minimum(1, max(1, 8 / strain ** 3) / np.maximum(FL * -np.expm1(held * np.log1p(-p)), 1e-9)).astype(np.float32)
shareC = np.minimum(1, 825 / np.maximum((FL - 1) * 2 * 3 * (p + K * noise), 1e-9)).astype(np.float32)
sig = lambda x: 1 / (1 + np.exp(-np.clip(x, -30, 30)))
B = 32768; PT = 21; SLEN = 1000
for b in range(nblocks):
    blk = toks[b * B:(b + 1) * B]
    W = (AS @ Z + O) / G1[:, None].astype(np.float32)
    kept = rng.random(len(blk)) < keep[blk]
    pieces = []
    for s in range(0, len(blk), PT):
        e = min(s + PT, len(blk)); w = blk[s:e][kept[s:e]]
        if len(w): pieces.append((blk[max(s - 12, 0):s][kept[max(s - 12, 0):s]][-R:], w, blk[e:e + 12][kept[e:e + 12]][:R]))
    P = len(pieces); T = max(len(w) for _, w, _ in pieces); Lm = T + 2 * R
    seq = np.full((P, Lm), -1); frm = np.full(P, R); end = np.zeros(P, int)
    for i, (l, w, r) in enumerate(pieces):
        seq[i, R - len(l):R] = l; seq[i, R:R + len(w)] = w; seq[i, R + len(w):R + len(w) + len(r)] = r; end[i] = R + len(w)
    # one copy for each distinct word of a piece: index of its first place
    first = np.zeros((P, Lm), int)
    for j in range(Lm):
        eq = seq[:, :j + 1] == seq[:, j:j + 1]; first[:, j] = eq.argmax(1)
    before = W.copy(); W = W.copy()
    last = np.zeros((P, Lm), int)
    for j in range(Lm): last[np.arange(P), first[:, j]] = j
    ok = (seq >= 0) & (first == np.arange(Lm)[None])
    enter = np.maximum(np.arange(Lm)[None] - R - 1, R) + 0 * last; leave = np.minimum(last + R, end[:, None] - 1)
    local = np.zeros((P, Lm, N), np.float32); start = np.zeros_like(local)
    loss = pairs = 0.0
    for t in range(R, R + T):
        pi, pj = np.nonzero(ok & (enter == t) & (end[:, None] > t)); local[pi, pj] = start[pi, pj] = W[seq[pi, pj]]
        on = np.flatnonzero(end > t)
        width = np.full(len(on), R) if fixed else rng.integers(1, R + 1, len(on))
        outs = np.concatenate([seq[on, t][:, None], np.searchsorted(cum, rng.random((len(on), K)))], 1)
        outs = np.minimum(outs, V - 1)
        ctx = np.array([o for o in range(-R, R + 1) if o])
        m = (np.abs(ctx)[None] <= width[:, None]) & (seq[on[:, None], t + ctx[None]] >= 0)
        fp = first[on[:, None], t + ctx[None]]
        L = local[on[:, None], fp]; r = C[outs]
        S = np.einsum('pcn,pkn->pck', L, r); y = np.zeros(K + 1); y[0] = 1
        g = lr * (y - sig(S)) * m[:, :, None]
        loss += -(np.log(sig(np.where(y > 0, S, -S))) * m[:, :, None]).sum(); pairs += m.sum() * (K + 1)
        dL = np.einsum('pck,pkn->pcn', g, r).astype(np.float32); dC = np.einsum('pck,pcn->pkn', g, L).astype(np.float32)
        if K: dC *= shareC[outs][:, :, None]
        np.add.at(local, (on[:, None], fp), dL)
        np.add.at(C, outs, dC)
        pi, pj = np.nonzero(ok & (leave == t) & (enter <= t)); words = seq[pi, pj]
        np.add.at(W, words, (local[pi, pj] - start[pi, pj]) * shareW[words][:, None])
    D = W - before; ch = np.flatnonzero(np.abs(D).max(1) > 0); Ac = A[ch]
    n = np.asarray(Ac.sum(0)).ravel(); rg = np.minimum(1, most0 / np.maximum(n, 1)).astype(np.float32)
    Z += (Ac.T @ D[ch]) * rg[:, None]
    O[ch] += (G1[ch] - AS[ch] @ rg)[:, None].astype(np.float32) * D[ch]
    if b < 8 or b % 5 == 4 or not np.isfinite(loss) or loss / pairs > 2:
        print(mode, 'm', most0, 'block', b, 'loss %.4f' % (loss / pairs), '|W| %.3f |C| %.3f meanW %.3f meanC %.3f' % (np.linalg.norm(W, axis=1).mean(), np.linalg.norm(C, axis=1).mean(), np.linalg.norm(W[:5000].mean(0)), np.linalg.norm(C[:5000].mean(0))), flush=True)
    if not np.isfinite(loss) or loss / pairs > 2: break
