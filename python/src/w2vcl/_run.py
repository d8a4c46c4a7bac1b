"""Runs: training them, and what they leave behind."""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _corpus, _files, _program, _reuse
from ._corpus import Corpus
from ._optional import needed
from ._progress import Calls, Display, Progress
from ._vectors import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from ._keywords import Conversion, Evaluation, Resumption, Settings, Training

Path = Union[str, "os.PathLike[str]"]

# Settings that another text does not share: files of this text, and what follows from its size.
_OF_ITS_TEXT = {"corpus", "graph", "field", "vocab", "cache", "matrix", "init", "init-moments", "freeze", "iterations",
                "positives"}
_OF_ITS_STRETCHES = {"batch", "sample"}  # in mode cl with CBOW

# Settings that any training on another text shares.
_READING = {"min-count", "max-vocab", "max-sentence", "join-lines", "lowercase", "tokenizer"}


class Vectors(Table):
    """The vectors of a file, or of a run, which can be asked, saved and trained further."""

    def train(self, corpus: Corpus | None = None, out: Path | None = None, *, sentences: Corpus | None = None,
              exist: Literal["replace", "reuse"] | None = None, progress: bool | None = None,
              on_progress: Callable[[Progress], object] | None = None, **settings: Unpack[Training]) -> Run:
        """Continues these vectors on another text. Returns a new run; this one does not change.

        The new run has the words of both texts, and the settings of this run unless you pass others. Settings that depend on the
        size of a text follow from the new text. If you pass a mode, model, preset, optimizer or subword, the new run keeps only
        the settings for reading the text, and the mode and model if they still apply.
        """
        given: Any = {**self._settings(settings), "init": self, **settings}
        return train(corpus, out=out, sentences=sentences, exist=exist, progress=progress, on_progress=on_progress, **given)

    def _settings(self, changes: Iterable[str]) -> dict[str, Any]:
        """The settings that a continued run keeps, given the settings that change. A file has none."""
        return {}


