"""Vectors of words: as an array, by word, and for gensim and pandas."""

from __future__ import annotations

import json
import mmap
import os
import pathlib
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ._program import arguments, command

if TYPE_CHECKING:
    import gensim.models
    import pandas as pd

Array = NDArray[np.float32]

# A command line has room for two million bytes, in any case for this many.
_ARGUMENT_BYTES = 1_000_000


class Vectors:
    """The vectors of a file, or of a run. Read when they are first used."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)

    @cached_property
    def _table(self) -> tuple[list[str], Array]:
        return read(self.path)

    @property
    def words(self) -> list[str]:
        """The words, in the order of the rows."""
        return self._table[0]

    @property
    def vectors(self) -> Array:
        """The vectors: float32 of shape (words, dim).

        Files .npy and .safetensors are mapped into memory, not copied, and are read-only. A run
        folder's vectors.bin has the words between the rows, so it is copied once.
        """
        return self._table[1]

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _lengths(self) -> Array:
        lengths = np.linalg.norm(self.vectors, axis=1)
        return np.where(lengths > 0, lengths, 1).astype(np.float32)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> Array:
        """The row of a word of the vocabulary; KeyError for others."""
        row = self.index.get(word)
        if row is None:
            raise KeyError(f"{word}: not in the vocabulary; vector() composes it, if the run has subword")
        vector: Array = self.vectors[row]
        return vector

    @overload
    def vector(self, word: str) -> Array: ...
    @overload
    def vector(self, word: Iterable[str]) -> Array: ...
    def vector(self, word: str | Iterable[str]) -> Array:
        """The vector of a word, seen or not: (dim,); of several words: (words, dim).

        Unseen words are composed from their spelling by the program, all in one call. Without
        ``subword`` in the run they are an Error.
        """
        words = [word] if isinstance(word, str) else list(word)
        unseen = list(dict.fromkeys(w for w in words if w not in self.index))
        composed: dict[str, Array] = {}
        for part in _parts(unseen):
            answer = json.loads(command("vector", self.path, "--json", "--", *part))
            composed.update((given, np.array(item["vector"], np.float32)) for given, item in zip(part, answer, strict=True))
        out = np.empty((len(words), self.vectors.shape[1]), np.float32)
        for i, w in enumerate(words):
            out[i] = composed[w] if w in composed else self.vectors[self.index[w]]
        return out[0] if isinstance(word, str) else out

    def neighbors(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words with the largest cosines to a word, seen or not, and the cosines."""
        vector = self.vector(word)
        cosines = self.vectors @ vector / (self._lengths * (np.linalg.norm(vector) or 1))
        if word in self.index:
            cosines[self.index[word]] = -np.inf
        count = max(0, min(count, len(cosines) - (word in self.index)))
        nearest = np.argpartition(-cosines, min(count, len(cosines) - 1))[:count]
        nearest = nearest[np.lexsort((nearest, -cosines[nearest]))]  # equal cosines in the order of the rows
        return [(self.words[row], float(cosines[row])) for row in nearest]

    @cached_property
    def keyed_vectors(self) -> gensim.models.KeyedVectors:
        """The same vectors as gensim's KeyedVectors, which share this array. Needs gensim."""
        from gensim.models import KeyedVectors

        keyed = KeyedVectors(self.vectors.shape[1])
        keyed.vectors = self.vectors
        keyed.index_to_key = self.words
        keyed.key_to_index = self.index
        counts = self.counts
        if counts is not None:
            keyed.expandos["count"] = counts
        return keyed

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """How often each word occurs in the text, where that is known."""
        return None

    def frame(self, unit: bool = False) -> pd.DataFrame:
        """The vectors as a table of pandas, a row for each word; of length 1, if unit."""
        import pandas

        return pandas.DataFrame(self.vectors / self._lengths[:, None] if unit else self.vectors, index=self.words)

    def save(self, path: str | os.PathLike[str], words: Iterable[str] | None = None, **settings: Any) -> None:
        """Writes the vectors in the format of the path's extension, see ``w2vcl convert --help``.

        ``words`` writes those of other words in place of the vocabulary.
        """
        if words is None:
            command("convert", self.path, path, *arguments(settings))
            return
        with tempfile.TemporaryDirectory(prefix="w2vcl-") as folder:
            wanted = pathlib.Path(folder, "words.txt")
            wanted.write_text("".join(word + "\n" for word in words), encoding="utf-8")
            command("convert", self.path, path, *arguments({"words": wanted, **settings}))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def _parts(words: Sequence[str]) -> Iterable[list[str]]:
    part: list[str] = []
    size = 0
    for word in words:
        bytes_ = len(word.encode()) + 9  # its end, and a pointer to it
        if part and size + bytes_ > _ARGUMENT_BYTES:
            yield part
            part, size = [], 0
        part.append(word)
        size += bytes_
    if part:
        yield part


def read(path: pathlib.Path) -> tuple[list[str], Array]:
    """Words and vectors of a file of any format; of a run, those that the program finds there."""
    if path.suffix == ".npy":
        return _read_npy(path)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    folder = tempfile.mkdtemp(prefix="w2vcl-")
    copy = pathlib.Path(folder, "v.npy")
    try:
        command("convert", path, copy)
        words, vectors = _read_npy(copy)
    finally:
        _remove(folder)  # what is mapped stays until nobody uses it
    return words, vectors


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _read_npy(path: pathlib.Path) -> tuple[list[str], Array]:
    words = path.with_name(path.name.removesuffix(".npy") + ".words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    vectors = np.load(path, mmap_mode="r")
    if vectors.dtype != np.float32 or vectors.shape[:1] != (len(words),):
        raise ValueError(f"{path}: {vectors.dtype} of shape {vectors.shape} beside {len(words)} words; wanted is float32 of (words, dim)")
    return words, vectors


def _read_safetensors(path: pathlib.Path) -> tuple[list[str], Array]:
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        missing = {"vectors", "words"} - set(header)
        if missing:
            raise ValueError(f"{path}: there is no tensor {' and '.join(sorted(missing))}")
        begin, end = header["words"]["data_offsets"]
        file.seek(8 + size + begin)
        words = file.read(end - begin).decode().split("\n")
    about = header["vectors"]
    if about["dtype"] != "F32":
        raise ValueError(f"{path}: vectors are {about['dtype']}; wanted is F32")
    return words, np.memmap(path, "<f4", "r", 8 + size + about["data_offsets"][0], tuple(about["shape"]))


def read_binary(path: pathlib.Path) -> tuple[list[str], Array]:
    """Words and vectors of a file in word2vec's binary format, as w2vcl writes it."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(b"\n") + 1
        rows, dim = map(int, data[:at].split())
        words: list[str] = []
        vectors = np.empty((rows, dim), "<f4")
        target, size = vectors.data.cast("B"), 4 * dim
        for row in range(rows):
            space = data.find(b" ", at)
            words.append(data[at:space].decode())
            target[row * size:(row + 1) * size] = data[space + 1:space + 1 + size]
            at = space + 1 + size + 1  # a line feed ends the row
    return words, vectors


def temporary(owner: object) -> pathlib.Path:
    """A folder that is removed when its owner is gone, at the latest at the end of Python."""
    folder = tempfile.mkdtemp(prefix="w2vcl-")
    weakref.finalize(owner, _remove, folder)
    return pathlib.Path(folder)
