"""What a run, or a file of vectors, gives back."""

import json

import numpy as np
import pytest

import w2vcl
from conftest import TOPICS

gensim = pytest.importorskip("gensim")
pandas = pytest.importorskip("pandas")


def test_words_and_rows(run):
    assert sorted(run.words) == sorted(TOPICS[0] + TOPICS[1])
    assert len(run) == 10 and "cat" in run and "zebra" not in run
    assert run.vectors.shape == (10, 12) and run.vectors.dtype == np.float32
    answer = json.loads(w2vcl.command("vector", run.path, "--json", *run.words))
    assert [a["word"] for a in answer] == run.words
    assert np.array_equal(np.array([a["vector"] for a in answer], np.float32), run.vectors)
    assert np.array_equal(run["cat"], run.vectors[run.words.index("cat")])
    assert np.shares_memory(run["cat"], run.vectors)
    with pytest.raises(KeyError, match="zebra"):
        run["zebra"]
    for ask in (run.vector, run.neighbors, run.most_similar, lambda word: run.similarity("cat", word),
                lambda word: run.doesnt_match(["cat", word]), lambda word: run[["cat", word]]):
        with pytest.raises(w2vcl.UnseenWord, match="^'zebra' is not in the vocabulary .10 words.$") as caught:
            ask("zebra")
        assert isinstance(caught.value, KeyError) and isinstance(caught.value, w2vcl.Error)
    with pytest.raises(w2vcl.UnseenWord, match="did you mean 'cat'"):
        run["Cat"]


def test_counts_config_summary_metrics(run, text):
    tokens = text.read_text(encoding="utf-8").split()
    assert dict(zip(run.words, run.counts)) == {word: tokens.count(word) for word in run.words}
    assert run.config["dim"] == 12 and run.summary["dim"] == 12 and run.interrupted is False
    metrics = run.metrics
    assert list(metrics) == ["unit", "seconds", "loss", "lr", "words_per_second", "pairs_per_second", "share"]
    assert metrics["unit"].iloc[-1] == 64 and metrics["loss"].iloc[-1] == run.summary["loss"]


def test_neighbors_are_those_of_the_program(run, subword_run):
    for trained, words in ((run, ["cat", "red"]), (subword_run, ["cat", "redcat", "-horse"])):
        answer = json.loads(w2vcl.command("neighbors", trained.path, "--json", "--count", 4, "--", *words))
        for word, item in zip(words, answer, strict=True):
            near = trained.neighbors(word, 4)
            assert [w for w, _ in near] == [n["word"] for n in item["neighbors"]]
            assert np.allclose([c for _, c in near], [n["cosine"] for n in item["neighbors"]], atol=1e-6)
    assert len(run.neighbors("cat", 100)) == 9 and run.neighbors("cat", 0) == []
    assert {w for w, _ in run.neighbors("cat", 4)} == set(TOPICS[0]) - {"cat"}


def test_many_unseen_words_in_one_call(subword_run, monkeypatch):
    calls = []
    command = w2vcl._vectors.command
    monkeypatch.setattr(w2vcl._vectors, "command", lambda *args: calls.append(args) or command(*args))
    unseen = [f"cat{number}" for number in range(3000)] + ["--cat", "caïn", "cat7"]
    found = subword_run.vector(["dog", *unseen])
    assert len(calls) == 1 and found.shape == (len(unseen) + 1, 12)
    assert np.array_equal(found[0], subword_run["dog"]) and np.array_equal(found[-1], found[8])
    assert np.array_equal(subword_run.vector("caïn"), found[-2])
    monkeypatch.setattr(w2vcl._vectors, "_ARGUMENT_BYTES", 20000)
    assert np.array_equal(subword_run.vector(["dog", *unseen]), found) and len(calls) > 3


@pytest.mark.parametrize("network", ["cnn", "recurrent"])
def test_sources_of_unseen_words(text, subword_run, tmp_path, network):
    # At most 5 characters are read, so "greenish" is spelt as "green" is, whose vector training composed: spelling alone, without contexts.
    run = w2vcl.train(text, dim=12, iterations=64, model="sg", subword=network, compose="spelling", context_weight=0, max_chars=5, out=tmp_path / "run")
    again = w2vcl.load(tmp_path / "run")
    assert np.allclose(again.vector("greenish"), run.vectors[run.index["green"]], rtol=0, atol=1e-6)
    assert not np.allclose(again.vector("grey"), again.vector("greenish"), atol=1e-3)
    both = w2vcl.train(text, dim=12, iterations=64, subword="none", unseen="regress", out=tmp_path / "fit")
    assert [run.source("greenish") for run in (again, subword_run, both)] == [network, "ngrams", "fit"]
    for run in (again, subword_run, both):
        assert run.source("green") is None
        for ask in (run.vector, run.neighbors, run.source, lambda word, run=run: run.similarity("cat", word)):
            with pytest.raises(w2vcl.UnseenWord, match="^\"zzz\" is not in the vocabulary .10 words., and has no vector from .*: no part of it is known$"):
                ask("zzz")
        assert len(run.vector(["greenish", "cat"])) == 2


