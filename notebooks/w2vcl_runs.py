"""Runs w2vcl and reads its run folders. Copy this file beside your own notebook.

The files are described in docs/formats.md.
"""

import csv
import json
import pathlib
import shutil
import subprocess

import numpy as np
import pandas as pd

BUILT = pathlib.Path("../bin/w2vcl")  # by `make build`; else the w2vcl on PATH


def w2vcl(*arguments):
    """Runs w2vcl and returns what it prints; an error carries w2vcl's own message."""
    binary = str(BUILT) if BUILT.exists() else shutil.which("w2vcl")
    if not binary:
        raise FileNotFoundError("no w2vcl: run `make build`, or put it on PATH")
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise RuntimeError(f"w2vcl {' '.join(map(str, arguments))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def summary(run):
    """The run in one dict."""
    return json.loads(pathlib.Path(run, "summary.json").read_text(encoding="utf-8"))


def metrics(run):
    """How training went: a row for each line of metrics.jsonl."""
    return pd.read_json(pathlib.Path(run, "metrics.jsonl"), lines=True)


def vocabulary(run):
    """Counts by word, in the order of the rows of the vectors."""
    # Neither quotes nor words such as "null" mean anything here.
    table = pd.read_csv(pathlib.Path(run, "vocab.tsv"), sep="\t", names=["word", "count"],
                        quoting=csv.QUOTE_NONE, keep_default_na=False)
    return table.set_index("word")["count"]


def vectors(path):
    """The vectors of a run folder, or of a file that `w2vcl convert` wrote: a row for each word, float32."""
    path = pathlib.Path(path)
    with open(path / "vectors.bin" if path.is_dir() else path, "rb") as file:
        rows, columns = map(int, file.readline().split())
        words, values = [], np.empty((rows, columns), np.float32)
        data, at = file.read(), 0
    for row in range(rows):
        space = data.index(b" ", at)
        words.append(data[at:space].decode())
        values[row] = np.frombuffer(data, "<f4", columns, space + 1)
        at = space + 1 + 4 * columns + 1  # a line feed ends the row
    return pd.DataFrame(values, index=words)


def unit(table):
    """Rows of length 1, whose products are cosines. A row of zeros stays."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1)
