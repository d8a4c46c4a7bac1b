"""The prototype of tempered W2V-CL with which its recipe was searched, in PyTorch and Triton, and the scores of w2vcl's
own modes beside it. It is kept as it ran: short names, one process, no checks.

    python search.py LINES SECONDS TEXTS SETS [W2VCL]

LINES is a file of runs. A line is either JSON, the settings of the prototype (arguments of train, with "data" for those
of Data and "seeds"), or flags of `w2vcl train`, which begin with --; `{"alpha": 1, "wd": 0.25, "data": {"win": 4}}`. It
starts no run after SECONDS. TEXTS is a folder with the texts (enwiki.txt: the text of benchmarks/README.md; sotu.txt:
State of the Union addresses, as the demo has them), SETS one with the human-judged sets, W2VCL the program.

A line of the output: the settings and the seed; x, the part of C in the vectors W + x C that are scored; the scores of
KS, of which m5 is the mean of WS-353, SimLex-999, MEN, RW and Google; seconds; fewest, most and mean positives of a row.

The text (Data): words that occur minc times, subsampled at sample; windows of up to win words (dyn: each draws its size),
passes times; limit, the first words of it only. Its draws have a seed of their own, which is 1 in all runs.

Training (train):
  N, K       dimension; negatives of a positive
  iters, m   iterations; mean positives of a row in one
  alpha      row i has positives in proportion to n_i^alpha, n_i its contexts in the text
  cap, rmax  most positives of a row in an iteration; most uses of a context by each step
  H          negatives that all rows of a step share, each of weight K/H
  strat      0: they are drawn independently; 1: one of each H-th of the distribution; 2: the same, and the place in
             the H-th moves on by the golden ratio in each iteration
  noise      exponent of the counts of contexts by which negatives are drawn
  lr, lend   learning rate, first and last; falls linearly, or with cos as a cosine
  wd, wdc    weight decay, times the rate; of C if it differs
  opt        adam; row, the second moment is the mean over the row; sgd
  b1 b2 eps  of adam
  pw, dp     sgd: the mean gradient of s positives counts s^pw times, the decay s^dp times
  init       the first W, in parts of 1/(2N)
  bundle     positives come in multiples of this many, in fewer iterations
"""

import collections
import functools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import triton
import triton.language as tl

dev = "cuda"
torch.backends.cuda.matmul.allow_tf32 = True


@triton.jit
def step(
    L, R, G, M1, M2, off, n, ctx, a, ph, tp, iters, lr0, lrend, wd, b1, b2, l1, l2, eps, CAP, N: tl.constexpr,
    BN: tl.constexpr, T: tl.constexpr, ADAM: tl.constexpr, ROW: tl.constexpr, POW: tl.constexpr, DP: tl.constexpr,
    COS: tl.constexpr, G0: tl.constexpr
):
    i = tl.program_id(0)
    t = tl.load(tp)
    ai = tl.load(a + i)
    p = tl.load(ph + i)
    tf = t.to(tl.float64)
    s0 = ((tf * ai + p) / G0).to(tl.int64) * G0
    s1 = (((tf + 1) * ai + p) / G0).to(tl.int64) * G0
    cnt = tl.minimum(s1 - s0, CAP).to(tl.int32)
    if cnt > 0:
        fr = tf.to(tl.float32) / iters
        if COS:
            lr = lr0 * 0.5 * (1 + tl.cos(3.14159265 * fr))
        else:
            lr = lr0 + (lrend - lr0) * fr
        o = tl.load(off + i)
        ni = tl.load(n + i)
        d = tl.arange(0, BN)
        dm = d < N
        w = tl.load(L + i.to(tl.int64) * N + d, mask=dm, other=0.0)
        g = tl.zeros([BN], dtype=tl.float32)
        lane = tl.arange(0, T)
        for c in range(0, cnt, T):
            q = c + lane
            m = q < cnt
            tg = tl.load(ctx + o + ((s0 + q) % ni), mask=m, other=0)
            x = tl.load(R + tg.to(tl.int64)[:, None] * N + d[None, :], mask=m[:, None] & dm[None, :], other=0.0)
            dot = tl.sum(x * w[None, :], axis=1)
            cf = tl.where(m, -1 / (1 + tl.exp(dot)), 0.0)
            g += tl.sum(cf[:, None] * x, axis=0)
        cf = cnt.to(tl.float32)
        po = i.to(tl.int64) * N + d
        g = g / cf + tl.load(G + po, mask=dm, other=0.0)
        if ADAM:
            m1 = tl.load(M1 + po, mask=dm, other=0.0)
            m2 = tl.load(M2 + po, mask=dm, other=0.0)
            g2 = g * g
            if ROW:
                g2 = tl.where(dm, tl.sum(g2, axis=0) / N, 0.0)
            m1 = b1 * m1 + (1 - b1) * g
            m2 = b2 * m2 + (1 - b2) * g2
            tl.store(M1 + po, m1, mask=dm)
            tl.store(M2 + po, m2, mask=dm)
            u_ = tl.minimum(ai.to(tl.float32) / G0, 1.0) * tf.to(tl.float32) + 1.0
            c1 = 1 - tl.exp(u_ * l1)
            c2 = 1 - tl.exp(u_ * l2)
            w = w * (1 - lr * wd) - lr * (m1 / c1) / (tl.sqrt(m2 / c2) + eps)
        else:
            sc = tl.exp(POW * tl.log(cf))
            dc = tl.exp(DP * tl.log(cf))
            w = w * (1 - lr * wd * dc) - lr * sc * g
        tl.store(L + po, w, mask=dm)


