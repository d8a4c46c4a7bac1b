"""Equal random search for cl and vanilla, then five seeds of the best of each, and the paper's settings.

    bar3.py W2VCL TEXT SETS GPUS WORKERS SECONDS OUT
"""
import json, os, subprocess, sys
w2vcl, text, sets, gpus, workers, seconds, out = sys.argv[1:8]
here = os.path.dirname(os.path.abspath(__file__))
rows = os.path.join(out, "search.jsonl")
os.makedirs(out, exist_ok=True)
subprocess.run([sys.executable, os.path.join(here, "search.py"), w2vcl, text, sets, gpus, seconds, rows, workers])
FIVE = [("WS-353", "spearman"), ("SimLex-999", "spearman"), ("MEN", "spearman"), ("RW", "spearman"), ("Google", "3cosadd")]
best, count = {}, {}
for line in open(rows):
    r = json.loads(line)
    mode = r["settings"]["mode"]
    count[mode] = count.get(mode, 0) + 1
    if "scores" not in r: continue
    s = {(d, m): x for d, m, x, _ in r["scores"]}
    if not all(k in s for k in FIVE): continue
    mean = sum(s[k] for k in FIVE) / 5
    r["mean"] = mean
    if mode not in best or mean > best[mode]["mean"]: best[mode] = r
print("runs", count)
for mode, r in best.items(): print(mode, "best", round(r["mean"], 4), r["settings"], "train", r.get("train"))
def variant(name, settings):
    return ["--variant", name + ": " + ",".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items())]
devices = ",".join(f"cuda:{g}" for g in range(int(gpus)))
common = ["--corpus", text, "--data", sets, "--min-count", "50", "--seeds", "5", "--device", devices]
def compare(name, limit, *flags):
    with open(os.path.join(out, name + ".txt"), "w") as f:
        try: rc = subprocess.run([w2vcl, "compare", *common, "--out", os.path.join("/tmp", name), *flags], stdout=f, stderr=subprocess.STDOUT, timeout=limit).returncode
        except subprocess.TimeoutExpired: rc = "timeout"
    print(name, rc)
    os.makedirs(os.path.join(out, name), exist_ok=True)
    subprocess.run(f"cp -r /tmp/{name}/report.* /tmp/{name}/*.csv /tmp/{name}/tables {out}/{name}/ 2>/dev/null", shell=True)
flags = []
for mode in ("cl", "vanilla"):
    if mode in best: flags += variant(mode + "-best", best[mode]["settings"])
compare("best", 150, *flags, "--dim", "300", "--points", "6")
compare("published", 240, "--variant", "cl: mode=cl,preset=paper", "--variant", "vanilla: mode=vanilla,preset=paper", "--points", "6")
