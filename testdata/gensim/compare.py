#!/usr/bin/env python3
"""Compares w2vcl with gensim 4: files, neighbours and scores.

    python3 -m venv venv
    ./venv/bin/pip install gensim==4.4.0 safetensors==0.8.0
    make build
    ./venv/bin/python testdata/gensim/compare.py VECTORS [--data DIR] [--w2vcl BINARY]

VECTORS is a run folder of `w2vcl train` or a file of vectors. DIR holds
similarity and analogy sets (default: testdata/eval of this repository), BINARY
is w2vcl (default: bin/w2vcl of this repository, as `make build` makes it).

What must hold, each a line of the table:

  files       gensim (numpy, safetensors) reads what `w2vcl convert` writes, and
              w2vcl reads what gensim writes: the same words, and values equal
              bit by bit.
  neighbours  most_similar and `w2vcl neighbors` give the same words with the
              same cosines to 1e-5; words may change places where their cosines
              are that close.
  scores      evaluate_word_pairs and evaluate_word_analogies and `w2vcl eval`
              agree to three decimals, with the same number of pairs and
              questions found, under the conventions of each line:
              ignoring case or not, all words or the most frequent half; words
              that are not known are skipped (dummy4unknown=False).

gensim reads similarity files of exactly three columns separated by tabs; others
are listed as not read by it. The exit status is 1 if anything disagrees, 2 if
nothing could be compared.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import gensim
    import numpy as np
    from gensim.models import KeyedVectors
except ImportError as missing:
    sys.exit(f"compare.py: {missing}; the top of the file says how to install gensim")

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
NEIGHBOURS = 10


class Report:
    """Prints a line for each comparison and remembers what failed."""

    def __init__(self):
        self.compared = 0
        self.failed = 0

    def line(self, what, ok, detail):
        self.compared += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'DIFFERENT':<10} {what:<58} {detail}", flush=True)

    def note(self, what, detail):
        print(f"{'-':<10} {what:<58} {detail}", flush=True)


class W2vcl:
    def __init__(self, binary):
        self.binary = binary

    def run(self, *arguments):
        """Returns standard output, or None and the message of a failure."""
        done = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            return None, done.stderr.strip()
        return done.stdout, ""

    def must(self, *arguments):
        out, message = self.run(*arguments)
        if out is None:
            sys.exit(f"compare.py: w2vcl {' '.join(map(str, arguments))}: {message}")
        return out

    def json(self, command, *arguments):
        """Returns the last line of standard output, which --json makes JSON."""
        return json.loads(self.must(command, "--json", *arguments).strip().splitlines()[-1])


def compare_files(report, w2vcl, vectors, folder):
    """Checks every format both ways and returns gensim's vectors."""
    for extension in ["txt", "bin", "vec", "glove", "npy", "safetensors", "tsv"]:
        w2vcl.must("convert", vectors, folder / f"vectors.{extension}")
    table = KeyedVectors.load_word2vec_format(str(folder / "vectors.bin"), binary=True)

    def same(what, words, values):
        ok = list(words) == table.index_to_key and np.array_equal(bits(values), bits(table.vectors))
        report.line(what, ok, f"{len(table)} words of dimension {table.vector_size}")

    for name, options in {"vectors.txt": {}, "vectors.vec": {}, "vectors.glove": {"no_header": True}}.items():
        text = KeyedVectors.load_word2vec_format(str(folder / name), binary=False, **options)
        same(f"gensim reads {name} as it reads vectors.bin", text.index_to_key, text.vectors)
    same("numpy reads vectors.npy", read_lines(folder / "vectors.words.txt"), np.load(folder / "vectors.npy"))
    same("projector: vectors.tsv, metadata.tsv", read_lines(folder / "metadata.tsv"),
         np.loadtxt(folder / "vectors.tsv", dtype=np.float32, delimiter="\t", ndmin=2))
    try:
        from safetensors.numpy import load_file
    except ImportError:
        report.note("safetensors reads vectors.safetensors", "not installed")
    else:
        tensors = load_file(folder / "vectors.safetensors")
        same("safetensors reads vectors.safetensors", tensors["words"].tobytes().decode().split("\n"), tensors["vectors"])

    for name, binary in {"gensim.txt": False, "gensim.bin": True}.items():
        table.save_word2vec_format(str(folder / name), binary=binary)
        back = folder / f"back-from-{name}.npy"
        w2vcl.must("convert", folder / name, back)
        same(f"w2vcl reads {name}", read_lines(back.with_suffix(".words.txt")), np.load(back))
    return table


def bits(values):
    return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)


def read_lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def compare_neighbours(report, w2vcl, vectors, table, count):
    """Compares the neighbours of words spread over the vocabulary."""
    rows = sorted({round(i * (len(table) - 1) / max(1, count - 1)) for i in range(count)})
    words = [table.index_to_key[row] for row in rows]
    answers = w2vcl.json("neighbors", vectors, "--", *words)  # a word may begin with a hyphen
    worst, different = 0.0, []
    for word, answer in zip(words, answers):
        theirs = table.most_similar(word, topn=NEIGHBOURS)
        ours = [(n["word"], n["cosine"]) for n in answer["neighbors"][:NEIGHBOURS]]
        gaps = [abs(cosine - table.similarity(word, name)) for name, cosine in ours]
        gaps += [abs(a[1] - b[1]) for a, b in zip(ours, theirs)]  # rank by rank
        worst = max([worst, *gaps])
        if answer["word"] != word or len(ours) != len(theirs) or max(gaps, default=0) > 1e-5:
            different.append(word)
    report.line(f"{NEIGHBOURS} neighbours of {len(words)} words", not different,
                f"largest difference of cosines {worst:.1e}" + (f": {', '.join(different)}" if different else ""))