def alias_table(wt):
    return torch.tensor(wt / wt.sum(), device=dev, dtype=torch.float32)


TEXTS, SETS_AT = sys.argv[3:5] if len(sys.argv) > 4 else (".", ".")


@functools.cache
def encode(f):
    """Returns a text as numbers of words, the most frequent one is 0; the counts of the words; the words."""
    text = open(f"{TEXTS}/{f}.txt", "rb").read().split()
    c = collections.Counter(text)
    w = sorted([x for x in c if c[x] >= 5], key=lambda x: (-c[x], x))
    ix = {x: i for i, x in enumerate(w)}
    a = np.fromiter((ix.get(x, 0xFFFFFF) for x in text), dtype=np.uint32, count=len(text))
    tok = torch.tensor(a[a != 0xFFFFFF].astype(np.int32), device=dev)
    return tok, np.array([c[x] for x in w], dtype=np.int64), [x.decode() for x in w]


def load(f):
    global TOK, CNT, WORDS
    TOK, CNT, WORDS = encode(f)


class Data:
    def __init__(s, minc=50, win=2, dyn=True, passes=5, sample=1e-4, seed=1, limit=0, file="enwiki"):
        load(file)
        g = torch.Generator(device=dev).manual_seed(seed)
        tok = TOK if not limit else TOK[:limit]
        cnt = torch.bincount(tok, minlength=len(CNT)).cpu().numpy() if limit else CNT
        V = int((cnt >= minc).sum())
        s.V = V
        if limit:
            order = np.argsort(-cnt, kind="stable")
            rank = np.empty(len(cnt), np.int64)
            rank[order] = np.arange(len(cnt))
            tok = torch.tensor(rank, device=dev)[tok.long()]
            s.words = [WORDS[k] for k in order[:V]]
            cnt = cnt[order]
        else:
            s.words = WORDS[:V]
        tok = tok[tok < V].long()
        f = torch.tensor(cnt[:V] / cnt[:V].sum(), device=dev)
        keep = torch.clamp((torch.sqrt(f / sample) + 1) * sample / f, max=1) if sample > 0 else torch.ones_like(f)
        C = []
        X = []
        for p in range(passes):
            t = tok[torch.rand(len(tok), device=dev, generator=g) < keep[tok]]
            b = (
                torch.randint(1, win + 1, (len(t),), device=dev, generator=g)
                if dyn
                else torch.full((len(t),), win, device=dev)
            )
            for d in range(1, win + 1):
                m = b[:-d] >= d
                C.append(t[:-d][m].int())
                X.append(t[d:][m].int())
                m = b[d:] >= d
                C.append(t[d:][m].int())
                X.append(t[:-d][m].int())
        C = torch.cat(C)
        X = torch.cat(X)
        r = torch.randperm(len(C), device=dev, generator=g)
        C = C[r]
        X = X[r]
        del r
        C, o = torch.sort(C, stable=True)
        X = X[o]
        del o
        s.total = torch.bincount(C.long(), minlength=V)
        s.col = torch.bincount(X.long(), minlength=V).cpu().numpy().astype(float)
        start = torch.cumsum(s.total, 0) - s.total
        s.ctx = X.contiguous()
        s.off = start.long()
        s.n = torch.clamp(s.total, min=1).long()
        s.pairs = len(C)
        s.cnt = cnt[:V]


