"""Vectors of words: as an array, by word, and for gensim and pandas."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _files
from ._files import Array
from ._optional import needed
from ._program import Error, arguments, command

if TYPE_CHECKING:
    import gensim.models
    import pandas as pd
    from typing_extensions import Self, Unpack

    from ._keywords import Conversion

# A command line has room for two million bytes, in any case for this many.
_ARGUMENT_BYTES = 1_000_000

#: What a question may have in place of a word: its vector, or either with a weight.
Term = Union[str, ArrayLike, "tuple[str | ArrayLike, float]"]


class UnseenWord(Error, KeyError):
    """A word that is not in the vocabulary, and that has no vector from its spelling, or no known part to compose it of."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 1)

    __str__ = Exception.__str__  # a KeyError would show its message in quotation marks


def _of_gensim(name: str) -> Callable[..., Any]:
    """A method of gensim's KeyedVectors."""

    def method(self: Table, *args: Any, **settings: Any) -> Any:
        return getattr(self.keyed_vectors, name)(*args, **settings)

    method.__name__ = name
    method.__doc__ = f"``{name}`` of gensim's KeyedVectors. Needs gensim."
    return method


class Table:
    """Words and their vectors. Read when they are first used.

    Questions have the names of gensim's KeyedVectors: ``most_similar``, ``similarity``,
    ``doesnt_match``, ``index_to_key``. ``keyed_vectors`` is one, for everything else that gensim
    has.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path).expanduser()

    def __fspath__(self) -> str:
        return str(self.path)

    @cached_property
    def _table(self) -> tuple[list[str], Array]:
        return _files.read(self.path)

    @property
    def words(self) -> list[str]:
        """The words, in the order of the rows: by frequency, in a run."""
        return self._table[0]

    @property
    def vectors(self) -> Array:
        """The vectors: float32 of shape (words, dim).

        Files .npy and .safetensors are mapped into memory, not copied, and are read-only. A run
        folder's vectors.bin has the words between the rows, so it is copied once.
        """
        return self._table[1]

    @property
    def wv(self) -> Self:
        """The vectors themselves: gensim's models keep them there."""
        return self

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def index_to_key(self) -> list[str]:
        """``words``, by gensim's name."""
        return self.words

    @property
    def key_to_index(self) -> dict[str, int]:
        """``index``, by gensim's name."""
        return self.index

    @property
    def vector_size(self) -> int:
        """The dimensions of a vector, by gensim's name."""
        return int(self.vectors.shape[1])

    @cached_property
    def _lengths(self) -> Array:
        lengths = np.linalg.norm(self.vectors, axis=1)
        return np.where(lengths > 0, lengths, 1).astype(np.float32)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str | int | Sequence[str]) -> Array:
        """The vector of a word, as ``vector`` gives it; a number is that of a row."""
        row = word if isinstance(word, (int, np.integer)) else self.index.get(word) if isinstance(word, str) else None
        if row is None:
            return self.vector(word)  # type: ignore[arg-type]
        vector: Array = self.vectors[row]
        return vector

    @overload
    def vector(self, word: str) -> Array: ...
    @overload
    def vector(self, word: Iterable[str]) -> Array: ...
    def vector(self, word: str | Iterable[str]) -> Array:
        """The vector of a word, seen or not: (dim,); of several words: (words, dim).

        Unseen words are composed from their spelling by the program, all in one call. UnseenWord,
        which is a KeyError, says that these vectors cannot do that, or that no part of a word is known.
        """
        words = [word] if isinstance(word, str) else list(word)
        composed = self._compose([w for w in dict.fromkeys(words) if w not in self.index])
        out = np.empty((len(words), self.vectors.shape[1]), np.float32)
        for i, w in enumerate(words):
            out[i] = composed[w]["vector"] if w in composed else self.vectors[self.index[w]]
        return out[0] if isinstance(word, str) else out

    def source(self, word: str) -> str | None:
        """What composes the vector of an unseen word: "ngrams", "fit", or the network ("cnn"); None for a word of the vocabulary."""
        return None if word in self.index else str(self._compose([word])[word]["source"])

    @cached_property
    def _composes(self) -> bool:
        """Whether unseen words may have vectors: the program knows."""
        return True

    def _compose(self, words: list[str]) -> dict[str, Any]:
        """What the program says of unseen words: their vectors, and what composes them."""
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"{word!r} is {type(word).__name__}: a word is a string")
        if words and not self._composes:
            raise self._unseen(words)
        composed: dict[str, Any] = {}
        for part in _parts(words):
            try:
                answer = json.loads(command("vector", self.path, "--json", "--", *part))
            except Error as error:
                if "not in the vocabulary" not in str(error):
                    raise
                if "no part of it is known" in str(error):
                    raise UnseenWord(str(error)) from None
                self._composes = False
                raise self._unseen(words) from None
            composed.update((given, {**item, "vector": np.array(item["vector"], np.float32)}) for given, item in zip(part, answer, strict=True))
        return composed

    def _unseen(self, words: list[str]) -> UnseenWord:
        lines = []
        for word in words[:10]:
            known = [w for w in (word.lower(), word.capitalize(), word.upper()) if w in self.index]
            lines.append(f"{word!r} is not in the vocabulary ({len(self):,} words)" + (f"; did you mean {known[0]!r}?" if known else ""))
        if len(words) > len(lines):
            lines.append(f"and {len(words) - len(lines):,} words more")
        return UnseenWord("\n".join(lines))

    def most_similar(self, positive: Term | Sequence[Term] = (), negative: Term | Sequence[Term] = (),
                     topn: int = 10, restrict_vocab: int | None = None) -> list[tuple[str, float]]:
        """The words nearest to a sum, and the cosines; of the first words only if restrict_vocab says how many.

        Positive and negative are a word, seen or not, a vector, or a list of these. A word counts
        with a length of 1, a vector as it is, those of negative with a minus; (word, weight), in
        either, counts with that weight and its sign. The words themselves are no answers.
        """
        total = np.zeros(self.vector_size, np.float32)
        given: set[str] = set()
        terms = [(term, 1.0) for term in _terms(positive)] + [(term, -1.0) for term in _terms(negative)]
        if not terms:
            raise ValueError("most_similar needs a word in positive or negative")
        for term, weight in terms:
            if isinstance(term, tuple):
                term, weight = term
            if isinstance(term, str):
                given.add(term)
            total += weight * (_unit(self[term]) if isinstance(term, str) else np.asarray(term, np.float32))
        return self._nearest(total, topn, given, restrict_vocab)

    def neighbors(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words with the largest cosines to a word, seen or not, and the cosines."""
        return self.most_similar(word, topn=count)

    def _nearest(self, vector: Array, count: int, without: set[str], first: int | None) -> list[tuple[str, float]]:
        cosines = self.vectors[:first] @ vector / (self._lengths[:first] * (np.linalg.norm(vector) or 1))
        rows = [self.index[word] for word in without if self.index.get(word, len(cosines)) < len(cosines)]
        cosines[rows] = -np.inf
        count = max(0, min(count, len(cosines) - len(rows)))
        nearest = np.argpartition(-cosines, min(count, len(cosines) - 1))[:count]
        nearest = nearest[np.lexsort((nearest, -cosines[nearest]))]  # equal cosines in the order of the rows
        return [(self.words[row], float(cosines[row])) for row in nearest]

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, seen or not."""
        first, second = self.vector([a, b])
        return float(_unit(first) @ _unit(second))

    def n_similarity(self, first: Iterable[str], second: Iterable[str]) -> float:
        """The cosine of the means of two lists of words, seen or not."""
        means = [self.vector(list(words)).mean(axis=0) for words in (first, second)]
        return float(_unit(means[0]) @ _unit(means[1]))

    def doesnt_match(self, words: Iterable[str]) -> str:
        """The word that is farthest from the mean of all."""
        names = list(words)
        if len(names) < 2:
            raise ValueError("doesnt_match needs a list of two words or more")
        units = np.stack([_unit(row) for row in self.vector(names)])
        return names[int(np.argmin(units @ units.mean(axis=0)))]

    def distance(self, a: str, b: str) -> float:
        """1 less the cosine of two words, seen or not."""
        return 1 - self.similarity(a, b)

    def get_vector(self, key: str | int, norm: bool = False) -> Array:
        """The vector of a word or a row, by gensim's name; of length 1, if norm."""
        return _unit(self[key]) if norm else self[key]

    evaluate_word_analogies = _of_gensim("evaluate_word_analogies")
    evaluate_word_pairs = _of_gensim("evaluate_word_pairs")
    get_mean_vector = _of_gensim("get_mean_vector")
    get_normed_vectors = _of_gensim("get_normed_vectors")
    get_vecattr = _of_gensim("get_vecattr")
    most_similar_cosmul = _of_gensim("most_similar_cosmul")
    save_word2vec_format = _of_gensim("save_word2vec_format")
    similar_by_vector = _of_gensim("similar_by_vector")
    similar_by_word = _of_gensim("similar_by_word")
    wmdistance = _of_gensim("wmdistance")

    @cached_property
    def keyed_vectors(self) -> gensim.models.KeyedVectors:
        """The same vectors as gensim's KeyedVectors, which share this array. Needs gensim."""
        keyed = needed("gensim.models").KeyedVectors(self.vector_size)
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
        rows = self.vectors / self._lengths[:, None] if unit else self.vectors
        return needed("pandas").DataFrame(rows, index=self.words)

    def save(self, path: str | os.PathLike[str], words: Iterable[str] | None = None, **settings: Unpack[Conversion]) -> None:
        """Writes the vectors in the format of the path's extension, see ``w2vcl convert --help``.

        A path without an extension is a file in word2vec's binary format. ``words`` writes those of other words in place of the
        vocabulary. ``force=True`` replaces a file of vectors.
        """
        if not pathlib.Path(path).suffix:
            settings = {"format": "binary", **settings}
        if words is None:
            command("convert", self.path, path, *arguments(settings))
            return
        with tempfile.TemporaryDirectory(prefix=_files.PREFIX) as folder:
            wanted = pathlib.Path(folder, "words.txt")
            wanted.write_text("".join(word + "\n" for word in words), encoding="utf-8")
            command("convert", self.path, path, *arguments({"words": wanted, **settings}))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self.path),)

    if not TYPE_CHECKING:  # which shall find such names

        def __getattr__(self, name: str) -> Any:
            advice = "; what only gensim's KeyedVectors has is at keyed_vectors"
            if name == "build_vocab":
                advice = ": train(more) adds the words of another text, and trains on it"
            advice = "" if name.startswith("_") else advice
            raise AttributeError(f"{type(self).__name__} has no {name!r}{advice}", name=name, obj=self)


def _terms(given: Any) -> list[Any]:
    """The terms of a question, of which one may stand alone."""
    if isinstance(given, str) or isinstance(given, np.ndarray) and given.ndim == 1:
        return [given]
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], (int, float)) and isinstance(given[0], (str, np.ndarray)):
        return [given]
    return list(given or ())


def _unit(vector: Array) -> Array:
    return (vector / (np.linalg.norm(vector) or 1)).astype(np.float32, copy=False)


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
