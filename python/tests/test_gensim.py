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
    with pytest.raises(AttributeError, match=r": train\(more\) adds the words of another text"):
        run.build_vocab(sentences(), update=True)
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


MORE = [[*sentence, "fish"] for sentence in sentences(200, seed=2)]


def test_a_model_is_trained_on_more_text(text, subword_run):
    """gensim's build_vocab(update=True) and train, in a new run: with the words of both, n-grams and settings of the first."""
    assert subword_run.corpus_count == 600 and subword_run.corpus_total_words == 4800 and subword_run.epochs >= 1
    before = subword_run.vectors.copy()
    more = subword_run.train(MORE, iterations=16, progress=False)
    assert set(more.words) == {*subword_run.words, "fish"} and more.source("greenish") == "ngrams"
    assert more.config["init"] == str(subword_run.path) and np.array_equal(subword_run.vectors, before)
    assert np.array_equal(more.vectors, w2vcl.train(MORE, init=subword_run, iterations=16, progress=False).vectors)
    assert np.array_equal(more.vectors, w2vcl.train(MORE, init=str(subword_run.path), iterations=16, progress=False).vectors)
    assert more.train(MORE, iterations=16, progress=False).summary["words_trained"] > more.summary["words_trained"]


@pytest.mark.parametrize("settings", [{"mode": "word2vec", "model": "cbow", "window": 3, "epochs": 2}, {"model": "sg", "contexts": 16},
                                      {"mode": "vanilla", "epochs": 2}, {"mode": "parw2v", "sample": 0.01, "batch": 32, "epochs": 1}])
def test_more_text_has_the_settings_of_the_model(text, settings):
    run = w2vcl.train(text, dim=8, threads=1, min_count=2, progress=False, **settings)
    more = run.train(MORE, progress=False)
    assert {k: v for k, v in run.config.items() if k not in ("corpus", "positives")} == {
        k: v for k, v in more.config.items() if k not in ("corpus", "positives", "init", "subword")}
    assert run.train(MORE, budget="3000words" if "epochs" in settings else "20pairs", progress=False).config["budget"]
    other = run.train(MORE, mode="cl", iterations=8, progress=False)
    assert other.config["mode"] == "cl" and other.config["min-count"] == 2
    if "model" in run.config:
        other = run.train(MORE, sg=1, progress=False)
        assert other.config["mode"] == run.config["mode"] and other.config["model"] == "sg"


def test_more_text_with_another_optimizer_or_without_ngrams(subword_run):
    more = subword_run.train(MORE, optimizer="sgd", iterations=8, progress=False)
    assert more.config["optimizer"] == "sgd" and more.config["lr"] != subword_run.config["lr"] and more.config["subword"] == "ngram"
    assert subword_run.train(MORE, subword="none", iterations=8, progress=False).config["subword"] == "none"


def test_more_text_for_files(run, subword_run, tmp_path):
    for name, source in [("v.bin", run), ("v.txt", run), ("v.npy", run), ("v.fasttext.bin", subword_run)]:
        source.save(tmp_path / name)
        file = w2vcl.load(tmp_path / name)
        more = file.train(MORE, iterations=16, progress=False)
        assert "fish" in more and more.vectors.shape == (11, 12), name
        assert more.config["subword"] == ("ngram" if "fasttext" in name else "none")
        assert np.array_equal(more.vectors, w2vcl.train(MORE, init=file, iterations=16, progress=False).vectors)


def test_a_run_keeps_the_model_of_its_start_alive(text):
    """A run that goes on from a temporary one can be resumed when nothing else holds that."""
    first = w2vcl.train(text, **SMALL)
    more = first.train(MORE, iterations=16, progress=False)
    path = first.path
    del first
    gc.collect()
    assert path.exists()
    del more
    gc.collect()
    assert not path.exists()