def train(
    D, N=100, K=5, iters=4096, lr=9e-3, wd=0.06, opt="adam", alpha=0.75, cap=128, rmax=1e9, m=8.0, H=64, noise=1.0,
    seed=1, lend=0.0, b1=0.9, b2=0.999, eps=1e-8, init=1.0, pw=0.5, dp=0.5, cos=False, wdc=None, bundle=1, strat=0
):
    V = D.V
    n = D.n.double().cpu().numpy()
    base = n**alpha
    lim = np.minimum(cap, rmax * n / iters)
    lo, hi = 1e-12, 1e12
    for _ in range(200):
        mid = math.sqrt(lo * hi)
        if np.minimum(base * mid, lim).sum() < m * V:
            lo = mid
        else:
            hi = mid
    a = np.minimum(base * hi, lim)
    at = torch.tensor(a, device=dev, dtype=torch.float64)
    g = torch.Generator(device=dev).manual_seed(seed)
    ph = [
        torch.rand(V, device=dev, generator=g, dtype=torch.float64) * bundle,
        torch.rand(V, device=dev, generator=g, dtype=torch.float64) * bundle,
    ]
    ph[1] += (D.n // 2).double()
    W = (torch.rand(V, N, device=dev, generator=g) - 0.5) / N * init
    C = torch.zeros(V, N, device=dev)
    S = [torch.zeros_like(W) for _ in range(4)]
    pr = alias_table(D.col**noise)
    NEG = (
        torch.multinomial(pr, iters * 2 * H, replacement=True, generator=g).view(iters * 2, H)
        if iters * 2 * H < 2**24 * 60
        else None
    )
    if strat:
        cdf = torch.cumsum(torch.tensor(D.col**noise, device=dev, dtype=torch.float64), 0)
        cdf /= cdf[-1].clone()
        k = torch.arange(H, device=dev, dtype=torch.float64)[None, :]
        if strat == 1:
            U = torch.rand(iters * 2, H, device=dev, generator=g, dtype=torch.float64)
        else:
            h = torch.rand(2, H, device=dev, generator=g, dtype=torch.float64)
            tt_ = torch.arange(iters, device=dev, dtype=torch.float64)[:, None, None]
            U = ((h[None] + tt_ * 0.6180339887498949) % 1).reshape(iters * 2, H)
        NEG = torch.searchsorted(cdf, ((k + U) / H).contiguous()).clamp(max=V - 1)
    BN = triton.next_power_of_2(N)
    T = 16 if BN <= 128 else 8
    tt = torch.zeros(1, dtype=torch.int64, device=dev)
    nw = 2 if BN <= 128 else 4

    def it():
        for s, (L, R) in enumerate(((W, C), (C, W))):
            neg = NEG.index_select(0, tt * 2 + s).view(-1)
            Rn = R.index_select(0, neg)
            Gn = (torch.sigmoid(L @ Rn.T) * (K / H)) @ Rn
            step[(V,)](
                L, R, Gn, S[2 * s], S[2 * s + 1], D.off, D.n, D.ctx, at, ph[s], tt, float(iters), lr, lend,
                wd if s == 0 or wdc is None else wdc, b1, b2, math.log(b1) if b1 > 0 else -1e9, math.log(b2), eps,
                512, N, BN, T, opt != "sgd", opt == "row", pw, dp, cos, bundle, num_warps=nw
            )
        tt.add_(1)

    st = torch.cuda.Stream()
    st.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(st):
        it()
    torch.cuda.current_stream().wait_stream(st)
    gr = torch.cuda.CUDAGraph()
    with torch.cuda.graph(gr):
        it()
    torch.cuda.synchronize()
    t0 = time.time()
    for t in range(iters - 1):
        gr.replay()
    torch.cuda.synchronize()
    sec = time.time() - t0
    del gr
    return W, C, sec, a


def rank(x):
    u, inv, c = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(c) - (c - 1) / 2)[inv]


SETS = dict(
    WS="EN-WS-353-ALL", SL="EN-SIMLEX-999", MEN="EN-MEN-TR-3k", RW="EN-RW-STANFORD", RG="EN-RG-65",
    WSS="EN-WS-353-SIM", WSR="EN-WS-353-REL",
)


