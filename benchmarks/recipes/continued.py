#!/usr/bin/env python3
"""Continued runs beside runs on the whole text: half of a text, then the other half; and a model of fastText, continued.

    python3 continued.py W2VCL TEXT SETS SCRATCH [--fasttext PROGRAM] [--device NAME] [--seeds K] [--jobs N]

W2VCL is the program, TEXT plain text, SETS a folder with WS-353, SimLex-999, MEN, RW and Google's analogies, SCRATCH a folder for
runs; a run that is there is not trained again. Prints lines of continued-bars.tsv. Pairs of RW are also told apart by where their words
are in vocab.tsv: old pairs have both words in the first run, new ones both in the continued run, missed ones both in the run on the
whole text alone; unseen pairs have a word that none of the runs has.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

FIVE = ["WS-353", "SimLex-999", "MEN", "RW", "Google"]
KINDS = ["old", "new", "missed", "unseen"]
METRICS = ["spearman", "3cosadd"]
PREFIX = 10_000_000  # bytes of the text of fastText's model, and of what follows

parser = argparse.ArgumentParser(usage=__doc__)
for name in ("w2vcl", "text", "sets", "scratch"):
    parser.add_argument(name)
parser.add_argument("--fasttext")
parser.add_argument("--device", default="cpu")
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--jobs", type=int, default=1)
o = parser.parse_args()


def path(name):
    return os.path.join(o.scratch, name)


def cut(name, first, end):
    """Writes bytes of the text to a file."""
    with open(o.text, "rb") as text, open(path(name), "wb") as part:
        text.seek(first)
        part.write(text.read(end - first))
    return path(name)


def train(run, text, seed, *flags):
    out = f"{path(run)}-{seed}"
    if not os.path.exists(out):
        device = [] if "--freeze" in flags else ["--device", o.device]
        command = [o.w2vcl, "train", "--quiet", "--corpus", text, "--out", out, "--dim", "100", "--min-count", "5", "--seed", str(seed)]
        subprocess.run([*command, *device, *flags], check=True)
    return out


def each(do, items):
    """Does something with each item, --jobs at a time."""
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        return list(pool.map(do, items))


def words(run):
    with open(os.path.join(run, "vocab.tsv"), encoding="utf-8") as lines:
        return {line.split("\t")[0] for line in lines}


def split(first, continued, whole):
    """Writes a file of each kind of pairs of RW."""
    known = [words(first), words(continued), words(whole)]
    pairs = {}
    for file in sorted(os.listdir(o.sets)):
        if "RW" not in file:
            continue
        with open(os.path.join(o.sets, file), encoding="utf-8") as lines:
            for line in lines:
                both = set(line.lower().split()[:2])
                kind = next((kind for kind, have in zip(KINDS, known) if both <= have), "unseen")
                pairs.setdefault(kind, []).append(line)
    os.makedirs(path("kinds"), exist_ok=True)
    for kind, lines in pairs.items():
        with open(path(f"kinds/{kind}.txt"), "w", encoding="utf-8") as file:
            file.writelines(lines)


def scores(vectors, *folders):
    """The scores of all pairs, and by set and " known" those of known words."""
    found = {}
    for folder in folders:
        text = subprocess.run([o.w2vcl, "eval", vectors, "--data", folder, "--json"], capture_output=True, text=True, check=True).stdout
        for s in json.loads(text):
            if s["metric"] in METRICS:
                found[s["dataset"]], found[s["dataset"] + " known"] = s["score"], s.get("found_score", s["score"])
    found["mean known"] = sum(found[name + " known"] for name in FIVE) / len(FIVE)
    found["mean all"] = sum(found[name] for name in FIVE) / len(FIVE)
    return found


def row(title, runs, columns, *folders):
    """Prints the mean scores of runs, and returns them."""
    found = each(lambda run: scores(run, *folders), runs)
    mean = {c: sum(s[c] for s in found) / len(found) for c in columns}
    print(title, len(runs), *[f"{x:.4f}".replace("0.", ".", 1) for x in mean.values()], sep="\t", flush=True)
    return mean


def table(run):
    """The rows of vectors.bin and context.bin, by word, to the bit."""
    rows = {}
    for name in ("vectors.bin", "context.bin"):
        with open(os.path.join(run, name), "rb") as file:
            count, dim = map(int, file.readline().split())
            for _ in range(count):
                word = b""
                while (c := file.read(1)) != b" ":
                    word += c
                rows[name, word.strip()] = file.read(4 * dim)
    return rows


def halves():
    size, seeds = os.path.getsize(o.text), range(1, o.seeds + 1)
    one, two = cut("one.txt", 0, size // 2), cut("two.txt", size // 2, size)
    first = each(lambda s: train("first", one, s, "--iterations", "1024"), seeds)
    both = each(lambda s: train("both", two, s, "--iterations", "1024", "--init", first[s - 1]), seeds)
    whole = each(lambda s: train("whole", o.text, s, "--iterations", "2048"), seeds)
    split(first[0], both[0], whole[0])
    columns = [name + " known" for name in FIVE] + ["mean known", "mean all"] + KINDS
    print("trained on", "seeds", *columns, sep="\t")
    folders = o.sets, path("kinds")
    row("the first half", first, columns, *folders)
    results = row("both halves", both, columns, *folders), row("the whole text", whole, columns, *folders)
    for c in ("mean known", "mean all", "unseen"):
        print(f"# {c}: {results[0][c] - results[1][c]:+.4f} of both halves")
    frozen = train("frozen", two, 1, "--iterations", "64", "--init", first[0], "--freeze", "known")
    old, now = table(first[0]), table(frozen)
    print(f"# --freeze known: {sum(now[row] != old[row] for row in old)} of {len(old)} rows changed")


def after_fasttext():
    one, two, seeds = cut("before.txt", 0, PREFIX), cut("after.txt", PREFIX, 2 * PREFIX), range(1, o.seeds + 1)
    model = path("fasttext.bin")
    if not os.path.exists(model):
        # 5 epochs at .05 are fastText's defaults.
        subprocess.run([o.fasttext, "skipgram", "-input", one, "-output", model[:-4], "-dim", "100", "-minCount", "5"], check=True, stdout=subprocess.DEVNULL)
    columns = [name + " known" for name in FIVE] + ["mean known", "mean all"]
    before = row("fastText", [model], columns, o.sets)
    for mode, flags in ("word2vec", ["--mode", "word2vec", "--lr", ".05"]), ("cl", []):
        own = each(lambda s: train(f"{mode}-own", one, s, *flags, "--subword", "ngram"), seeds)
        more = each(lambda s: train(f"{mode}-more", two, s, *flags, "--init", own[s - 1]), seeds)
        continued = each(lambda s: train(f"{mode}-fasttext", two, s, *flags, "--init", model), seeds)
        start, end = row(mode, own, columns, o.sets), row(f"{mode}, continued", more, columns, o.sets)
        after = row(f"fastText, continued by {mode}", continued, columns, o.sets)
        for c in columns[-2:]:
            print(f"# {mode}, {c}: {after[c] - before[c]:+.4f} after fastText, {end[c] - start[c]:+.4f} after {mode}")


os.makedirs(o.scratch, exist_ok=True)
halves()
if o.fasttext:
    after_fasttext()
sys.exit()
