"""What users of gensim are used to: its names, callbacks, pickles, and cells of a notebook that are run again."""

import copy
import gc
import inspect
import io
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import w2vcl
from conftest import sentences

gensim = pytest.importorskip("gensim")
SMALL = {"dim": 8, "iterations": 16, "progress": False}


def test_sentences_is_a_name_of_corpus(text):
    want = w2vcl.train(text, **SMALL)
    assert np.array_equal(w2vcl.train(sentences=sentences(), **SMALL).vectors, want.vectors)
    assert w2vcl.plan(sentences=sentences(), dim=8, iterations=16)["vocab"] == 10
    with pytest.raises(TypeError, match="give one of them"):
        w2vcl.train(text, sentences=sentences(), **SMALL)
    with pytest.raises(w2vcl.UsageError, match="corpus is missing"):
        w2vcl.train(**SMALL)


def test_answers_are_those_of_gensim(run):
    keyed = run.keyed_vectors
    vector = run["red"] * 3
    for positive, negative in [("cat", []), (["cat", "dog"], []), (["cat", "red"], ["dog"]), (["cat", vector], "blue"),
                               ([("cat", 2.0), ("red", 0.5)], []), (["cat"], [("dog", -0.5), "bird"]), (vector, [])]:
        mine = run.most_similar(positive=positive, negative=negative, topn=4)
        theirs = keyed.most_similar(positive=positive, negative=negative, topn=4)
        assert [word for word, _ in mine] == [word for word, _ in theirs], (positive, negative)
        assert np.allclose([c for _, c in mine], [c for _, c in theirs], atol=1e-6)
    assert run.most_similar("cat") == run.wv.most_similar(["cat"]) and len(run.most_similar("cat")) == 9
    for rows in (3, 6):  # words that are asked for lie within, or behind
        assert [w for w, _ in run.most_similar(["cat", "dog"], restrict_vocab=rows)] == [w for w, _ in keyed.most_similar(["cat", "dog"], restrict_vocab=rows)]
    assert run.similarity("cat", "dog") == pytest.approx(keyed.similarity("cat", "dog"), abs=1e-6)
    for words in (["cat", "dog", "red", "mouse"], ["red", "green", "horse"]):
        assert run.doesnt_match(words) == keyed.doesnt_match(words)
    with pytest.raises(ValueError, match="positive or negative"):
        run.most_similar()


def test_names_of_gensim(run):
    keyed = run.keyed_vectors
    assert run.index_to_key == keyed.index_to_key and run.key_to_index == keyed.key_to_index
    assert run.vector_size == keyed.vector_size == 12
    assert list(run) == run.words and np.array_equal(run[0], keyed[0])
    assert np.array_equal(run[["cat", "red"]], keyed[["cat", "red"]])
    with pytest.raises(TypeError, match="2.5 is float: a word is a string"):
        run[[2.5]]
    with pytest.raises(AttributeError, match="keyed_vectors"):
        run.cosine_similarities
    with pytest.raises(AttributeError, match=r"w2vcl.train\(more, init=run\) goes on with another text"):
        run.train(sentences())
    for name, asked in [("most_similar_cosmul", ["cat"]), ("similar_by_word", ["cat"]), ("get_vecattr", ["cat", "count"]),
                        ("get_vector", ["cat"]), ("get_vector", ["cat", True]), ("get_mean_vector", [["cat", "red"]])]:
        assert np.array_equal(getattr(run, name)(*asked), getattr(keyed, name)(*asked)), name
    assert run.distance("cat", "red") == pytest.approx(keyed.distance("cat", "red"), abs=1e-6)
    assert run.n_similarity(["cat", "red"], ["dog"]) == pytest.approx(keyed.n_similarity(["cat", "red"], ["dog"]), abs=1e-6)
    assert not hasattr(run, "_ipython_display_")


def test_unseen_words_of_a_run_with_subword(subword_run):
    composed = subword_run["catdog"]
    assert "catdog" not in subword_run and np.array_equal(composed, subword_run.vector("catdog"))
    assert subword_run.most_similar("catdog", topn=3) == subword_run.neighbors("catdog", 3)
    first, second = subword_run.vector(["catdog", "cat"])
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert subword_run.similarity("catdog", "cat") == pytest.approx(cosine, abs=1e-6)


