#!/usr/bin/env python3
"""Quality against seconds: trains with many settings and prints a line of two-threads.tsv for each.

    python3 front.py W2VCL TEXT SETS SCRATCH [SETTING...] >>two-threads.tsv

W2VCL is the program, SETS a folder with WS-353, SimLex-999, MEN, RW and Google's analogies, SCRATCH a folder for runs. A
SETTING replaces the list below. Seconds are those of the whole process, by the clock and of the processors.
"""

import json
import resource
import subprocess
import sys
import time

SETTINGS = [
    "--iterations 256",
    "--iterations 512",
    "--iterations 1024",
    "",
    "--iterations 4096",
    "--subword none --iterations 512",
    "--subword none",
    "--model sg --iterations 1024",
    "--model sg",
    "--model sg --subword ngram --iterations 1024",
    "--mode pword2vec --epochs 5",
    "--mode pword2vec --epochs 15",
    "--mode word2vec --model cbow --epochs 15",
    "--mode word2vec --model cbow --subword ngram --epochs 2",
    "--mode word2vec --model cbow --subword ngram --epochs 5",
    "--mode word2vec --model cbow --subword ngram --epochs 15",
]
FIVE = ["WS-353", "SimLex-999", "MEN", "RW", "Google"]
METRICS = {"similarity": "spearman", "analogy": "3cosadd"}


def train(program, text, run, setting):
    """Trains and returns the seconds by the clock and of the processors."""
    command = [program, "train", "--corpus", text, "--out", run, "--force", "--quiet", "--min-count", "50", *setting.split()]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.time() - start, busy


def score(program, run, sets):
    """Returns the scores of the five sets: of words that are known."""
    output = subprocess.run([program, "eval", f"{run}/vectors.bin", "--data", sets, "--json"], check=True, capture_output=True)
    scores = {s["dataset"]: s["score"] for s in json.loads(output.stdout) if METRICS.get(s["task"]) == s["metric"]}
    return [scores[name] for name in FIVE]


def main():
    program, text, sets, scratch, *settings = sys.argv[1:]
    run = f"{scratch}/run"
    print("setting", "seconds", "processor", "mean", *FIVE, sep="\t", flush=True)
    for setting in settings or SETTINGS:
        seconds, busy = train(program, text, run, setting)
        scores = score(program, run, sets)
        mean = sum(scores) / len(scores)
        print(setting or "(default)", f"{seconds:.1f}", f"{busy:.1f}", f"{mean:.4f}", *(f"{s:.3f}" for s in scores), sep="\t", flush=True)


main()
