"""Training, texts, settings and errors."""

import gzip
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import w2vcl
from conftest import sentences

SMALL = {"dim": 8, "iterations": 16, "progress": False}


def test_a_run_without_a_folder_goes_with_its_object(text):
    run = w2vcl.train(text, **SMALL)
    path, rows = run.path, run.vectors
    assert path.is_dir() and rows.shape == (10, 8)
    del run
    assert not path.exists()
    assert np.isfinite(rows).all()  # they stay


def test_every_kind_of_corpus_gives_the_same_vectors(text, tmp_path):
    lines = text.read_text(encoding="utf-8").splitlines()
    first, second = tmp_path / "first.txt", tmp_path / "second.txt.gz"
    first.write_text("\n".join(lines[:250]) + "\n", encoding="utf-8")
    second.write_bytes(gzip.compress(("\n".join(lines[250:]) + "\n").encode()))
    want = w2vcl.train(str(text), **SMALL)
    corpora = {
        "path": text,
        "list of paths": [first, second],
        "list of names": [str(first), str(second)],
        "strings": lines,
        "strings with line ends": (line.replace(" ", "\n", 1) for line in lines),
        "lists of tokens": sentences(),
        "generator of tuples": (tuple(s) for s in sentences()),
    }
    for name, corpus in corpora.items():
        run = w2vcl.train(corpus, **SMALL)
        assert run.words == want.words, name
        assert np.array_equal(run.vectors, want.vectors), name


@pytest.mark.parametrize("corpus, error, message", [
    ([["a", "b c"]], ValueError, "sentence 1 has the token 'b c'"),
    ([["a"], ["b", ""]], ValueError, "sentence 2 has the token ''"),
    ([["a", " b"]], ValueError, "sentence 1 has the token ' b': a token has no space in it or around it"),
    ([["a", "b\t"]], ValueError, r"sentence 1 has the token 'b\\t': a token has no space in it or around it"),
    ([["a"], ["\u00a0b", "a"]], ValueError, r"sentence 2 has the token '\\xa0b': a token has no space in it or around it"),
    ([["a", " "]], ValueError, "sentence 1 has the token ' ': a token has no space in it or around it"),
    ([["a b", ""]], ValueError, "sentence 1 has the token 'a b'"),
    ([b"a b"], TypeError, "sentence 1 is bytes"),
    (["one", "two", "three"], ValueError, "every sentence is one word"),
    ([pathlib.Path("no-such-file"), "neither"], FileNotFoundError, "no-such-file"),
    (["", ""], ValueError, "the corpus has 2 sentences without a word"),
    (["a b", "c"], w2vcl.Error, "^the corpus: no word is frequent enough: .* lower min_count"),
    ("no-such-file", w2vcl.Error, "no-such-file"),
    ("*.txt", FileNotFoundError, r"a pattern, not a path: give a list of paths, sorted\(glob.glob\('\*.txt'\)\)"),
])
def test_wrong_texts(corpus, error, message):
    with pytest.raises(error, match=message):
        w2vcl.train(corpus, **SMALL)


def test_the_home_folder(text, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "text.txt").write_bytes(text.read_bytes())
    run = w2vcl.train("~/text.txt", **SMALL | {"model": "sg"}, out="~/run", matrix="~/m")
    assert run.path == tmp_path / "run" and (tmp_path / "m").exists()
    assert w2vcl.load("~/run").words == run.words


def test_a_list_with_one_missing_file_is_not_a_text(text):
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        w2vcl.train([str(text), "missing.txt"], **SMALL)


def test_the_program_checks_the_settings(text):
    with pytest.raises(w2vcl.UsageError, match="^min_cuont: no such setting; did you mean min_count.$") as caught:
        w2vcl.train(text, min_cuont=3)
    assert caught.value.status == 2 and isinstance(caught.value, ValueError)
    with pytest.raises(w2vcl.UsageError, match="mode wrod2vec: unknown mode"):
        w2vcl.train(text, mode="wrod2vec")


