"""Words' own vectors and their spelling trained by their sum, by two losses, and alone: scores of `w2vcl eval`.

    hybrid.py W2VCL TEXT SETS DEVICE SECONDS OUT [defaults] [quick]    appends a row a run to OUT; defaults: the runs of three seeds
                                                                       with what is the default today; quick: tiny runs, to try the script
    hybrid.py page ROWS                                     prints the table of the page

Runs that would not end in so many seconds are not begun. The first in the list matter most.
"""
import json, os, shutil, subprocess, sys, threading, time

SETS = [("WS-353", "spearman"), ("SimLex-999", "spearman"), ("MEN", "spearman"), ("RW", "spearman"), ("Google", "3cosadd")]
NGRAM, CNN = "--model sg --subword ngram", "--model sg --subword cnn --gram 1-5"
TWO, ALONE = " --compose two-losses", " --compose spelling"

# name: settings, seconds of a run at min-count 5 and at 50 (estimates for one H100 that three runs share)
FORMS = {
    "word level": ("--model sg --subword none", 15, 8),
    "n-grams, sum": (NGRAM, 30, 12),
    "n-grams, two losses": (NGRAM + TWO, 30, 12),
    "n-grams, two losses, twice as long": (NGRAM + TWO + " --epochs 2", 50, 18),
    "n-grams, two losses, a third of the rate": (NGRAM + TWO + " --subword-lr 0.01", 30, 12),
    "n-grams, two losses, a tenth of the rate": (NGRAM + TWO + " --subword-lr 0.003", 30, 12),
    "n-grams, sum, a third of the rate": (NGRAM + " --subword-lr 0.01", 30, 12),
    "n-grams, sum, twice as long": (NGRAM + " --epochs 2", 50, 18),
    "n-grams alone": (NGRAM + ALONE, 30, 12),
    "CNN, two losses": (CNN + TWO, 90, 30),
    "CNN alone": (CNN + ALONE + " --iterations 2048", 55, 20),
    "CNN alone, n-grams of 2 to 6": ("--model sg --subword cnn --gram 2-6" + ALONE + " --iterations 2048", 55, 20),
    "n-grams, two losses, own vectors": (NGRAM + TWO + " --known own", 30, 12),
    "n-grams, two losses, spelling": (NGRAM + TWO + " --known spelling", 30, 12),
    "n-grams, two losses, unseen by regression": (NGRAM + TWO + " --unseen regress", 60, 25),
    "cl": ("--model cbow", 20, 10),
}
JOBS = [("word level", 5, 1), ("n-grams, sum", 5, 1), ("n-grams, two losses", 5, 1), ("CNN alone", 5, 1), ("CNN, two losses", 5, 1)]
JOBS += [("n-grams, two losses, a third of the rate", 5, 1), ("n-grams, sum, a third of the rate", 5, 1), ("n-grams, two losses, a tenth of the rate", 5, 1)]
JOBS += [(f, 50, s) for s in (1, 2, 3) for f in ("word level", "n-grams, sum", "n-grams, two losses", "CNN, two losses")]
JOBS += [(f, 5, s) for s in (2, 3) for f in ("word level", "n-grams, sum", "n-grams, two losses", "CNN alone")]
JOBS += [("n-grams, two losses, twice as long", 5, 1), ("CNN, two losses", 5, 2), ("n-grams, two losses, unseen by regression", 5, 1),
         ("CNN alone, n-grams of 2 to 6", 5, 1), ("CNN, two losses", 5, 3), ("n-grams, two losses, own vectors", 5, 1),
         ("n-grams, two losses, spelling", 5, 1), ("n-grams alone", 5, 1), ("n-grams, sum, twice as long", 5, 1)]
DEFAULTS = [(f, least, s) for s in (1, 2, 3) for f, least in (
    ("CNN alone", 5), ("n-grams, two losses", 5), ("n-grams, two losses", 50), ("n-grams alone", 5), ("cl", 5))]
DEFAULTS += [("n-grams, sum", 5, 1), ("n-grams alone", 50, 1), ("CNN, two losses", 5, 1)]
DEFAULTS += [(f, least, s) for s in (2, 3) for f, least in (("n-grams alone", 50), ("n-grams, sum", 5))]
HEAD = ["form", "min-count", "seed", "settings", "words", "iterations", "seconds of training", "loss"]
HEAD += [d + part for d, _ in SETS for part in ("", ", with an unseen word", ", all")]


def run(binary, text, sets, device, number, name, least, seed, quick):
    settings = FORMS[name][0]
    folder = f"/tmp/hybrid-{os.getpid()}-{number}"
    tiny = ["--dim", "8", "--iterations", "6"] if quick else ["--dim", "300"]
    begun = time.monotonic()
    p = subprocess.run([binary, "train", "--device", device, "--corpus", text, "--min-count", str(least), "--seed", str(seed),
                        "--out", folder, "--force", "--quiet", *settings.split(), *tiny], capture_output=True, text=True)
    if p.returncode:
        return [name, least, seed, "failed: " + " ".join((p.stderr or p.stdout).split())[-300:]]
    trained = time.monotonic() - begun
    s = json.load(open(folder + "/summary.json"))
    p = subprocess.run([binary, "eval", folder, "--data", sets, "--json"], capture_output=True, text=True)
    scores = {(x["dataset"], x["metric"]): x for x in json.loads(p.stdout)}
    shutil.rmtree(folder)
    row = [name, least, seed, settings, s["vocab"], s["iterations"], f"{s['seconds_train']:.2f}", f"{s['loss']:.4f}"]
    for key in SETS:
        x = scores.get(key, {"score": 0})
        known, unseen, all = x.get("found_score", x["score"]), x.get("composed_score"), x["score"] if "composed_score" in x else None
        row += ["" if v is None else f"{v:.4f}" for v in (known, unseen, all)]
    print(f"{time.monotonic() - begun:.1f} s, {trained:.1f} of training:", *row, flush=True)
    return row


def main(binary, text, sets, device, seconds, out, *words):
    start, lock, quick = time.monotonic(), threading.Lock(), "quick" in words
    jobs = list(enumerate(DEFAULTS if "defaults" in words else JOBS))

    def worker():
        while True:
            with lock:
                left = start + float(seconds) - time.monotonic()
                i = next((i for i, (_, (name, least, _)) in enumerate(jobs) if FORMS[name][1 if least == 5 else 2] < left), None)
                if i is None:
                    return
                number, job = jobs.pop(i)
            row = run(binary, text, sets, device, number, *job, quick)
            with lock, open(out, "a") as f:
                print(*row, sep="\t", file=f)

    with open(out, "w") as f:
        print(*HEAD, sep="\t", file=f)
    workers = [threading.Thread(target=worker) for _ in range(1 if quick else 3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print("not begun:", *(job for _, job in jobs))


def page(rows):
    lines = [line.rstrip("\n").split("\t") for line in open(rows)]
    head, groups = lines[0], {}
    for row in lines[1:]:
        groups.setdefault((row[1], row[0]), []).append(dict(zip(head, row)))
    columns = [d for d, _ in SETS] + ["RW, with an unseen word"]
    print("least count, form", "seeds", *columns[:-1], "RW, unseen", sep="\t")
    for (least, name), of in groups.items():
        values = [[float(r[c]) for r in of if r.get(c)] for c in columns]
        print(f"{least}, {name}", len(of), *(f"{sum(v) / len(v):.3f}".replace("0.", ".", 1) if v else "" for v in values), sep="\t")


if __name__ == "__main__":
    page(sys.argv[2]) if sys.argv[1] == "page" else main(*sys.argv[1:])