def test_callback(text):
    seen = []
    run = w2vcl.train(text, dim=8, contexts=3000, model="sg", progress=False, on_progress=seen.append)
    assert all(isinstance(p, w2vcl.Progress) for p in seen)
    assert seen[-1].phase == "training" and seen[-1].percent == 100
    assert seen[-1].loss == pytest.approx(run.summary["loss"], abs=1e-3)
    percents = [p.percent for p in seen if p.phase == "training"]
    assert percents == sorted(percents)


def test_callback_with_tqdm(text):
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(total=100, file=io.StringIO()) as bar:
        w2vcl.train(text, **SMALL, on_progress=lambda p: p.phase == "training" and bar.update(p.percent - bar.n))
        assert bar.n == 100


def test_callback_that_fails_stops_training(tmp_path):
    """Its exception is raised, and the vectors until then are there."""

    class Enough(Exception):
        pass

    def stop(progress):
        if progress.phase == "training":
            raise Enough(progress.percent)

    long = {"dim": 64, "model": "sg", "contexts": 200_000, "positives": 1, "progress": False}  # half a minute and more
    with pytest.raises(Enough):
        w2vcl.train(sentences(), out=tmp_path / "run", on_progress=stop, **long)
    assert w2vcl.load(tmp_path / "run").summary["interrupted"]


def test_a_run_stands_where_a_path_may(text, run, tmp_path):
    assert os.fspath(run) == str(run.path)
    more = w2vcl.train(text, mode="pword2vec", dim=12, epochs=1, threads=1, subword="none", init=run, progress=False)
    other = w2vcl.train(text, mode="pword2vec", dim=12, epochs=1, threads=1, subword="none", init=run.path, progress=False)
    assert np.array_equal(more.vectors, other.vectors)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{(i * j) % 7}\n" for i, a in enumerate(run.words) for j, b in enumerate(run.words[:i])))
    pytest.importorskip("pandas")
    assert len(w2vcl.evaluate(run, pairs, against=more)) and w2vcl.load(run).words == run.words
    assert w2vcl.command("neighbors", run, "cat", "--count", "1").startswith("cat\n")


def test_pickles(text, run, tmp_path):
    temporary = w2vcl.train(text, **SMALL)
    data, vectors, path = pickle.dumps(temporary), temporary.vectors, temporary.path
    del temporary
    assert not path.exists()
    back = pickle.loads(data)
    assert np.array_equal(back.vectors, vectors) and back.summary["dim"] == 8 and not back.interrupted
    place = back.path
    again = copy.deepcopy(back)
    del back
    assert not place.exists() and np.array_equal(again.vectors, vectors)
    # A run in a folder is its path, in another process, too.
    (tmp_path / "run.pkl").write_bytes(pickle.dumps(run))
    assert len((tmp_path / "run.pkl").read_bytes()) < 1000
    said = subprocess.run([sys.executable, "-c", f"import pickle; print(pickle.load(open({str(tmp_path / 'run.pkl')!r}, 'rb'))['cat'][0])"],
                          capture_output=True, text=True, check=True).stdout
    assert np.float32(said) == run["cat"][0]
    file = w2vcl.load(run.path / "vectors.bin")
    assert np.array_equal(pickle.loads(pickle.dumps(file)).vectors, run.vectors)


def stamp(run):
    return (run.path / "summary.json").stat().st_mtime_ns


@pytest.mark.parametrize("corpus", ["path", "sentences", "paths"])
def test_a_cell_that_is_run_again(text, tmp_path, corpus):
    file = tmp_path / "text.txt"
    file.write_text(text.read_text(encoding="utf-8"))
    given = {"path": lambda: file, "sentences": sentences, "paths": lambda: [file]}[corpus]

    def cell(exist="reuse", **changes):
        return w2vcl.train(given(), out=tmp_path / "run", exist=exist, **{**SMALL, **changes})

    first = stamp(cell())
    assert stamp(cell()) == first and stamp(cell(threads=1)) == first
    second = cell(dim=9)
    assert second.vectors.shape == (10, 9) and stamp(second) != first
    third = stamp(cell())
    assert stamp(cell(min_count=5)) == third  # the default
    last = stamp(cell("replace"))
    assert last != third and stamp(cell()) == last
    with pytest.raises(w2vcl.Error, match="replace it with force=True"):
        cell(None)
    with pytest.raises(ValueError, match='there are "replace" and "reuse"'):
        cell("always")
    file.write_text(text.read_text(encoding="utf-8") + "cat dog\n")
    assert corpus == "sentences" or cell().summary["tokens"] == 4802
    assert (stamp(cell()) == last) == (corpus == "sentences")


