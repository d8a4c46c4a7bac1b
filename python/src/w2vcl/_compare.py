"""Comparisons of modes, and their tables."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _corpus, _program
from ._corpus import Corpus
from ._optional import needed
from ._progress import Display
from ._run import Run, _Place

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from ._keywords import Variants


class Comparison:
    """The folder of a comparison, see docs/formats.md."""

    def __init__(self, path: str | os.PathLike[str], *, _keep: object = None) -> None:
        self.path = pathlib.Path(path)
        self._keep = _keep

    @cached_property
    def report(self) -> dict[str, Any]:
        """All numbers: text, machine, sets, variants, differences, runs."""
        found: dict[str, Any] = json.loads((self.path / "report.json").read_text(encoding="utf-8"))
        return found

    @property
    def html(self) -> pathlib.Path:
        """The report for a browser."""
        return self.path / "report.html"

    @property
    def scores(self) -> pd.DataFrame:
        """A row for each run and metric."""
        return self._csv("scores.csv")

    @property
    def curve(self) -> pd.DataFrame:
        """A row for each run, observation on the way and set."""
        return self._csv("curve.csv")

    @property
    def bands(self) -> pd.DataFrame:
        """A row for each run, observation and frequency band: losses of words."""
        return self._csv("bands.csv")

    @property
    def runs(self) -> dict[str, Run]:
        """The runs, by the names of their folders (``cl-seed1``)."""
        return {path.name: Run(path, _keep=self._keep) for path in sorted((self.path / "runs").iterdir()) if path.is_dir()}

    def _csv(self, name: str) -> pd.DataFrame:
        return needed("pandas").read_csv(self.path / name)

    def __repr__(self) -> str:
        return f"Comparison({str(self.path)!r})"


def compare(corpus: Corpus, modes: Iterable[str] | None = None, out: str | os.PathLike[str] | None = None, *,
            variants: Mapping[str, Mapping[str, Any]] | None = None, progress: bool | None = None,
            **settings: Unpack[Variants]) -> Comparison:
    """Trains several modes on one text under one budget and scores them on the way.

    variants are modes with settings of their own, by name: ``{"k20": {"mode": "cl", "negative":
    20}}``. A list of values stands for a variant of each, there and in the other settings.

    out is the folder of the comparison; one that is there is continued. Without it it is
    temporary. The other settings are the flags of ``w2vcl compare``. Ctrl-C raises
    KeyboardInterrupt; the same call with the same out continues.
    """
    place = _Place()
    given: dict[str, Any] = {**settings}
    text = _corpus.as_path(corpus, given, lambda: place.folder)
    path = place.output(out, "comparison")
    names = None if modes is None else [modes] if isinstance(modes, str) else list(modes)
    flags = _program.arguments({"corpus": text, "modes": names, "out": path, **given})
    for name, own in (variants or {}).items():
        flags.append(f"--variant={name}: " + ",".join(f"{key.replace('_', '-')}={_program.text(value)}" for key, value in own.items()))
    _program.execute(["compare", *flags], Display.choose(progress, ("Report:",) if out is None else ()))
    return Comparison(path, _keep=place)