class Run(Vectors):
    """A run folder: its vectors, how training went, and its settings.

    A run that is still training, or was stopped before its first vectors were saved, has the
    vectors of its last checkpoint, if there is one.
    """

    def __init__(self, path: Path, *, _keep: object = None, _temporary: bool = False) -> None:
        super().__init__(path)
        self._keep = _keep  # owns temporary folders that the run lies in, or trained on
        self._temporary = _temporary  # whether it lies in one
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
    def _table(self) -> tuple[list[str], _files.Array]:
        file = self.folder / "vectors.bin"
        return _files.read_binary(file) if file.exists() else _files.read(self.path)

    @cached_property
    def _composes(self) -> bool:
        return not (self.folder / "config.toml").exists() or (self.config.get("subword", "none"), self.config["unseen"]) != ("none", "encoder")

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs in the text, in the order of ``words``."""
        return self._counts

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
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
    def corpus_count(self) -> int:
        """The lines of the text, by gensim's name: sentences, where these are in memory."""
        return int(self.summary["lines"])

    @property
    def corpus_total_words(self) -> int:
        """The words of the text, by gensim's name."""
        return int(self.summary["tokens"])

    @property
    def epochs(self) -> int:
        """How often training read as many words as the text has, rounded; at least 1."""
        return max(1, round(float(self.summary["epochs"])))

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end, or is still going: resume() goes on."""
        return not (self.folder / "summary.json").exists() or bool(self.summary.get("interrupted"))

    @property
    def metrics(self) -> pd.DataFrame:
        """How training went: unit, seconds, loss, lr and speeds, a row for each line of metrics.jsonl.

        A run with ``scores=`` also has a column for each data set, such as ``scores.Google``.
        """
        return needed("pandas").json_normalize(json.loads(_program.command("metrics", self.path, "--format", "json")))

    def resume(self, *, progress: bool | None = None, on_progress: Callable[[Progress], object] | None = None,
               corpus: Corpus | None = None, **settings: Unpack[Resumption]) -> Run:
        """Goes on from the last checkpoint; a complete run stays as it is. Returns the run anew.

        corpus is the text, where it is no longer at the place that it was trained from.
        """
        place = _Place()
        flags: dict[str, Any] = {**settings}
        if corpus is not None:
            given = {**settings, "field": self.config.get("field") or None}
            flags.update(corpus=_corpus.as_path(corpus, given, lambda: place.folder), tokenizer=given.get("tokenizer"))
        elif self.interrupted and _corpus.is_made(self.config["corpus"]) and not os.path.exists(self.config["corpus"]):
            raise FileNotFoundError("the text of this run was in memory, and is gone: give it again, resume(corpus=...)")
        _train(["resume", self.path, *_program.arguments(flags)], self.path, (self._keep, place), progress, on_progress)
        return Run(self.path, _keep=(self._keep, place), _temporary=self._temporary)

    def _settings(self, changes: Iterable[str]) -> dict[str, Any]:
        """The settings of this run that a continued run keeps, given the settings that change."""
        config, changed = self.config, {*changes}
        kept = config.keys() - _OF_ITS_TEXT
        if config["mode"] == "cl" and config.get("model") != "sg":
            kept -= _OF_ITS_STRETCHES
        if changed & {"iterations", "budget", "epochs", "epoch", "iter"}:
            kept -= {"epochs", "budget"}
        if changed & {"optimizer", "subword", "hierarchical_softmax", "hs"}:
            kept &= {"mode", "model", *_READING}
        if changed & {"model", "sg", "cbow"}:
            kept &= {"mode", *_READING}
        if changed & {"mode", "preset"}:
            kept &= _READING
        return {name.replace("-", "_"): value for name, value in config.items() if name in kept}

    def save(self, path: Path, words: Iterable[str] | None = None, **settings: Unpack[Conversion]) -> None:
        """Saves the whole run in a folder, if the path ends in ``.model`` or has no extension.

        ``load(path)`` returns the run, which can be trained further. With another extension, or with ``words``, only the vectors
        are saved, as ``Vectors.save`` does. ``force=True`` replaces what is there.
        """
        target = pathlib.Path(path).expanduser()
        if target.suffix not in ("", ".model") or words is not None or settings.get("format"):
            super().save(path, words, **settings)
            return
        if self.folder != self.path:
            raise ValueError(f"{self.path} is not finished: only its vectors can be saved, for example as {target.name}.bin; or resume()")
        _files.copy_folder(self.path, target, bool(settings.get("force")))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the path; of a temporary run, which another process may not find, the files."""
        if not self._temporary:
            return Run, (str(self.path),)
        return _restored, ({file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()},)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a training, which saved its vectors until then.

    ``run`` is the run so far, whose ``resume()`` goes on; None, if there was nothing to save.
    """

    def __init__(self, message: str, run: Run | None = None) -> None:
        super().__init__(message)
        self.run = run


class _Place:
    """Owns a temporary folder, made when it is asked for."""

    start: object = None  #: owns those of the run that init= names, which resume() reads again

    @cached_property
    def folder(self) -> pathlib.Path:
        return _files.temporary(self)

    def output(self, out: Path | None, name: str) -> pathlib.Path:
        """Where ``out`` is; without it, a name in the temporary folder."""
        return self.folder / name if out is None else pathlib.Path(out).expanduser()


def _restored(files: dict[str, bytes]) -> Run:
    """A temporary run that was pickled, in a temporary folder of this process."""
    place = _Place()
    folder = place.folder / "run"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return Run(folder, _keep=place, _temporary=True)


def train(corpus: Corpus | None = None, mode: str | None = None, dim: int | None = None, out: Path | None = None, *,
          sentences: Corpus | None = None, exist: Literal["replace", "reuse"] | None = None,
          progress: bool | None = None, on_progress: Callable[[Progress], object] | None = None,
          **settings: Unpack[Training]) -> Run:
    """Trains vectors on a text.

    corpus, or sentences, is the path of a file or folder, a list of paths, or sentences: strings,
    or lists of tokens, from any iterable. ``field="text"`` takes that column of a table, of
    pandas or Hugging Face, and that entry of dictionaries. With ``tokenizer="tokenizer.json"``, a
    file of Hugging Face's tokenizers, sentences are the numbers of tokens.

    mode is how to train:

    - cl: W2V-CL, large batch (the default)
    - vanilla: W2V-Vanilla, minibatches
    - word2vec: skip-gram or CBOW, each pair with its own negatives
    - pword2vec: negatives shared in a window
    - psgnscc: several windows in one product
    - fullw2v: fixed windows in strict order
    - fullregister: fixed windows; reads context rows once a window, the published kernel once an output
    - parw2v: attraction, then repulsion in mini-batches, eight negatives at a time
    - ppmi: positive pointwise mutual information and its truncated SVD
    - glove: GloVe, logarithms of counts

    out is the run folder. Without it, the run is in a temporary folder that is removed with the Run,
    or when Python ends. If the run folder exists, exist="replace" trains anew. exist="reuse" returns
    a complete run or continues a stopped one, and trains anew only if a setting or the text changed.

    The other settings are the flags of ``w2vcl train``, with underscores: ``min_count=50,
    tokenizer="words", lowercase=True``. You can pass a run instead of a path: ``init=run`` continues
    its words, n-grams or network, with its dim. ``scores=10`` scores the vectors ten times during
    training, on the sets that come with w2vcl or on those of ``data=``; see ``Run.metrics``.

    progress shows how far training is: None in notebooks and terminals, True always, False never.
    on_progress is called with every Progress. If it raises an exception, training stops as on Ctrl-C.

    Ctrl-C stops training, saves the vectors and raises Interrupted, a KeyboardInterrupt, whose
    ``run.resume()`` continues. A failure raises an Error; a setting that does not exist or fit
    raises a UsageError, with the program's message.
    """
    if "seeds" in settings:
        raise TypeError("seeds: train returns one run, so call it with each seed=, or compare(…, seeds=)")
    place, text = _Place(), ""
    corpus = _one(corpus, sentences)
    given: dict[str, Any] = {**settings}
    if isinstance(init := given.get("init"), Vectors):
        place.start = getattr(init, "_keep", None)
        if dim is None and not isinstance(init, Run):
            dim = init.vector_size
    if corpus is not None:
        text = given["corpus"] = _corpus.as_path(corpus, given, lambda: place.folder)
    scores = _program.arguments({name: given.pop(name, None) for name in ("scores", "data")})
    flags = _program.arguments({"mode": mode, "dim": dim, **given})
    path = place.output(out, "run")
    if exist not in (None, "replace", "reuse"):
        raise ValueError(f'exist={exist!r}: there are "replace" and "reuse"')
    if exist == "reuse" and corpus is not None and (found := _found(path)):
        if _reuse.unchanged(found.folder / "config.toml", found.config, text, flags, progress):
            if not found.interrupted:
                return found
            found._keep = place  # which has the text
            return found.resume(progress=progress, on_progress=on_progress, corpus=text)
    if exist is not None:
        flags.append("--force")
    hide = ("Saved:",) if out is None else ()
    _train(["train", *flags, *scores, *_program.arguments({"out": path})], path, place, progress, on_progress, hide)
    return Run(path, _keep=place, _temporary=out is None)


def _one(corpus: Corpus | None, sentences: Corpus | None) -> Corpus | None:
    """The text of a call, which has two names."""
    if corpus is not None and sentences is not None:
        raise TypeError("corpus and sentences are names of the same: give one of them")
    return sentences if corpus is None else corpus


def _found(path: pathlib.Path) -> Run | None:
    try:
        return Run(path)
    except FileNotFoundError:
        return None


def demo(out: Path | None = None, *, progress: bool | None = None, **settings: Any) -> Run:
    """Trains on the State of the Union addresses, which come along, as ``w2vcl demo`` does.

    Of the settings it takes dim, iterations, subword, seed and threads.
    """
    place = _Place()
    path = place.output(out, "run")
    flags = _program.arguments({"out": path, **settings})
    if progress is False:
        flags.append("--quiet")
    _train(["demo", *flags], path, place, progress, None, ("w2vcl ", "Now your own text"))  # advice about commands
    return Run(path, _keep=place, _temporary=out is None)


def _train(args: list[Any], path: pathlib.Path, keep: object, progress: bool | None,
           on_progress: Callable[[Progress], object] | None, hide: tuple[str, ...] = ()) -> None:
    try:
        _program.execute([_program.text(a) for a in args], Display.choose(progress, hide), on_progress and Calls(on_progress))
    except KeyboardInterrupt as stop:
        try:
            run = Run(path, _keep=keep)
        except FileNotFoundError:
            run = None
        raise Interrupted(str(stop), run) from None


def load(path: Path) -> Run | Vectors:
    """Opens a run folder, or a file of vectors in any format that the program reads."""
    path = pathlib.Path(path).expanduser()
    if path.is_file():
        return Vectors(path)
    try:
        return Run(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such run or file of vectors") from None


def plan(corpus: Corpus | None = None, mode: str | None = None, dim: int | None = None, *,
         sentences: Corpus | None = None, progress: bool | None = None, **settings: Unpack[Settings]) -> dict[str, Any]:
    """Iterations, memory by part and seconds that ``train`` with the same settings will need."""
    place = _Place()
    corpus = _one(corpus, sentences)
    given: dict[str, Any] = {**settings}
    if corpus is not None:
        given["corpus"] = _corpus.as_path(corpus, given, lambda: place.folder)
    flags = _program.arguments({"mode": mode, "dim": dim, **given})
    answer: dict[str, Any] = json.loads(_program.command("plan", *flags, "--json", progress=progress))
    return answer


def evaluate(run: Path, data: Path | None = None, *, progress: bool | None = False,
             **settings: Unpack[Evaluation]) -> pd.DataFrame:
    """Scores of a run or a file of vectors: task, dataset, metric, score, found, total.

    data is a folder of sets, or a file; without it the sets that come along are used. The other
    settings are the flags of ``w2vcl eval``: ``against=other`` gives differences from another run.
    found of total items have all their words in the vocabulary.
    """
    flags = _program.arguments({"data": data, **settings})
    return needed("pandas").DataFrame(json.loads(_program.command("eval", run, *flags, "--json", progress=progress)))