def test_save_keeps_the_whole_model(text, subword_run, tmp_path):
    for name in ("words.model", "words"):
        subword_run.save(tmp_path / name)
        back = w2vcl.load(tmp_path / name)
        assert isinstance(back, w2vcl.Run) and np.array_equal(back.vectors, subword_run.vectors) and back.corpus_count == 600
        assert np.array_equal(back["greenish"], subword_run["greenish"])
        assert "fish" in back.train(MORE, iterations=8, progress=False)
        with pytest.raises(FileExistsError, match="replace it with force=True"):
            subword_run.save(tmp_path / name)
    other = w2vcl.train(text, **SMALL)
    other.save(tmp_path / "words", force=True)
    assert w2vcl.load(tmp_path / "words").vector_size == 8
    with pytest.raises(FileExistsError, match="not of a run"):
        other.save(tmp_path, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words", "words.model"]


@pytest.mark.parametrize("settings", [{}, {"sg": 1, "contexts": 64}, {"mode": "word2vec"}, {"mode": "word2vec", "sg": 0, "subword": "ngram"}, {"subword": "none"}])
def test_epochs_keep_the_model(text, settings):
    """They say only how long it trains."""
    model = {name: w2vcl.plan(text, dim=8, **settings, **epochs)["settings"] for name, epochs in [("default", {}), ("epochs", {"epochs": 7})]}
    without = {"epochs", "iterations", "positives", "lr", "subword-lr"}
    assert {k: v for k, v in model["default"].items() if k not in without} == {k: v for k, v in model["epochs"].items() if k not in without}
    assert w2vcl.plan(text, dim=8, **settings, epochs=14)["iterations"] >= w2vcl.plan(text, dim=8, **settings, epochs=7)["iterations"]


def test_scores_during_training(text, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{len(a) * len(b)}\n" for a in ("cat", "dog", "mouse") for b in ("red", "green")))
    seen = []
    run = w2vcl.train(text, **SMALL, scores=4, data=pairs, on_progress=lambda p: p.scores and seen.append((p.phase, p.percent, p.scores)))
    assert [(phase, percent) for phase, percent, _ in seen] == [("scores", 25), ("scores", 50), ("scores", 75), ("scores", 100)]
    assert np.array_equal(run.vectors, w2vcl.train(text, **SMALL).vectors)
    pytest.importorskip("pandas")
    scores = run.metrics["scores.pairs"].dropna()
    assert list(scores.index) == [3, 7, 11, 15]
    assert np.allclose(scores, [found["pairs"] for _, _, found in seen], atol=6e-4)
    end = w2vcl.evaluate(run, pairs, all=True)
    assert scores.iloc[-1] == end[end["metric"] == "spearman"]["score"].iloc[0]
    assert stamp(w2vcl.train(text, **SMALL, scores=2, out=tmp_path / "run")) == stamp(w2vcl.train(text, **SMALL, scores=2, out=tmp_path / "run", exist="reuse"))


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
    """Few lines and the import are others here; it runs, and a type checker has no complaint."""
    script = pathlib.Path(__file__).with_name(name)
    assert script.read_text(encoding="utf-8").count("# changed") <= 6
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
                              ({"epoch": "x"}, "epochs"), ({"total_examples": 3}, "leave it out: sentences are counted"), ({"min_count": 100000}, "lower min_count")]:
        with pytest.raises(w2vcl.Error, match=message) as caught:
            w2vcl.train(text, out=tmp_path / "out", **settings)
        assert "--" not in str(caught.value)
    assert w2vcl._program.pythonic("x; 'w2vcl resume a/b --lr 0.1' goes on, 'w2vcl plan --mode x' says") == \
        "x; resume(lr=0.1) goes on, 'w2vcl plan --mode x' says"
    assert w2vcl._program.pythonic("or give --dynamic-window=false or --lr 1e-3.") == "or give dynamic_window=False or lr=1e-3."
    assert w2vcl._program.pythonic("--corpus: /tmp/w2vcl-x1/corpus-0123456789abcdef/000001-b.txt: line 3") == "corpus b.txt: line 3"
