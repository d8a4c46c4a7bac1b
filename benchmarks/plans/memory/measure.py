#!/usr/bin/env python3
"""Compares the memory that plan states with the peak of the run, and tries limits, for every mode, encoder and text.

    measure.py W2VCL SMALL LARGE [CASE...]

A case is the name of a row without its text, as in "cl cbow ngram"; those of other commands than train come last. Prints a line for each case and text: plan, peak and their
ratio; then two limits with the peak and the result of the run. The first limit is 0.85 of the peak, or what the program takes
that does nothing; the second is what the refusal says that training needs (where a part was refused, reading or training without
its matrix, there is another run with what that needs), or else 1.02 of the peak. "refused" and "kept" are good. Sizes are MB.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SEQUENTIAL = ["word2vec", "pword2vec", "psgnscc", "fullw2v", "fullregister", "parw2v"]
DIMS = {"small": "50", "large": "300"}
PROGRAM = 27e6
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def cases():
    """Yields the name, the command and the flags of each case."""
    for model in "cbow", "sg":
        for encoder in "none", "ngram", "cnn":
            yield f"cl {model} {encoder}", "train", ["--mode", "cl", "--model", model, "--subword", encoder, "--iterations", "12"]
    for encoder in "none", "ngram", "cnn":
        yield f"vanilla {encoder}", "train", ["--mode", "vanilla", "--subword", encoder, "--epochs", "1"]
    for mode in SEQUENTIAL:
        for encoder in ["none"] if mode == "psgnscc" else ["none", "ngram"]:
            yield f"{mode} {encoder}", "train", ["--mode", mode, "--epochs", "1"] + (["--subword", encoder] if mode != "psgnscc" else [])
    yield "ppmi none", "train", ["--mode", "ppmi"]
    yield "ppmi window 10", "train", ["--mode", "ppmi", "--window", "10"]
    yield "glove none", "train", ["--mode", "glove", "--epochs", "2"]
    for modes in "word2vec,pword2vec", "cl,glove":
        yield f"compare {modes}", "compare", ["--modes", modes, "--budget", "epochs=1", "--points", "2"]
    yield "corpus build", "corpus build", []
    yield "matrix build", "matrix build", []


def run(program, command, arguments):
    """Returns exit code, standard output, standard error and peak in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([program, *command.split(), *arguments], stdout=out, stderr=err)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return p.returncode, out.read().decode(), err.read().decode(), usage.ru_maxrss * 1024


def limited(program, command, flags, limit):
    """Returns peak and result of a run under a limit, and the bytes that a refusal says are needed, rounded up."""
    clean(flags)
    code, _, err, peak = run(program, command, [*flags, "--max-memory", f"{int(limit)}B"])
    need = re.search(r"needs about ([\d.]+) (\w+) of memory", err)
    need = float(need[1]) * UNITS[need[2]] * 1.0005 if need else 0
    part = "reading the text needs" in err or "without the matrix M needs" in err or "known only when" in err
    if code == 0:
        result = "kept" if peak <= limit else f"EXCEEDED by {100 * (peak / limit - 1):.1f}%"
    elif peak > limit:
        result = f"refused, but EXCEEDED by {100 * (peak / limit - 1):.1f}%"
    elif need:
        result = f"refused{' a part' * part}: {need / 1e6:.1f}"
    else:
        result = "refused: " + err.strip().splitlines()[-1]
    return peak, result, need, part


def clean(flags):
    """Removes what a run before left at the output, the last flag."""
    shutil.rmtree(flags[-1], ignore_errors=True)
    if os.path.exists(flags[-1]):
        os.remove(flags[-1])


def measure(program, command, flags):
    """Returns the columns of a row."""
    plan = 0
    if command == "train":
        code, out, err, _ = run(program, "plan", [*flags[:-2], "--json"])
        if code:
            return ["plan failed: " + err.strip()]
        plan = json.loads(out)["memory_bytes"]["peak"]
    clean(flags)
    code, _, err, peak = run(program, command, flags)
    if code:
        return ["failed: " + err.strip()]
    columns, limit = [f"{plan / 1e6:.1f}" if plan else "", f"{peak / 1e6:.1f}", f"{plan / peak:.3f}" if plan else ""], max(0.85 * peak, PROGRAM)
    for _ in range(2):
        reached, result, need, part = limited(program, command, flags, limit)
        columns += [f"{limit / 1e6:.1f}", f"{reached / 1e6:.1f}", result]
        while part:
            _, _, need, part = limited(program, command, flags, need)
        limit = need or 1.02 * peak
    return columns


def main():
    program, small, large, *names = sys.argv[1:]
    print("case\ttext\tplan\tpeak\tratio\tlimit\tpeak\tresult\tlimit\tpeak\tresult")
    with tempfile.TemporaryDirectory() as folder:
        for name, command, flags in cases():
            for size, text in ("small", small), ("large", large):
                if not names or name in names:
                    out = {"corpus build": "--cache", "matrix build": "--matrix"}.get(command, "--out")
                    dim = ["--dim", DIMS[size]] if "build" not in command else []
                    flags_of_size = [*flags, "--threads", "2", *dim, "--corpus", text, out, os.path.join(folder, "run")]
                    print(name, size, *measure(program, command, flags_of_size), sep="\t", flush=True)


main()