def test_settings_arrive(text):
    run = w2vcl.train(text, mode="pword2vec", dim=5, window=2, seed=7, epochs=2, sample=0.0, lowercase=True,
                      threads=1, min_count=None, progress=False)
    config = run.config
    assert {k: config[k] for k in ("mode", "dim", "window", "seed", "sample", "lowercase")} == {
        "mode": "pword2vec", "dim": 5, "window": 2, "seed": 7, "sample": 0, "lowercase": True}
    assert w2vcl.train(text, **SMALL, model="cbow", dynamic_window=False).config["dynamic-window"] is False


def test_a_folder_that_exists_is_not_replaced(text, run):
    with pytest.raises(w2vcl.Error, match="choose another name, or replace it with force=True"):
        w2vcl.train(text, **SMALL, out=run.path)


def test_plan(text):
    plan = w2vcl.plan(text, dim=8, iterations=16)
    assert plan["iterations"] == 16 and plan["vocab"] == 10


def test_version():
    about = w2vcl.version()
    assert about["go"].startswith("go1.") and isinstance(about["cuda"], bool)
    assert w2vcl.command("version").startswith("w2vcl " + about["version"])


def test_a_program_that_is_not_there(text, monkeypatch):
    monkeypatch.setenv("W2VCL_BINARY", "/no/such/w2vcl")
    with pytest.raises(FileNotFoundError, match="/no/such/w2vcl"):
        w2vcl.train(text)


def test_a_program_that_dies_tells_its_last_words(tmp_path, monkeypatch):
    program = tmp_path / "w2vcl"
    program.write_text("#!/bin/sh\necho 'panic: oh' >&2\nkill -9 $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("W2VCL_BINARY", str(program))
    with pytest.raises(w2vcl.Error, match="(?s)SIGKILL.*panic: oh"):
        w2vcl.version()


def wait_for_training(out):
    """Waits until a run trains, or is over."""
    for _ in range(6000):
        if out.exists() or out.with_name(out.name + ".partial").joinpath("metrics.jsonl").exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"{out} does not come")


def test_ctrl_c_saves_and_raises(tmp_path):
    long = {"dim": 64, "model": "sg", "contexts": 200_000, "positives": 1, "progress": False}  # half a minute and more
    out = tmp_path / "run"

    def interrupt():
        wait_for_training(tmp_path / "run")
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt, match="resume") as caught:
        w2vcl.train(sentences(), out=out, **long)
    thread.join()
    run = caught.value.run
    assert isinstance(caught.value, w2vcl.Interrupted) and run.interrupted and run.vectors.shape == (10, 64)
    # The text was a temporary file: it lives as long as the run.
    done = run.summary["iterations"]
    assert 0 < done < 200_000
    with pytest.raises(w2vcl.Error, match="contexts"):
        run.resume(contexts=100)


def test_resume_goes_on(text, tmp_path):
    """A run that was stopped ends in the bits of one that never was, whenever the stop came."""
    settings = {"dim": 32, "iterations": 800, "progress": False}
    want = w2vcl.train(text, **settings)
    script = textwrap.dedent(f"""
        import sys, w2vcl
        try:
            w2vcl.train({str(text)!r}, out={str(tmp_path / "run")!r}, checkpoint="100", **{settings!r})
        except w2vcl.Interrupted as stop:
            print(stop.run.interrupted)
            sys.exit(130)
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    wait_for_training(tmp_path / "run")
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=600)
    run = w2vcl.load(tmp_path / "run")
    assert (said == "True\n") == (child.returncode == 130 and run.interrupted)
    run = run.resume()
    assert not run.interrupted
    assert np.array_equal(run.vectors, want.vectors)
    assert not run.resume().interrupted  # a complete run stays


def test_progress_on_standard_error(text, capfd):
    w2vcl.train(text, dim=8, iterations=16, progress=True)
    said = capfd.readouterr().err
    assert "Plan: mode cl" in said and "Trained: 16 iterations" in said and "Saved:" not in said
    w2vcl.train(text, dim=8, iterations=16)  # nobody looks at a file
    assert capfd.readouterr().err == ""
