"""Runs: training them, and what they leave behind."""

from __future__ import annotations

import json
import os
import pathlib
import tomllib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _corpus, _program, _vectors
from ._corpus import Corpus
from ._progress import Display

if TYPE_CHECKING:
    import pandas as pd

Path = str | os.PathLike[str]


class Run(_vectors.Vectors):
    """A run folder: its vectors, how training went, and its settings.

    A run that is still training, or was stopped before its first vectors were saved, has the
    vectors of its last checkpoint, if there is one.
    """

    def __init__(self, path: Path, *, _keep: object = None) -> None:
        super().__init__(path)
        self._keep = _keep  # owns temporary folders that the run lies in, or trained on
        if not (self.path.is_dir() or self._partial.is_dir()):
            raise FileNotFoundError(f"{self.path}: there is no such run")

    @property
    def _partial(self) -> pathlib.Path:
        return self.path.with_name(self.path.name + ".partial")

    @property
    def folder(self) -> pathlib.Path:
        """Where the files are: ``path``, or ``path`` + ".partial" until the run is complete."""
        return self.path if self.path.is_dir() else self._partial

    @cached_property
    def _table(self) -> tuple[list[str], _vectors.Array]:
        file = self.folder / "vectors.bin"
        return _vectors.read_binary(file) if file.exists() else _vectors.read(self.path)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs in the text, in the order of ``words``."""
        lines = (self.folder / "vocab.tsv").read_text(encoding="utf-8").split("\n")[:-1]
        return np.array([int(line.rpartition("\t")[2]) for line in lines], np.int64)

    @property
    def config(self) -> dict[str, Any]:
        """All settings, with the names of config.toml (``min-count``)."""
        return tomllib.loads((self.folder / "config.toml").read_text(encoding="utf-8"))

    @property
    def summary(self) -> dict[str, Any]:
        """The run in one dict: sizes, seconds, speed, loss, memory. Not there before it is over."""
        found: dict[str, Any] = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        return found

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end, or is still going: resume() goes on."""
        return not (self.folder / "summary.json").exists() or bool(self.summary.get("interrupted"))

    @property
    def metrics(self) -> pd.DataFrame:
        """How training went: unit, seconds, loss, lr and speeds, a row for each line of metrics.jsonl."""
        import pandas

        return pandas.DataFrame(json.loads(_program.command("metrics", self.path, "--format", "json")))

    def resume(self, *, progress: bool | None = None, **settings: Any) -> Run:
        """Goes on from the last checkpoint; a complete run stays as it is. Returns the run anew."""
        _train(["resume", self.path, *_program.arguments(settings)], self.path, self._keep, progress)
        return Run(self.path, _keep=self._keep)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a training, which saved its vectors until then.

    ``run`` is the run so far, whose ``resume()`` goes on; None, if there was nothing to save.
    """

    def __init__(self, message: str, run: Run | None = None) -> None:
        super().__init__(message)
        self.run = run


class _Place:
    """Owns a temporary folder, made when it is asked for."""

    @cached_property
    def folder(self) -> pathlib.Path:
        return _vectors.temporary(self)


def train(corpus: Corpus, mode: str | None = None, dim: int | None = None, out: Path | None = None, *,
          progress: bool | None = None, **settings: Any) -> Run:
    """Trains vectors on a text.

    corpus is the path of a file or folder, a list of paths, or sentences: strings, or lists of
    tokens, from any iterable. mode is "cl" (the default), "vanilla", "word2vec", "pword2vec",
    "psgnscc", "fullw2v" or "parw2v". out is the run folder; without it the run lies in a
    temporary folder that goes with the Run, or with Python. The other settings are the flags of
    ``w2vcl train``, with underscores: ``min_count=50, tokenizer="words", lowercase=True``.

    progress shows how far training is: None in notebooks and terminals, True always, False never.
    Ctrl-C stops training, saves the vectors until then and raises Interrupted, a
    KeyboardInterrupt, whose ``run.resume()`` goes on. A failure is an Error, a setting that does
    not exist or fit a UsageError, with the program's message.
    """
    place = _Place()
    text = _corpus.as_path(corpus, lambda: place.folder)
    path = pathlib.Path(out) if out is not None else place.folder / "run"
    flags = _program.arguments({"corpus": text, "mode": mode, "dim": dim, "out": path, **settings})
    _train(["train", *flags], path, place, progress, ("Saved:",) if out is None else ())
    return Run(path, _keep=place)


def demo(out: Path | None = None, *, progress: bool | None = None, **settings: Any) -> Run:
    """Trains on the State of the Union addresses, which come along, as ``w2vcl demo`` does.

    Of the settings it takes dim, iterations, subword, seed and threads.
    """
    place = _Place()
    path = pathlib.Path(out) if out is not None else place.folder / "run"
    flags = _program.arguments({"out": path, **settings})
    if progress is False:
        flags.append("--quiet")
    _train(["demo", *flags], path, place, progress, ("w2vcl ", "Now your own text"))  # advice about commands
    return Run(path, _keep=place)


def _train(args: list[Any], path: pathlib.Path, keep: object, progress: bool | None,
           hide: tuple[str, ...] = ()) -> None:
    try:
        _program.execute([_program.text(a) for a in args], Display.choose(progress, hide))
    except KeyboardInterrupt as stop:
        try:
            run = Run(path, _keep=keep)
        except FileNotFoundError:
            run = None
        raise Interrupted(str(stop), run) from None


def load(path: Path) -> Run | _vectors.Vectors:
    """Opens a run folder, or a file of vectors in any format that the program reads."""
    path = pathlib.Path(path)
    if path.is_file():
        return _vectors.Vectors(path)
    return Run(path)


def plan(corpus: Corpus, mode: str | None = None, dim: int | None = None, *, progress: bool | None = None,
         **settings: Any) -> dict[str, Any]:
    """Iterations, memory by part and seconds that ``train`` with the same settings will need."""
    place = _Place()
    text = _corpus.as_path(corpus, lambda: place.folder)
    flags = _program.arguments({"corpus": text, "mode": mode, "dim": dim, **settings})
    answer: dict[str, Any] = json.loads(_program.command("plan", *flags, "--json", progress=progress))
    return answer


def evaluate(run: _vectors.Vectors | Path, data: Path | None = None, *, progress: bool | None = False,
             **settings: Any) -> pd.DataFrame:
    """Scores of a run or a file of vectors: task, dataset, metric, score, found, total.

    data is a folder of sets, or a file; without it the sets that come along are used. The other
    settings are the flags of ``w2vcl eval``. found of total items have all their words in the
    vocabulary.
    """
    import pandas

    path = run.path if isinstance(run, _vectors.Vectors) else run
    flags = _program.arguments({"data": data, **settings})
    return pandas.DataFrame(json.loads(_program.command("eval", path, *flags, "--json", progress=progress)))
