"""What a type checker says of calls: keywords that do not exist, and values that do not fit."""

import re
import subprocess
import sys

import pytest

CALLS = """
import numpy as np
import w2vcl
from pathlib import Path

run = w2vcl.train("wiki.txt", dim=300, window=5, vector_size=3, min_count=None, sample=0, hs=0, tokenizer=Path("tokenizer.json"), filters=[1, 2], checkpoint=100)
run = w2vcl.train([["a", "b"]], init=run, scores=4, data="sets", on_progress=lambda p: print(p.scores))
run = run.train(["a b"], epochs=run.epochs, out=Path("more")).resume(threads=4)
w2vcl.compare("wiki.txt", ["cl"], window=[2, 5], seeds=3)
w2vcl.evaluate(run, against=run, restrict_vocab=1000)
w2vcl.load("x").train("y.txt").save("z.bin", format="binary", force=True)
w2vcl.plan("wiki.txt", iterations=10)

w2vcl.train("wiki.txt", windw=3)
w2vcl.train("wiki.txt", window="five")
w2vcl.plan("wiki.txt", scores=3)
run.train("more.txt", epoch_count=3)
run.resume(window=3)
w2vcl.compare("wiki.txt", windw=[3])
w2vcl.evaluate(run, tsk="nodes")
run.save("z.bin", fromat="npy")
"""


def test_keywords_are_checked(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "calls.py"
    script.write_text(CALLS)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--ignore-missing-imports", str(script)]
    report = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    wrong = CALLS.split("\n\n")[-1].strip().split("\n")
    first = CALLS.split("\n").index(wrong[0]) + 1
    assert sorted({int(line) for line in re.findall(r"^\S*calls.py:(\d+): error", report, re.MULTILINE)}) == [*range(first, first + len(wrong))], report
    assert 'Unexpected keyword argument "windw"' in report, report