def test_a_stopped_cell_goes_on(tmp_path):
    """An exception in place of Ctrl-C stops it; the same cell goes on, and ends as one that was never stopped."""
    settings = {"dim": 32, "contexts": 4000, "model": "sg", "progress": False}

    def stop(progress):
        if progress.phase == "training":
            raise RuntimeError

    with pytest.raises(RuntimeError):
        w2vcl.train(sentences(), out=tmp_path / "run", on_progress=stop, **settings)
    run = w2vcl.load(tmp_path / "run")
    gc.collect()  # the exception's frames had the text
    if run.interrupted:
        with pytest.raises(FileNotFoundError, match=r"was in memory, and is gone: give it again, resume\(corpus="):
            run.resume()
    run = w2vcl.train(sentences(), out=tmp_path / "run", exist="reuse", **settings)
    assert not run.interrupted
    assert np.array_equal(run.vectors, w2vcl.train(sentences(), **settings).vectors)


def test_help_lists_every_mode_of_the_program():
    known = dict(line.split("\t") for line in w2vcl.command("__complete", "train", "--mode", "").splitlines() if "\t" in line)
    said = dict(re.findall(r"^- (\w+): (.*?)(?: \(the default\))?$", inspect.getdoc(w2vcl.train), re.MULTILINE))
    assert said == known and len(known) >= 10


# Runs a script with little training, where it does not say how much.
SHORT = """
import functools, runpy, sys, w2vcl
w2vcl.train = functools.partial(w2vcl.train, iterations=64)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.parametrize("name, wanted", [
    ("gensim_tutorial.py", "word #0/1750 is the\n.*'police'\t'people'"),
    ("gensim_fasttext_tutorial.py", r"Run\(.*\nTrue\nFalse\narray.*'correct': \["),  # nights has no row, and has a vector
])
def test_the_tutorials_of_gensim(tmp_path, name, wanted):
    """Five lines and the import are others here; it runs, and a type checker has no complaint."""
    script = pathlib.Path(__file__).with_name(name)
    assert script.read_text(encoding="utf-8").count("# changed") == 5
    said = subprocess.run([sys.executable, "-c", SHORT, script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search(wanted, said, re.DOTALL), said
    mypy = pytest.importorskip("mypy.api")
    report, errors, status = mypy.run(["--config-file=", "--ignore-missing-imports", "--cache-dir", os.environ.get("MYPY_CACHE_DIR", str(tmp_path)), str(script)])
    assert status == 0, report + errors


def test_what_is_not_installed_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"this needs pandas: pip install pandas, or 'w2vcl\[all\]'"):
        run.frame()
    with pytest.raises(ModuleNotFoundError, match=r"w2vcl\[all\]"):
        w2vcl.evaluate(run)


def test_messages_speak_of_keywords(text, tmp_path):
    for settings, message in [({"lr": -1}, "^lr=-1: "), ({"min_count": 0}, "^min_count=0: "), ({"tokenizer": "word"}, "^tokenizer word: "),
                              ({"epoch": "x"}, "epochs"), ({"min_count": 100000}, "lower min_count")]:
        with pytest.raises(w2vcl.Error, match=message) as caught:
            w2vcl.train(text, out=tmp_path / "out", **settings)
        assert "--" not in str(caught.value)
    assert w2vcl._program.pythonic("x; 'w2vcl resume a/b --lr 0.1' goes on, 'w2vcl plan --mode x' says") == \
        "x; resume(lr=0.1) goes on, 'w2vcl plan --mode x' says"
    assert w2vcl._program.pythonic("or give --dynamic-window=false or --lr 1e-3.") == "or give dynamic_window=False or lr=1e-3."
    assert w2vcl._program.pythonic("--corpus: /tmp/w2vcl-x1/corpus-0123456789abcdef/000001-b.txt: line 3") == "corpus b.txt: line 3"
