"""The runs of the search that were ended at 45 s, again, to their end (or LIMIT seconds).

    again.py W2VCL TEXT SETS GPUS WORKERS SECONDS OUT
"""
import json, os, queue, shutil, subprocess, sys, threading, time

binary, text, sets = sys.argv[1:4]
gpus, workers, seconds, out = sys.argv[4].split(","), int(sys.argv[5]), float(sys.argv[6]), sys.argv[7]
start, lock = time.monotonic(), threading.Lock()
FIVE = [("WS-353", "spearman"), ("SimLex-999", "spearman"), ("MEN", "spearman"), ("RW", "spearman"), ("Google", "3cosadd")]

def flatten(d):
    if isinstance(d, list):
        for x in d: yield from flatten(x)
    elif isinstance(d, dict):
        if "score" in d and not isinstance(d["score"], (dict, list)): yield d
        for x in d.values():
            if isinstance(x, (dict, list)): yield from flatten(x)

def run(gpu, mode, settings, number):
    left = start + seconds - time.monotonic()
    row = {"mode": mode, "settings": settings}
    if left < 20:
        row["error"] = "not run"
    else:
        folder = f"/tmp/again-{number}"
        flags = [] if settings == "default" else ["--" + s for s in settings.split()]
        begun = time.monotonic()
        try:
            p = subprocess.run([binary, "train", "--mode", mode, "--device", gpu, "--threads", "2", "--corpus", text, "--min-count", "50", "--dim", "300",
                                "--out", folder, "--force", "--quiet", *flags], capture_output=True, text=True, timeout=left)
            code, said = p.returncode, p.stderr or p.stdout
        except subprocess.TimeoutExpired:
            code, said = 124, "ended"
        row["wall"] = round(time.monotonic() - begun, 2)
        if code:
            row["error"] = said[-300:]
        else:
            row["train"] = json.load(open(folder + "/summary.json"))["seconds_train"]
            p = subprocess.run([binary, "eval", folder, "--data", sets, "--json"], capture_output=True, text=True)
            scores = {(r.get("dataset"), r.get("metric")): r["score"] for r in flatten(json.loads(p.stdout))}
            row["scores"] = {d: scores.get((d, m)) for d, m in FIVE}
            row["mean"] = sum(x or 0 for x in row["scores"].values()) / 5
        shutil.rmtree(folder, ignore_errors=True)
    with lock, open(out, "a") as f:
        f.write(json.dumps(row) + "\n")

jobs = queue.Queue()
rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "search.tsv"))][1:]
# The shortest come first: epochs by pairs a minibatch.
def cost(settings):
    s = dict(x.split("=") for x in settings.split())
    return float(s["epochs"]) * float(s["window"]) * float(s["negative"]) / float(s["batch"]) ** .7
for number, row in enumerate(sorted((r for r in rows if r[1].startswith("ended")), key=lambda r: cost(r[3]))):
    jobs.put((row[0], row[3], number))

def worker(gpu):
    while True:
        try: job = jobs.get_nowait()
        except queue.Empty: return
        run(gpu, *job)

threads = [threading.Thread(target=worker, args=(g,)) for g in gpus for _ in range(workers)]
[t.start() for t in threads]
[t.join() for t in threads]
best = {}
for line in open(out):
    r = json.loads(line)
    print({k: r.get(k) for k in ("mean", "train", "wall", "settings", "error")})