def agree(a, b):
    """Equal to three decimals: no more than half of the last one apart."""
    missing = [x is None or math.isnan(x) for x in (a, b)]
    return all(missing) if any(missing) else abs(a - b) <= 0.0005


def show(x):
    return "n/a" if x is None or math.isnan(x) else f"{x:.4f}"


def compare_scores(report, w2vcl, vectors, table, path, name, conventions):
    """Compares the scores of one data set under one set of conventions."""
    half = conventions["half"]
    options = ["--sections"]
    restrict = len(table)
    if half:
        restrict = len(table) // 2
        options += ["--restrict-vocab", restrict]
    label = f"{name}, {'half of the words' if half else 'all words'}"
    results = w2vcl.json("eval", vectors, "--data", path, *options)
    arguments = {"restrict_vocab": restrict, "dummy4unknown": False}
    if results[0]["task"] == "similarity":
        compare_similarity(report, table, path, label, results, arguments)
    elif results[0]["task"] == "analogy":
        compare_analogies(report, table, path, label, results, arguments)


def compare_similarity(report, table, path, label, results, arguments):
    ours = {r["metric"]: r for r in results}
    found, total = ours["spearman"]["found"], ours["spearman"]["total"]
    try:
        pearson, spearman, oov = table.evaluate_word_pairs(str(path), **arguments)
    except ValueError:
        if found < 2:
            report.note(label, f"no score in either, {found} of {total} found")
        else:
            report.note(label, "not read by gensim: not three columns separated by tabs")
        return
    theirs_found = round(total * (1 - oov / 100))
    for metric, theirs in {"spearman": spearman[0], "pearson": pearson[0]}.items():
        score = ours[metric]["score"]
        report.line(f"{label}: {metric}", agree(score, theirs) and found == theirs_found,
                    f"w2vcl {show(score)}, gensim {show(theirs)}; found {found}, {theirs_found} of {total}")


def compare_analogies(report, table, path, label, results, arguments):
    ours = {r["dataset"]: r for r in results if r["metric"] == "3cosadd"}
    whole = results[0]["dataset"]
    if ours[whole]["found"] == 0:
        report.note(label, "no question with known words")
        return
    score, sections = table.evaluate_word_analogies(str(path), **arguments)
    right, found, theirs_found = 0, 0, 0
    differing = []
    for section in sections[:-1]:  # the last one is the sum
        name = section["section"]
        mine = ours[f"{whole}/{name}"]
        correct, wrong = len(section["correct"]), len(section["incorrect"])
        theirs = correct / (correct + wrong) if correct + wrong else None
        theirs_found += correct + wrong
        found += mine["found"]
        right += round(mine["found"] * (mine["score"] or 0))
        # A section may be small: one question decided by rounding is allowed.
        slack = 1 / mine["found"] if mine["found"] else 0
        if mine["found"] != correct + wrong or not (agree(mine["score"], theirs) or abs(mine["score"] - theirs) <= slack):
            differing.append(name)
    ok = agree(ours[whole]["score"], score) and found == theirs_found and not differing
    detail = f"w2vcl {show(ours[whole]['score'])}, gensim {show(score)}; found {found}, {theirs_found} of {ours[whole]['total']}"
    if differing:
        detail += f"; sections {', '.join(differing)}"
    report.line(f"{label}: 3cosadd, {len(sections) - 1} sections", ok, detail)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=pathlib.Path, help="run folder or file of vectors")
    parser.add_argument("--data", type=pathlib.Path, default=REPOSITORY / "testdata" / "eval", help="folder of data sets")
    parser.add_argument("--w2vcl", type=pathlib.Path, default=REPOSITORY / "bin" / "w2vcl", help="the program")
    parser.add_argument("--words", type=int, default=50, help="words whose neighbours are compared")
    options = parser.parse_args()
    for path in [options.vectors, options.data, options.w2vcl]:
        if not path.exists():
            parser.error(f"{path} does not exist")

    report, w2vcl = Report(), W2vcl(options.w2vcl.resolve())
    print(f"gensim {gensim.__version__}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        table = compare_files(report, w2vcl, options.vectors, pathlib.Path(folder))
    compare_neighbours(report, w2vcl, options.vectors, table, options.words)

    scored = 0
    files = [options.data] if options.data.is_file() else sorted(p for p in options.data.rglob("*") if p.is_file())
    for path in files:
        name = path.name
        if w2vcl.run("eval", options.vectors, "--data", path, "--json")[0] is None:
            report.note(name, "not a set that w2vcl scores")
            continue
        scored += 1
        for conventions in [{"half": False}, {"half": True}]:
            compare_scores(report, w2vcl, options.vectors, table, path, name, conventions)
    if scored == 0:
        print(f"no data set in {options.data}")
        return 2
    print(f"{report.compared} comparisons, {report.failed} different")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
