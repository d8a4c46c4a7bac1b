"""Random search with equal effort for cl and vanilla on several GPUs, then five seeds of the best.

    search.py W2VCL TEXT SETS GPUS SECONDS OUT
"""
import json, math, os, queue, random, shutil, subprocess, sys, threading, time

binary, text, sets, gpus, seconds, out = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), sys.argv[6]
workers = int(sys.argv[7]) if len(sys.argv) > 7 else 1
FIVE = [("ws353", "WS-353"), ("simlex", "SimLex"), ("men", "MEN"), ("rw", "RW"), ("google", "Google")]
start, lock = time.monotonic(), threading.Lock()
draw = random.Random(20261122)
log = lambda low, high: float(f"{math.exp(draw.uniform(math.log(low), math.log(high))):.2g}")
pick = draw.choice

def vanilla():
    batch = pick([170, 512, 1024, 2048, 4096, 16384])
    return {"mode": "vanilla", "adam": pick(["dense", "lazy"]), "batch": batch, "lr": log(5e-4, 2e-2),
            "weight-decay": pick([0, 0, .02, .06, .2]), "epochs": 1 if batch < 512 else pick([1, 2, 3, 5, 8]),
            "window": pick([3, 4, 5, 8]), "negative": pick([5, 10]), "sample": pick([1e-3, 1e-4, 3e-5, 1e-5]),
            "noise-exponent": pick([.5, .75, 1]), "context-weight": pick([0, .25, .5])}

def cl():
    contexts = pick([1024, 2048, 4096, 8192])
    return {"mode": "cl", "contexts": contexts, "lr": log(.003, .02) * (4096 / contexts) ** .8, "weight-decay": pick([.06, .15, .25, .35]),
            "tempering": pick([.75, 1]), "shared-negatives": pick([32, 64, 128]), "window": pick([3, 4, 5, 8]), "negative": pick([5, 10]),
            "sample": pick([1e-3, 1e-4, 3e-5, 1e-5]), "context-weight": pick([0, .25, .5])}

def run(gpu, settings, name):
    folder = f"/tmp/search-{name}"
    flags = [f"--{k}={v:.4g}" if isinstance(v, float) else f"--{k}={v}" for k, v in settings.items()]
    command = [binary, "train", "--device", f"cuda:{gpu}", "--threads", "2", "--corpus", text, "--min-count", "50", "--dim", "300",
               "--out", folder, "--force", "--quiet", *flags]
    begun = time.monotonic()
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=45)
    except subprocess.TimeoutExpired:
        p = subprocess.CompletedProcess(command, 124, "", "45 s")
    row = {"name": name, "settings": settings, "wall": round(time.monotonic() - begun, 2)}
    if p.returncode:
        row["error"] = (p.stderr or p.stdout)[-300:]
    else:
        summary = json.load(open(folder + "/summary.json"))
        row["train"] = summary.get("seconds_train")
        p = subprocess.run([binary, "eval", folder, "--data", sets, "--json"], capture_output=True, text=True)
        try:
            row["scores"] = [(r.get("dataset"), r.get("metric"), r.get("score"), r.get("found")) for r in flatten(json.loads(p.stdout))]
        except Exception as e:
            row["error"] = f"eval: {e}: {p.stdout[-200:]} {p.stderr[-200:]}"
    shutil.rmtree(folder, ignore_errors=True)
    with lock:
        with open(out, "a") as f:
            f.write(json.dumps(row) + "\n")

def flatten(d):
    if isinstance(d, list):
        for x in d: yield from flatten(x)
    elif isinstance(d, dict):
        if "score" in d and not isinstance(d["score"], (dict, list)): yield d
        for x in d.values():
            if isinstance(x, (dict, list)): yield from flatten(x)

jobs = queue.Queue()
# Defaults first, then in turns: each mode as many settings, vanilla twice as many, for cl had 763 runs before.
for i in range(200):
    jobs.put((f"v{i}", vanilla() if i else {"mode": "vanilla"}))
    jobs.put((f"c{i}", cl() if i else {"mode": "cl"}))

def worker(gpu):
    while time.monotonic() - start < seconds:
        name, settings = jobs.get()
        run(gpu, settings, name)

threads = [threading.Thread(target=worker, args=(g,)) for g in range(gpus) for _ in range(workers)]
[t.start() for t in threads]
[t.join() for t in threads]
