"""Texts that would fool a trainer: each is trained as it is meant, or refused with the reason."""

import io
import json
import pathlib
import warnings

import numpy as np
import pytest

import w2vcl
from conftest import sentences

pandas = pytest.importorskip("pandas")
SMALL = {"dim": 8, "iterations": 16, "progress": False}
LINES = [" ".join(sentence) for sentence in sentences()]


@pytest.fixture(scope="module")
def want():
    return w2vcl.train(LINES, **SMALL)


def same(run, want):
    return run.words == want.words and np.array_equal(run.vectors, want.vectors)


def test_columns_of_tables_and_records(want):
    table = pandas.DataFrame({"n": range(len(LINES)), "body": LINES})
    corpora = [table, [{"body": line} for line in LINES], ({"n": 1, "body": line.split()} for line in LINES), {"n": [], "body": LINES}]
    for corpus in corpora:
        assert same(w2vcl.train(corpus, field="body", **SMALL), want)
    assert same(w2vcl.train(table["body"], **SMALL), want)
    assert same(w2vcl.train(sentences=table["body"].str.split(), **SMALL), want)
    assert same(w2vcl.train(io.StringIO("\n".join(LINES)), **SMALL), want)


def test_tables_of_pyarrow(want):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"body": LINES})
    assert same(w2vcl.train(table, field="body", **SMALL), want)
    assert same(w2vcl.train(table["body"], **SMALL), want)
    with pytest.raises(TypeError, match="sentence 2 is None"):
        w2vcl.train(pyarrow.array(["a b", None]), **SMALL)


def test_files_that_pandas_writes(tmp_path, want):
    lines = [line.replace(" ", " , ", 1) for line in LINES]  # cells in quotation marks
    wanted = w2vcl.train(lines, **SMALL)
    table = pandas.DataFrame({"n": range(len(LINES)), "body": lines})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_csv(tmp_path / "t.csv.gz")
    table.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.jsonl"):
        assert same(w2vcl.train(tmp_path / name, field="body", **SMALL), wanted), name
        with pytest.raises(w2vcl.Error, match="name the field of the text with field") as caught:
            w2vcl.train(tmp_path / name, **SMALL)
        assert "body" in str(caught.value)
    table.to_json(tmp_path / "t.json", orient="records")
    with pytest.raises(w2vcl.Error, match="this is a JSON array, not text: write it as JSON lines"):
        w2vcl.train(tmp_path / "t.json", **SMALL)


def test_parquet_that_pandas_writes(tmp_path, want):
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"n": range(len(LINES)), "body": LINES}).to_parquet(tmp_path / "t.parquet")
    assert same(w2vcl.train(tmp_path / "t.parquet", field="body", **SMALL), want)


TABLE = pandas.DataFrame({"id": [1, 2, 3], "body": ["a b", None, "c d"]})


@pytest.mark.parametrize("corpus, settings, error, message", [
    (TABLE, {}, TypeError, "a table with the columns id, body: name that of the text with field="),
    (TABLE, {"field": "text"}, ValueError, "field='text': the table has the columns id, body"),
    (TABLE, {"field": "body"}, TypeError, r"sentence 2 is (None|NaN): .*column.dropna\(\)"),
    (TABLE, {"field": "id"}, TypeError, "sentence 1 is int"),
    (TABLE["body"], {}, TypeError, "sentence 2 is (None|NaN)"),
    (pandas.Series(["a b", float("nan")], dtype=object), {}, TypeError, "sentence 2 is NaN"),
    (pandas.Series(["a b", "c d", pandas.NA], dtype="string"), {}, TypeError, "sentence 3 is NaN"),
    ([["a", None]], {}, TypeError, "sentence 1 has the token None, which is None"),
    ([["a"], [1, 2]], {}, TypeError, "sentence 2 has the token 1, which is int: a token is a string, for example '1'; of a tokenizer's numbers, tokenizer.convert_ids"),
    (np.arange(6).reshape(2, 3), {}, TypeError, "sentence 1 has the token .*0.*: a token is a string, for example '0'"),
    ([1, 2, 3], {}, TypeError, "sentence 1 is int: give a string or a list of tokens"),
    ([{"text": "a b"}], {}, TypeError, "sentence 1 is a dictionary with text: name the entry that is the text with field="),
    ([{"text": "a b"}, {"body": "a"}], {"field": "text"}, ValueError, "record 2 has no 'text'; it has body"),
    (["a b"], {"field": "text"}, TypeError, "record 1 is str: field='text' is for dictionaries and tables"),
    ("the cat sat on the mat and the dog sat too", {}, ValueError, "is a string of text, .*: a string is the path of a file"),
    ("the cat\nsat", {}, ValueError, "a string of text"),
    (b"the cat sat", {}, TypeError, "the corpus is bytes"),
    ((p for p in [pathlib.Path("a.txt")]), {}, TypeError, "sentence 1 is PosixPath: give .* or a list of paths"),
    (["a \ud800"], {}, ValueError, "sentence 1 is no Unicode"),
    ([], {}, ValueError, "the corpus is empty: an iterator, such as a generator, gives its sentences only once"),
    ([["a b".split()] * 9], {}, TypeError, r"the token \['a', 'b'\], which is list: .*; give the sentences of all documents in one list"),
    (io.BytesIO(b"a b"), {}, TypeError, "sentence 1 is bytes: .*; decode it, or open its file without 'b'"),
    (5, {}, TypeError, "the corpus is int"),
])
def test_refused(corpus, settings, error, message):
    with pytest.raises(error, match=message):
        w2vcl.train(corpus, **settings, **SMALL)


