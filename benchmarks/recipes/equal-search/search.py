"""The search for recipes with equal effort, the budgets, and what an iteration of `cl` costs on texts of two lengths.

    python3 search.py W2VCL TEXT SETS OUT SECONDS [PART ...]

W2VCL is the program with CUDA, TEXT the text of benchmarks/README.md, SETS a folder with its five sets. The parts: search, or
search=MODE,MODE; budgets; long-budgets; cpu-budgets; cost. OUT gets a table of each (.tsv). No run starts after SECONDS; those that run then
are ended 10 s later. Modes without a GPU take most of 16 processors for minutes, at the lowest priority: a process of its own
may search them beside the others, but not beside cost.

A search has twelve runs. Run 1 is the recipe, runs 2 to 11 change one setting each (CHANGES), and run 12 joins the changes
that gained most: one for each setting that gained, or the best two. What is judged is a third of the items of each set. The
recipe and the best of the twelve are then trained with two other seeds and judged on the other two thirds, as long as in the
search and for five epochs. Modes train for about as many seconds as `cl` does on an H200 (EPOCHS). Runs that OUT has are not
repeated.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import threading
import time

sequential = {
    "lr": ["x0.5", "x1.5", "x2"], "window": ["3", "8"], "sample": ["3e-5", "3e-4"], "negative": ["10"],
    "context-weight": ["0.5"], "noise-exponent": ["0.5"],
}
CHANGES = {
    "cl": {
        "lr": ["x0.6", "x1.5", "x2"], "window": ["2", "4"], "sample": ["2.4e-5", "1e-4"], "negative": ["16"],
        "context-weight": ["0.5"], "weight-decay": ["0.2"],
    },
    "vanilla": {
        "lr": ["x0.3", "x0.5", "x2"], "window": ["4", "8"], "sample": ["3e-5", "1e-3"], "negative": ["10"],
        "context-weight": ["0.5"], "weight-decay": ["0.02"],
    },
    "glove": {
        "lr": ["x0.6", "x1.6", "x2"], "window": ["5", "15"], "sample": ["1e-4", "1e-3"], "x-max": ["30", "100"],
        "context-weight": ["0.5"],
    },
    "word2vec": sequential, "pword2vec": sequential, "parw2v": sequential, "psgnscc": sequential,
    "fullw2v": sequential | {"context-weight": ["0.25"], "noise-exponent": ["0.75"]},
    "fullregister": sequential | {"context-weight": ["0.25"], "noise-exponent": ["0.75"]},
    "word2vec-ngram": sequential | {"context-weight": ["0.3"]},
    "ppmi": {
        "window": ["3", "10"], "sample": ["1e-5", "1e-3"], "shift": ["2", "5"], "context-weight": ["0.5"],
        "singular-exponent": ["0.25", "0.75"], "noise-exponent": ["1"],
    },
}
RATES = {"cl": 0.045, "vanilla": 0.01, "parw2v": 0.03, "word2vec-ngram": 0.05, "glove": 0.05}  # others: 0.025
EPOCHS = {
    "vanilla": 1, "word2vec": 8, "pword2vec": 34, "fullw2v": 36, "fullregister": 23, "parw2v": 29, "word2vec-ngram": 12, "psgnscc": 5,
    "glove": 10,
}
FLAGS = {"word2vec-ngram": ["--mode", "word2vec", "--model", "cbow", "--subword", "ngram"]}
ON_CPU = {"ppmi": 1, "glove": 2, "psgnscc": 1}  # threads, which do not change vectors of ppmi and glove
FILES = ["EN-WS-353-ALL.txt", "EN-SIMLEX-999.txt", "EN-MEN-TR-3k.txt", "EN-RW-STANFORD.txt", "questions-words.txt"]
NAMES = ["WS-353", "SimLex-999", "MEN", "RW", "Google"]
GAIN = 0.002  # less is noise

program, text, sets, out, seconds = sys.argv[1:6]
end = time.monotonic() + float(seconds)
scratch = os.path.join("/dev/shm", "search-%d" % os.getpid())
gpu = concurrent.futures.ThreadPoolExecutor(4)
cpu = concurrent.futures.ThreadPoolExecutor(14)
scorer = concurrent.futures.ThreadPoolExecutor(5)
lock, serial, earlier = threading.Lock(), iter(range(1 << 30)), {}


def split():
    """Writes every third item of each set to tune, the others to held."""
    for name in ("tune", "held"):
        os.makedirs(os.path.join(scratch, name))
    for name in FILES:
        n, parts = 0, {"tune": [], "held": []}
        for line in open(os.path.join(sets, name)):
            if line.startswith(":"):
                for lines in parts.values():
                    lines.append(line)
                continue
            parts["held" if n % 3 else "tune"].append(line)
            n += 1
        for part, lines in parts.items():
            with open(os.path.join(scratch, part, name), "w") as f:
                f.writelines(lines)


def write(table, *cells):
    with lock, open(os.path.join(out, table), "a") as f:
        f.write("\t".join(str(c) for c in cells) + "\n")


def train(arguments, corpus=None, nice=0):
    """Trains; returns the run's folder and its summary, or the first line of what went wrong."""
    if time.monotonic() > end:
        return None, "no time left"
    folder = os.path.join(scratch, "run%d" % next(serial))
    command = [program, "train", "--corpus", corpus or text, "--out", folder, "--quiet", "--checkpoint", "0"] + arguments
    if corpus is None:
        command += ["--cache", text + ".cache"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.nice(nice), timeout=end + 10 - time.monotonic())
    except subprocess.TimeoutExpired:
        return None, "ended"
    if done.returncode:
        return None, (done.stderr.strip() or "?").splitlines()[0]
    return folder, json.load(open(os.path.join(folder, "summary.json")))


