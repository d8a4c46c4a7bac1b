"""Texts in memory, or in several files, as a path that the program reads."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

#: A path of a file or folder; a list of paths of files; or sentences, each a string or a list of tokens.
Corpus: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Iterable[str]]


def as_path(corpus: Corpus, folder: Callable[[], pathlib.Path]) -> str:
    """The path of a text. ``folder`` makes a folder for it, where it needs one.

    A list is one of paths if its first entry is a path object, or if any of its strings names
    a file. Then all must be there. Sentences become lines.
    """
    if isinstance(corpus, (str, os.PathLike)):
        return os.fspath(corpus)
    if isinstance(corpus, (list, tuple)) and _are_paths(corpus):
        return _link(corpus, folder())
    path = folder() / "corpus.txt"
    _write(corpus, path)
    return str(path)


def _are_paths(items: list[Any] | tuple[Any, ...]) -> bool:
    if not all(isinstance(item, (str, os.PathLike)) for item in items):
        return False
    if any(isinstance(item, os.PathLike) for item in items):
        return True
    # Names of files are short; a long list of sentences is not worth a look at the disk for each.
    return any(len(item) < 1000 and "\n" not in item and "\0" not in item and os.path.isfile(item) for item in items[:1000])


def _link(paths: Iterable[str | os.PathLike[str]], folder: pathlib.Path) -> str:
    """Makes a folder of links, in order: the program reads a folder in the order of its names."""
    links = folder / "corpus"
    links.mkdir()
    for number, path in enumerate(map(pathlib.Path, paths)):
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such file; a list of paths must name files")
        (links / f"{number:06d}-{path.name}").symlink_to(path.resolve())
    return str(links)


def _write(sentences: Iterable[Any], path: pathlib.Path) -> None:
    written, single = 0, 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for number, sentence in enumerate(sentences, 1):
            if isinstance(sentence, str):
                line = sentence.replace("\r", " ").replace("\n", " ")
                single += len(line.split(None, 1)) == 1
            else:
                line = _join(sentence, number)
            file.write(line + "\n")
            written += 1
    if written > 1 and single == written:
        raise ValueError("every sentence is one word: give a list of lists of tokens, or of whole sentences")


def _join(tokens: Any, number: int) -> str:
    if isinstance(tokens, (bytes, os.PathLike)):
        raise TypeError(f"sentence {number} is {type(tokens).__name__}: give a string or a list of tokens")
    tokens = list(tokens)
    line = " ".join(tokens)
    if len(line.split()) != len(tokens):
        bad = next(token for token in tokens if len(token.split()) != 1)
        raise ValueError(f"sentence {number} has the token {bad!r}: a token has no space in it and is not empty")
    return line
