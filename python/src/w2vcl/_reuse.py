"""Whether a run that is there is the one that a call would train."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from . import _corpus, _program

# Settings that say how a run is made, not which vectors it has.
_NO_MATTER = {"corpus", "threads", "checkpoint", "cache", "matrix", "max-memory"}


def unchanged(record: pathlib.Path, then: dict[str, Any], corpus: str, flags: list[str], progress: bool | None) -> bool:
    """Whether a run has the settings that ``w2vcl train`` with these flags would have, and its text.

    record is its config.toml, then what that holds.
    """
    if not _same_text(record, then["corpus"], corpus):
        return False
    now = json.loads(_program.command("plan", *flags, "--json", progress=progress))["settings"]
    return all(_equal(then.get(name), now.get(name)) for name in {*then, *now} - _NO_MATTER)


def _same_text(record: pathlib.Path, then: str, now: str) -> bool:
    """Whether two paths have one text, and whether it is older than the record of the run."""
    if _corpus.is_made(then) and _corpus.is_made(now):
        return pathlib.Path(then).name == pathlib.Path(now).name  # which has a checksum of the text
    if os.path.abspath(then) != os.path.abspath(now):
        return False
    files = [pathlib.Path(now), *pathlib.Path(now).rglob("*")]
    return all(path.stat().st_mtime_ns < record.stat().st_mtime_ns for path in files)


def _equal(a: Any, b: Any) -> bool:
    """Whether a value of TOML is what a flag says."""
    a, b = _program.text(a), _program.text(b)
    try:
        return a == b or float(a) == float(b)
    except ValueError:
        return False