class Ev:
    def __init__(s, words):
        ix = {w: i for i, w in enumerate(words)}
        s.sim = {}
        for k, f in SETS.items():
            P = [l.split()[:3] for l in open(f"{SETS_AT}/{f}.txt") if len(l.split()) >= 3]
            P = [(ix[a.lower()], ix[b.lower()], float(x)) for a, b, x in P if a.lower() in ix and b.lower() in ix]
            i, j = (torch.tensor([p[e] for p in P], device=dev) for e in (0, 1))
            s.sim[k] = (i, j, rank(np.array([p[2] for p in P])))
        sem, syn, cur = [], [], None
        for l in open(f"{SETS_AT}/questions-words.txt"):
            if l[0] == ":":
                cur = syn if "gram" in l else sem
                continue
            q = l.lower().split()
            if len(q) == 4 and all(w in ix for w in q):
                cur.append([ix[w] for w in q])
        s.nsem = len(sem)
        s.Q = torch.tensor(sem + syn, device=dev)

    def __call__(s, X):
        X = X / X.norm(dim=1, keepdim=True).clamp(min=1e-9)
        r = {}
        for k, (i, j, g) in s.sim.items():
            d = (X[i] * X[j]).sum(1).cpu().numpy()
            r[k] = np.corrcoef(np.argsort(np.argsort(d)), g)[0, 1]
        ok = []
        for b in range(0, len(s.Q), 2048):
            q = s.Q[b : b + 2048]
            v = X[q[:, 1]] - X[q[:, 0]] + X[q[:, 2]]
            d = v @ X.T
            d.scatter_(1, q[:, :3], -9.0)
            ok.append(d.argmax(1) == q[:, 3])
        ok = torch.cat(ok).float()
        r["G"] = ok.mean().item()
        r["sem"] = ok[: s.nsem].mean().item() if s.nsem else 0
        r["syn"] = ok[s.nsem :].mean().item()
        r["m5"] = np.mean([r[k] for k in ("WS", "SL", "MEN", "RW", "G")])
        return r


KS = ["m5", "WS", "SL", "MEN", "RW", "G", "sem", "syn", "WSS", "WSR", "RG"]
LAB = ((0, "W"), (0.25, ".25"), (0.5, ".5"), (1, "1"))


def report(name, E, W, C, sec, extra=""):
    for x, lab in LAB:
        r = E(W + x * C) if x else E(W)
        print(f"{name}\t{lab}\t" + " ".join(f"{r[k]:.3f}" for k in KS) + f"\t{sec:.2f}\t{extra}", flush=True)


def read(path):
    """Reads words and vectors of a file in word2vec's binary format."""
    with open(path, "rb") as f:
        V, N = map(int, f.readline().split())
        b = f.read()
    ws, X, o = [], np.empty((V, N), np.float32), 0
    for i in range(V):
        e = b.index(b" ", o)
        ws.append(b[o:e].decode().lstrip("\n"))
        X[i] = np.frombuffer(b, np.float32, N, e + 1)
        o = e + 1 + 4 * N
    return ws, torch.tensor(X, device=dev)


def run_w2vcl(flags, evs):
    """Trains with w2vcl, which exports W by itself, and scores; seconds are those of the whole process."""
    out = tempfile.mkdtemp() + "/run"
    s = time.time()
    command = [sys.argv[5], "train", "--corpus", f"{TEXTS}/enwiki.txt", "--out", out, "--vectors", "words"]
    r = subprocess.run(command + flags.split(), capture_output=True, text=True)
    sec = time.time() - s
    if r.returncode:
        print(flags, "ERR", r.stderr[-300:], flush=True)
        return
    ws, W = read(out + "/vectors.bin")
    _, C = read(out + "/context.bin")
    if len(ws) not in evs:
        evs[len(ws)] = Ev(ws)
    report(flags, evs[len(ws)], W, C, sec)
    shutil.rmtree(os.path.dirname(out))


if __name__ == "__main__":
    t0, limit, last, evs = time.time(), float(sys.argv[2]), None, {}
    for line in open(sys.argv[1]):
        if time.time() - t0 > limit:
            print("time")
            break
        if not line.strip() or line[0] == "#":
            continue
        if line.startswith("--"):
            run_w2vcl(line.strip(), evs)
            continue
        c = json.loads(line)
        d = c.pop("data", {})
        k = json.dumps(d)
        seeds = c.pop("seeds", [1])
        name = line.strip()
        if k != last:
            D = None
            torch.cuda.empty_cache()
            s = time.time()
            D = Data(**d)
            torch.cuda.synchronize()
            last = k
            print("# data", d, "V", D.V, "pairs", D.pairs, f"{time.time()-s:.1f}s", flush=True)
        ek = (D.V, d.get("limit", 0), d.get("file"))
        if ek not in evs:
            evs[ek] = Ev(D.words)
        for sd in seeds:
            try:
                W, C, sec, a = train(D, seed=sd, **c)
            except Exception as e:
                print(name, "ERR", repr(e)[-300:], flush=True)
                break
            report(f"{name} s{sd}", evs[ek], W, C, sec, f"amin {a.min():.2f} amax {a.max():.0f} mean {a.mean():.1f}")
