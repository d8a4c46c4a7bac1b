"""Texts in memory, or in several files, as a path that the program reads."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

from . import _files

#: A path of a file or folder; a list of paths of files; sentences, each a string or a list of tokens;
#: or, with ``field``, records or a table of pandas, polars, pyarrow or Hugging Face.
Corpus = Union[str, "os.PathLike[str]", Iterable[Any]]


def as_path(corpus: Corpus, settings: dict[str, Any], folder: Callable[[], pathlib.Path]) -> str:
    """The path of a text. Settings lose what the program need not do: a field, or a tokenizer.json.

    A list is one of paths if its first entry is a path object, or if any of its strings names a
    file. Then all must be there. Sentences become the lines of a file in a folder that ``folder``
    makes. The file's name has a checksum of them.
    """
    field, names = settings.get("field"), _names(settings)
    if names is not None:
        lines = _lines(_path(os.fspath(corpus))) if isinstance(corpus, (str, os.PathLike)) else corpus
        settings["field"] = None
        return _write(_named(_sentences(lines, field), names), folder())
    if isinstance(corpus, (str, os.PathLike)):
        return _path(os.fspath(corpus))
    if isinstance(corpus, bytes) or not hasattr(corpus, "__iter__") and not hasattr(corpus, "column_names"):
        raise TypeError(f"the corpus is {_kind(corpus)}: give the path of a file, or sentences")
    if isinstance(corpus, (list, tuple)) and _are_paths(corpus):
        return _link(corpus, folder())
    settings["field"] = None
    return _write(_sentences(corpus, field), folder())


def _names(settings: dict[str, Any]) -> dict[int, str] | None:
    """The tokens of tokenizer=, by their numbers, if it is a file tokenizer.json."""
    path: Any = settings.get("tokenizer")
    if not isinstance(path, os.PathLike) and not str(path).endswith(".json"):
        return None
    del settings["tokenizer"]
    content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    try:
        vocabulary = content["model"]["vocab"]
        numbers = {number: token for token, number in vocabulary.items()} if isinstance(vocabulary, dict) else {
            number: token for number, (token, _) in enumerate(vocabulary)}
        numbers.update((token["id"], token["content"]) for token in content.get("added_tokens") or ())
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{path}: this is no tokenizer.json of Hugging Face's tokenizers: it has no vocabulary") from None
    # A token of the text has no space in it.
    return {number: token if len(token.split()) == 1 and token.strip() == token else f"<{number}>" for number, token in numbers.items()}


def _lines(path: str) -> Iterable[list[str]]:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield line.split()


def _named(sentences: Iterable[Any], names: Mapping[int, str]) -> Iterable[list[str]]:
    """Sentences of tokens in place of those of numbers."""
    for number, sentence in enumerate(sentences, 1):
        sentence = sentence.as_py() if hasattr(sentence, "as_py") else sentence
        if isinstance(sentence, (str, Mapping)) or not isinstance(sentence, Iterable):
            raise TypeError(f"sentence {number} is {_kind(sentence)}: with a tokenizer.json, a sentence is a list of the numbers of tokens")
        try:
            yield [names[int(token)] for token in sentence]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"sentence {number}: {error.args[0]!s} is no number of a token in tokenizer.json; "
                             "it names the tokens of a text of numbers, and does not split a text") from None


def is_made(path: str) -> bool:
    """Whether a path is one that as_path made."""
    return pathlib.Path(path).parent.name.startswith(_files.PREFIX)


def _path(path: str) -> str:
    if "\n" in path or " " in path.strip() and len(path.split()) > 3 and not os.path.exists(path):
        raise ValueError(f"the corpus is a string of text, {path[:40]!r}…: a string is the path of a file; "
                         "give text as a list of sentences, for example text.splitlines()")
    path = os.path.expanduser(path)
    if any(mark in path for mark in "*?[") and not os.path.exists(path):
        raise FileNotFoundError(f"{path}: this is a pattern, not a path: give a list of paths, sorted(glob.glob({path!r}))")
    return path


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    if not all(isinstance(item, (str, os.PathLike)) for item in items):
        return False
    if any(isinstance(item, os.PathLike) for item in items):
        return True
    # Names of files are short; a long list of sentences is not worth a look at the disk for each.
    return any(len(item) < 1000 and "\n" not in item and "\0" not in item and os.path.isfile(item) for item in items[:1000])


def _link(paths: Iterable[str | os.PathLike[str]], folder: pathlib.Path) -> str:
    """Makes a folder of links, in order: the program reads a folder in the order of its names."""
    files = [pathlib.Path(path).resolve() for path in paths]
    sum_ = hashlib.blake2b(digest_size=8)
    for path in files:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such file; a list of paths must name files")
        sum_.update(f"{path}\0{path.stat().st_size}\0{path.stat().st_mtime_ns}\0".encode())
    links = folder / f"corpus-{sum_.hexdigest()}"
    links.mkdir()
    for number, path in enumerate(files):
        (links / f"{number:06d}-{path.name}").symlink_to(path)
    return str(links)


def _sentences(corpus: Iterable[Any], field: str | None) -> Iterable[Any]:
    """The sentences of a table or of records, if it is one."""
    names = getattr(corpus, "column_names", getattr(corpus, "columns", list(corpus) if isinstance(corpus, Mapping) else None))
    if isinstance(names, dict):  # of the parts of a data set
        raise TypeError(f"the corpus has the parts {_listed(names)}: choose one of them, corpus[{next(iter(names))!r}]")
    if names is not None:
        if field is None:
            raise TypeError(f"the corpus is a table with the columns {_listed(names)}: name that of the text with field=")
        if field not in list(names):
            raise ValueError(f"field={field!r}: the table has the columns {_listed(names)}")
        column: Iterable[Any] = corpus[field]  # type: ignore[index]
        return column
    return corpus if field is None else _fields(corpus, field)


def _fields(records: Iterable[Any], field: str) -> Iterable[Any]:
    for number, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            raise TypeError(f"record {number} is {_kind(record)}: field={field!r} is for dictionaries and tables")
        if field not in record:
            raise ValueError(f"record {number} has no {field!r}; it has {_listed(record)}")
        yield record[field]


def _write(sentences: Iterable[Any], folder: pathlib.Path) -> str:
    written, single, filled = 0, 0, 0
    sum_ = hashlib.blake2b(digest_size=8)
    path = folder / "corpus.txt"
    with open(path, "wb") as file:
        for number, sentence in enumerate(sentences, 1):
            line = _line(sentence, number)
            single += isinstance(sentence, str) and len(line.split(None, 1)) == 1
            try:
                data = (line + "\n").encode()
            except UnicodeEncodeError as error:
                raise ValueError(f"sentence {number} is no Unicode: {error}") from None
            file.write(data)
            sum_.update(data)
            written += 1
            filled += bool(line.strip())
    if not filled:
        raise ValueError(f"the corpus has {written:,} sentences without a word" if written else
                         "the corpus is empty: an iterator, such as a generator, gives its sentences only once")
    if written > 1 and single == written:
        raise ValueError("every sentence is one word: give a list of lists of tokens, or of whole sentences")
    return str(path.rename(folder / f"corpus-{sum_.hexdigest()}.txt"))


def _line(sentence: Any, number: int) -> str:
    """A sentence as a line."""
    if hasattr(sentence, "as_py"):  # a value of pyarrow
        sentence = sentence.as_py()
    if isinstance(sentence, str):
        return sentence.replace("\r", " ").replace("\n", " ")
    if isinstance(sentence, Mapping):
        raise TypeError(f"sentence {number} is a dictionary with {_listed(sentence)}: name the entry that is the text with field=")
    if isinstance(sentence, (bytes, os.PathLike)) or not isinstance(sentence, Iterable):
        raise TypeError(f"sentence {number} is {_kind(sentence)}: give a string or a list of tokens{_advice(sentence)}")
    tokens = list(sentence)
    try:
        line = " ".join(tokens)
    except TypeError:
        bad = next(token for token in tokens if not isinstance(token, str))
        hint = f", for example {str(bad)!r}; of a tokenizer's numbers, tokenizer.convert_ids_to_tokens(ids)" if hasattr(bad, "__index__") else ""
        hint = "; give the sentences of all documents in one list" if isinstance(bad, (list, tuple)) else hint
        raise TypeError(f"sentence {number} has the token {reprlib.repr(bad)}, which is {_kind(bad)}: a token is a string{hint}") from None
    if line.split() != tokens:
        bad = next(token for token in tokens if token.split() != [token])
        raise ValueError(f"sentence {number} has the token {bad!r}: a token has no space in it or around it and is not empty")
    return line


def _kind(value: Any) -> str:
    return "None" if value is None else "NaN" if _missing(value) else type(value).__name__


def _missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or pandas' NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or isinstance(value, float) and value != value


def _advice(value: Any) -> str:
    if _missing(value):
        return "; leave out missing ones first, with pandas by column.dropna()"
    if isinstance(value, bytes):
        return "; decode it, or open its file without 'b'"
    return ", or a list of paths" if isinstance(value, os.PathLike) else ""


def _listed(names: Iterable[Any]) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