def test_parts_of_a_hugging_face_data_set(want):
    """Without the library: its classes have these names and columns."""

    class Dataset(list):
        column_names = ["n", "text"]

        def __getitem__(self, name):
            return [row[name] for row in self]

    class DatasetDict(dict):
        @property
        def column_names(self):
            return {name: part.column_names for name, part in self.items()}

    rows = Dataset({"n": i, "text": line} for i, line in enumerate(LINES))
    assert same(w2vcl.train(rows, field="text", **SMALL), want)
    with pytest.raises(TypeError, match="columns n, text: name that of the text"):
        w2vcl.train(rows, **SMALL)
    with pytest.raises(TypeError, match=r"the corpus has the parts train, test: choose one of them, corpus\['train'\]"):
        w2vcl.train(DatasetDict(train=rows, test=rows), field="text", **SMALL)


@pytest.mark.parametrize("progress", [None, True, False])
def test_warnings_are_warnings(tmp_path, progress, capfd):
    raw = tmp_path / "raw.txt"
    raw.write_bytes(b"The Cat sat, on the Mat. \xff Yes! No. Well, well.\n" * 50)
    with pytest.warns(UserWarning) as caught:
        w2vcl.train(raw, dim=8, iterations=16, progress=progress)
    said = [str(w.message) for w in caught]
    assert len(said) == 2 and said[0].startswith("the text has 50 bytes of invalid UTF-8")
    assert said[1].endswith("this looks like raw text. Add tokenizer=\"words\" lowercase=True, unless you want this")
    assert {w.filename for w in caught} == {__file__}
    assert "Warning" not in capfd.readouterr().err  # once is enough
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="invalid UTF-8"):
            w2vcl.train(raw, dim=8, iterations=16, progress=progress)


WORDS = sorted({word for line in LINES for word in line.split()})


@pytest.mark.parametrize("model", [
    {"type": "WordLevel", "vocab": {word: number for number, word in enumerate(WORDS[1:], 1)}},
    {"type": "Unigram", "vocab": [["other", 0.0], *([word, -1.5] for word in WORDS[1:])]},
])
def test_numbers_of_tokens(tmp_path, want, model):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"added_tokens": [{"id": 0, "content": WORDS[0]}, {"id": 99999, "content": "two words"}], "model": model}))
    numbers = [[WORDS.index(word) for word in line.split()] for line in LINES]
    assert same(w2vcl.train(numbers, tokenizer=path, **SMALL), want)
    assert same(w2vcl.train([{"input_ids": np.array(each)} for each in numbers], field="input_ids", tokenizer=str(path), **SMALL), want)
    text = tmp_path / "numbers.txt"
    text.write_text("".join(" ".join(map(str, each)) + "\n" for each in numbers))
    run = w2vcl.train(text, tokenizer=path, **SMALL)
    assert same(run, want) and run.config["tokenizer"] == "whitespace"
    assert w2vcl.plan(numbers, tokenizer=path, dim=8)["vocab"] == len(want.words)
    assert "<99999>" in w2vcl.train(numbers + [[99999, 1]] * 5, tokenizer=path, **SMALL)
    for corpus, message in [([[1], [12345678]], "sentence 2: 12345678 is no number of a token"), (["the cat"], "sentence 1 is str: with a tokenizer.json")]:
        with pytest.raises((TypeError, ValueError), match=message):
            w2vcl.train(corpus, tokenizer=path, **SMALL)
    text.write_text("the cat\n")
    with pytest.raises(ValueError, match="the' is no number of a token in tokenizer.json; .* does not split a text"):
        w2vcl.train(text, tokenizer=path, **SMALL)
    path.write_text("{}")
    with pytest.raises(ValueError, match="this is no tokenizer.json"):
        w2vcl.train(numbers, tokenizer=path, **SMALL)
