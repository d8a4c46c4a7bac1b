#!/usr/bin/env python3
"""Compares the memory that plan states with the peak of the run, for every mode, encoder and size.

    measure.py W2VCL TEXT [plans|limits] [MODE...]

plans prints a line a run, three of each small one: mode, encoder, size, plan and peak in MB, and their ratio. limits trains
under limits between 0.8 and 1.1 of the plan and prints what became of each: refused or kept is good.
"""

import json
import os
import subprocess
import sys
import tempfile

SEQUENTIAL = ["word2vec", "pword2vec", "psgnscc", "fullw2v", "fullregister", "parw2v"]
ENCODERS = {"cl": ["none", "ngram", "cnn"], "vanilla": ["none", "ngram", "cnn"], "word2vec": ["none", "ngram"], "pword2vec": ["none", "ngram"]}
SHORT = {"cl": ["--iterations", "12"], "vanilla": ["--epochs", "1"], "glove": ["--epochs", "2"]}
SIZES = {"small": ["--dim", "50"], "large": ["--dim", "300"]}


def flags(mode, encoder, size, text):
    path = text + ".part" if size == "small" else text
    f = ["--corpus", path, "--mode", mode, "--threads", "2", *SIZES[size]]
    f += SHORT.get(mode, ["--epochs", "1"] if mode in SEQUENTIAL else [])
    return f + (["--subword", encoder] if encoder != "none" else [])


def run(program, command, arguments):
    """Returns exit code, standard output, standard error and peak in bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([program, command, *arguments], stdout=out, stderr=err)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return p.returncode, out.read().decode(), err.read().decode(), usage.ru_maxrss * 1024


def train(program, arguments, folder):
    out = os.path.join(folder, "run")
    return run(program, "train", [*arguments, "--out", out, "--force"])


def plans(program, text, modes, folder):
    print("mode\tencoder\tsize\tplan\tpeak\tratio")
    for mode, encoder, size in [c for c in cases(modes) for _ in range(3 if c[2] == "small" else 1)]:
        f = flags(mode, encoder, size, text)
        code, out, err, _ = run(program, "plan", [*f, "--json"])
        if code:
            print(f"{mode}\t{encoder}\t{size}\tplan failed: {err.strip()}", flush=True)
            continue
        plan = json.loads(out)["memory_bytes"]["peak"]
        code, _, err, peak = train(program, f, folder)
        failed = "" if code == 0 else "\tfailed: " + err.strip().splitlines()[-1]
        print(f"{mode}\t{encoder}\t{size}\t{plan/1e6:.1f}\t{peak/1e6:.1f}\t{plan/peak:.3f}{failed}", flush=True)


def limits(program, text, modes, folder):
    print("mode\tencoder\tsize\tplan\tlimit\tpeak\tresult")
    for mode, encoder, size in cases(modes):
        f = flags(mode, encoder, size, text)
        code, out, err, _ = run(program, "plan", [*f, "--json"])
        plan = json.loads(out)["memory_bytes"]["peak"] if code == 0 else 100e6
        for share in (0.8, 0.85, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1):
            limit = int(share * plan)
            code, _, err, peak = train(program, [*f, "--max-memory", f"{limit}B"], folder)
            last = err.strip().splitlines()[-1] if err.strip() else ""
            result = "kept" if code == 0 and peak <= limit else f"EXCEEDED by {100*(peak/limit-1):.0f}%" if code == 0 else "refused: " + last
            print(f"{mode}\t{encoder}\t{size}\t{plan/1e6:.1f}\t{limit/1e6:.1f}\t{peak/1e6:.1f}\t{result}", flush=True)


def cases(modes):
    for mode in modes or ["cl", "vanilla", *SEQUENTIAL, "ppmi", "glove"]:
        for encoder in ENCODERS.get(mode, ["none"]):
            for size in SIZES:
                yield mode, encoder, size


def main():
    program, text, what, *modes = sys.argv[1:]
    part = text + ".part"
    with open(text, "rb") as whole, open(part, "wb") as f:
        f.write(whole.read(os.path.getsize(text) // 4))
    with tempfile.TemporaryDirectory() as folder:
        {"plans": plans, "limits": limits}[what](program, text, modes, folder)


main()