def score(folder, part):
    """Returns the main scores of vectors, in the order of NAMES, and their mean."""
    command = [program, "eval", os.path.join(folder, "vectors.bin"), "--data", os.path.join(scratch, part), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, GOMAXPROCS="3"))
    found = {r["dataset"]: r["score"] for r in json.loads(done.stdout) if r["metric"] in ("spearman", "3cosadd")}
    scores = [found[name] or 0 for name in NAMES]
    return scores + [sum(scores) / len(scores)]


def value(mode, name, change):
    return "%.3g" % (RATES.get(mode, 0.025) * float(change[1:])) if change.startswith("x") else change


def run(mode, role, settings, seed, epochs, parts):
    """Trains and scores; returns the future of the mean on the first part."""
    arguments = FLAGS.get(mode, ["--mode", mode]) + ["--seed", str(seed)]
    for name, v in settings.items():
        arguments += ["--" + name, v]
    if epochs:
        arguments += ["--epochs", str(epochs)]
    slow = mode in ON_CPU
    arguments += ["--threads", str(ON_CPU[mode])] if slow else ["--device", "cuda", "--threads", "3"]
    named = " ".join(f"{k}={v}" for k, v in settings.items()) or "recipe"
    key = (mode, role, str(epochs or "-"), str(seed), named, parts[0])
    if key in earlier:
        future = concurrent.futures.Future()
        future.set_result(earlier[key])
        return future

    def judge(folder, summary):
        try:
            mean = None
            for part in parts:
                scores = score(folder, part)
                mean = scores[-1] if mean is None else mean
                write("search.tsv", *key[:5], part, "%.2f" % (summary["seconds_matrix"] + summary["seconds_train"]), *("%.4f" % s for s in scores))
            return mean
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def work():
        folder, summary = train(arguments, nice=19 if slow else 0)
        if folder is None:
            diverged = "diverged" in summary
            write("search.tsv", *key[:5], parts[0], "diverged" if diverged else summary)
            return -1.0 if diverged else None
        return scorer.submit(judge, folder, summary)

    return (cpu if slow else gpu).submit(work)


def result(future):
    inner = future.result()
    return inner.result() if isinstance(inner, concurrent.futures.Future) else inner


def read_earlier():
    """Returns the means of runs that OUT has; -1 of those that diverged."""
    found = {}
    try:
        lines = open(os.path.join(out, "search.tsv")).read().splitlines()
    except FileNotFoundError:
        return found
    for cells in (line.split("\t") for line in lines):
        if len(cells) == 13 and cells[0] != "mode" or cells[-1] == "diverged":
            found[tuple(cells[:6])] = -1.0 if cells[-1] == "diverged" else float(cells[12])
    return found


def search(mode):
    epochs = EPOCHS.get(mode)
    base = run(mode, "search", {}, 1, epochs, ["tune"])
    tried = [({n: value(mode, n, c)}, run(mode, "search", {n: value(mode, n, c)}, 1, epochs, ["tune"])) for n, cs in CHANGES[mode].items() for c in cs]
    first = result(base)
    found = [(s, result(f)) for s, f in tried]
    if first is None or any(m is None for _, m in found):
        return
    best = {}  # of each setting
    for s, m in found:
        (name, v), = s.items()
        if name not in best or m > best[name][1]:
            best[name] = (v, m)
    ranked = sorted(best.items(), key=lambda b: -b[1][1])
    joined = {n: v for n, (v, m) in ranked if m > first + GAIN}
    if len(joined) < 2:
        joined = {n: v for n, (v, _) in ranked[:2]}
    found.append((joined, result(run(mode, "search", joined, 1, epochs, ["tune"]))))
    chosen, mean = max(((s, m) for s, m in found if m is not None), key=lambda f: f[1])
    if mean <= first + GAIN:
        chosen = {}
    write("chosen.tsv", mode, epochs or "-", "%.4f" % first, "%.4f" % max(first, mean), " ".join(f"{k}={v}" for k, v in chosen.items()) or "recipe")
    confirms = [run(mode, role, s, seed, e, ["held"]) for e in dict.fromkeys([epochs, 5 if epochs and mode != "glove" else epochs])
                for role, s in (("recipe", {}), ("chosen", chosen))[: 2 if chosen else 1] for seed in (2, 3)]
    for c in confirms:
        result(c)