def test_keyed_vectors_share_the_array(run):
    keyed = run.keyed_vectors
    assert keyed is run.keyed_vectors and keyed.vectors is run.vectors
    assert keyed.index_to_key == run.words and np.array_equal(keyed["cat"], run["cat"])
    assert keyed.get_vecattr("cat", "count") == run.counts[run.index["cat"]]
    near = run.neighbors("cat", 4)
    theirs = keyed.most_similar("cat", topn=4)
    assert [w for w, _ in theirs] == [w for w, _ in near]
    assert np.allclose([c for _, c in theirs], [c for _, c in near], atol=1e-6)
    loaded = gensim.models.KeyedVectors.load_word2vec_format(str(run.path / "vectors.bin"), binary=True)
    assert np.array_equal(loaded.vectors, keyed.vectors)


@pytest.mark.parametrize("name", ["v.npy", "v.safetensors", "v.bin", "v.txt", "v.glove.txt", "v.tsv"])
def test_files_of_all_formats(run, tmp_path, name):
    run.save(tmp_path / name)
    file = w2vcl.load(tmp_path / name)
    assert type(file) is w2vcl.Vectors and file.words == run.words
    assert np.array_equal(file.vectors, run.vectors)
    assert file.neighbors("cat") == run.neighbors("cat") and file.counts is None
    if name in ("v.npy", "v.safetensors"):  # mapped, not copied
        assert isinstance(file.vectors, np.memmap) and not file.vectors.flags.writeable
    keyed = file.keyed_vectors
    assert keyed.vectors is file.vectors and keyed.most_similar("cat", topn=1)[0][0] == file.neighbors("cat")[0][0]


def test_save_other_words(subword_run, tmp_path):
    subword_run.save(tmp_path / "some.npy", words=["cat", "unseen"])
    file = w2vcl.load(tmp_path / "some.npy")
    assert file.words == ["cat", "unseen"] and np.array_equal(file.vectors, subword_run.vector(["cat", "unseen"]))
    with pytest.raises(w2vcl.Error, match="replace it with force=True"):
        subword_run.save(tmp_path / "some.npy")
    subword_run.save(tmp_path / "some.npy", force=True)


def test_frame(run):
    table = run.frame()
    assert table.shape == (10, 12) and np.array_equal(table.loc["cat"], run["cat"])
    assert np.allclose(np.linalg.norm(run.frame(unit=True), axis=1), 1)


def test_evaluate(run, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{(a in TOPICS[0]) == (b in TOPICS[0]):d}\n" for a in run.words[:6] for b in run.words[6:]))
    scores = w2vcl.evaluate(run, pairs)
    score = scores[scores["metric"] == "spearman"].iloc[0]
    assert score["found"] == score["total"] == 24 and score["score"] > 0.7
    assert w2vcl.evaluate(run.path, pairs).equals(scores)


def test_a_run_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such run or file of vectors"):
        w2vcl.load(tmp_path / "nothing")


def test_compare(text, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("cat\tdog\t1\ncat\tred\t0\nred\tblue\t1\nwhite\tbird\t0\nmouse\thorse\t1\n")
    found = w2vcl.compare(text, ["cl", "pword2vec"], data=pairs, dim=8, model="sg", contexts=16, points=2,
                          budget="iterations=16", variants={"slow": {"mode": "cl", "lr": 0.001}})
    assert [v["name"] for v in found.report["variants"]] == ["cl", "pword2vec", "slow"]
    assert set(found.scores["metric"]) >= {"spearman"} and len(found.curve) and len(found.bands)
    assert found.html.exists() and len(found.runs) == 3
    assert all(run.vectors.shape == (10, 8) for run in found.runs.values())
    assert found.runs["slow-seed1"].config["lr"] == 0.001
    found = w2vcl.compare(text, out=tmp_path / "variants", data=pairs, dim=8, points=1,
                          variants={"cl": {"model": "sg", "contexts": 8}, "k": {"mode": "pword2vec", "epochs": 1, "negative": [2, 3]}})
    assert [v["name"] for v in found.report["variants"]] == ["cl", "k negative=2", "k negative=3"]
    assert found.runs["k-negative3-seed1"].config["negative"] == 3
