"""A small text with two topics, and runs on it. The tests run on the installed wheel."""

import random
import signal

import pytest

import w2vcl

# Shells and nohup start background commands with Ctrl-C ignored, which Python and its children keep.
signal.signal(signal.SIGINT, signal.default_int_handler)

TOPICS = [["cat", "dog", "mouse", "horse", "bird"], ["red", "green", "blue", "white", "black"]]


def sentences(count=600, seed=1):
    """Lists of tokens; words of a topic are near to each other, and every word occurs often."""
    draw = random.Random(seed)
    return [draw.choices(draw.choice(TOPICS), k=8) for _ in range(count)]


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("".join(" ".join(s) + "\n" for s in sentences()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def run(text, tmp_path_factory):
    return w2vcl.train(text, dim=12, iterations=64, model="sg", out=tmp_path_factory.mktemp("runs") / "words")


@pytest.fixture(scope="session")
def subword_run(text, tmp_path_factory):
    return w2vcl.train(text, dim=12, iterations=64, subword="ngram", out=tmp_path_factory.mktemp("runs") / "ngram")