def budget(mode, device, amount):
    """Trains for a budget and compares what was used with it."""
    arguments = ["--mode", mode, "--budget", amount, "--threads", "1" if device == "cpu" else "4", "--device", device]
    folder, s = train(arguments, nice=5 if device == "cpu" else 0)
    if folder is None:
        return write("budgets.tsv", mode, device, amount, "-", "-", s)
    shutil.rmtree(folder, ignore_errors=True)
    spent = s["seconds_matrix"] + s["seconds_train"]
    asked = float(amount.removesuffix("pairs").removesuffix("s"))
    used = s["pairs_per_second"] * s["seconds_train"] if amount.endswith("pairs") else spent
    write("budgets.tsv", mode, device, amount, "%.6g" % used, "%.4f" % (used / asked), "%.2f" % spent)


modes_gpu = ["cl", "vanilla", "word2vec", "pword2vec", "fullw2v", "fullregister", "parw2v"]
modes_cpu = modes_gpu + ["psgnscc", "glove"]


def together(jobs):
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        list(pool.map(lambda j: budget(*j), jobs))


def budgets():
    together([(m, "cuda", "5s") for m in modes_gpu])
    together([(m, "cuda", "1e8pairs") for m in modes_gpu])
    together([(m, "cuda", "1e9pairs") for m in modes_gpu])
    together([(m, "cuda", "1e10pairs") for m in modes_gpu if m not in ("cl", "vanilla")])
    budget("cl", "cuda", "1e10pairs")


def long_budgets():
    together([(m, "cuda", "60s") for m in modes_gpu])
    budget("vanilla", "cuda", "1e10pairs")


def cpu_budgets():
    together([(m, "cpu", "5s") for m in modes_cpu])
    together([(m, "cpu", "1e8pairs") for m in modes_cpu])
    together([(m, "cpu", "60s") for m in modes_cpu])
    together([(m, "cpu", "1e9pairs") for m in modes_cpu])


def cost():
    """The same iterations of cl on a text and on its first tenth, with one number of words, in turns."""
    tenth = os.path.join(scratch, "tenth.txt")
    with open(text, "rb") as source, open(tenth, "wb") as f:
        f.write(source.read(10_000_000))
    cbow, sg = ["--sample", "1e-4", "--batch", "45000"], ["--model", "sg"]
    cases = [("cbow", "cuda", cbow, 2000, 10), ("cbow", "cpu", cbow, 200, 5), ("sg", "cuda", sg, 2000, 2), ("sg", "cpu", sg, 800, 2)]
    for model, device, flags, iterations, seeds in cases:
        a = ["--mode", "cl", "--max-vocab", "10000", "--iterations", str(iterations), "--device", device, "--threads", "16"] + flags
        planned = {}
        for seed in range(1, seeds + 1):
            for name, corpus in {"10 MB": tenth, "100 MB": text}.items():
                if seed == 1:
                    done = subprocess.run([program, "plan", "--corpus", corpus, "--json"] + a, capture_output=True, text=True)
                    planned[name] = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {}
                p = planned[name]
                folder, s = train(a + ["--seed", str(seed)], corpus)
                if folder is None:
                    write("cost.tsv", model, device, name, seed, s)
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                pairs = s["pairs_per_second"] * s["seconds_train"]
                write("cost.tsv", model, device, name, seed, "%.6g" % (p.get("pairs_per_iteration", 0) * p.get("iterations", 0)), "%.6g" % pairs,
                      "%.3f" % p.get("seconds_train", -1), "%.3f" % s["seconds_train"], "%.3f" % p.get("seconds_matrix", -1), "%.3f" % s["seconds_matrix"])


def main():
    os.makedirs(scratch)
    split()
    earlier.update(read_earlier())
    parts = sys.argv[6:] or ["search", "budgets", "cost"]
    modes = next((p.partition("=")[2].split(",") for p in parts if p.startswith("search=")), list(CHANGES) if "search" in parts else [])
    try:
        if not os.path.exists(text + ".cache"):
            shutil.rmtree(train(["--mode", "pword2vec", "--epochs", "1"])[0])  # fills it
        for name, part in {"cost": cost, "budgets": budgets, "long-budgets": long_budgets, "cpu-budgets": cpu_budgets}.items():
            if name in parts:
                part()
        threads = [threading.Thread(target=search, args=(m,)) for m in modes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(*parts, "left", round(end - time.monotonic()), flush=True)


main()
