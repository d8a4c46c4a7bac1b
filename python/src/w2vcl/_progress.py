"""Live progress: one line in a terminal, bar and loss in a notebook."""

from __future__ import annotations

import html
import re
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

SECONDS = 0.25  # from one line of the program's progress to the next

# A line of progress is a name, two spaces, and how far the work has come; it stands for those
# before it. Other lines stay: they have a colon behind their first word, or no two spaces.
_MOVING = re.compile(r"^[^\s:][^:]*?  \S")
_PERCENT = re.compile(r"\b(\d+(?:\.\d+)?)%")
_LOSS = re.compile(r"\bloss (\d+\.\d+)")
_RATE = re.compile(r"\blr (\d\S*)")
_SCORE = re.compile(r"(?:: |, )([^:]+?) ([-−]?\d\.\d+)(?=, |$)")


class Progress(NamedTuple):
    """How far a command is. What is not known, or does not apply, is None."""

    phase: str  #: what it does: "reading text", "training"; "scores" during training
    percent: float | None  #: of the phase; training ends with 100
    loss: float | None
    lr: float | None
    text: str  #: the line that terminals show
    scores: dict[str, float] | None = None  #: by data set, after each evaluation of ``scores=``


class Display:
    """Shows the program's lines as they come. ``show`` takes a line, ``end`` is the end of them."""

    def __init__(self, hide: tuple[str, ...] = ()) -> None:
        self.hide = hide  # lines with one of these texts are not shown

    @staticmethod
    def choose(progress: bool | None, hide: tuple[str, ...] = ()) -> Display | None:
        """None shows progress to a person: in a notebook or a terminal. True shows it in any case."""
        if progress is False:
            return None
        if _in_notebook():
            return _Notebook(hide)
        if progress or sys.stderr.isatty():
            return _Terminal(hide)
        return None

    def show(self, line: str) -> None:
        if any(text in line for text in self.hide):
            return
        if _MOVING.match(line):
            self.move(line)
        elif line:
            self.note(line)

    def note(self, line: str) -> None:
        raise NotImplementedError

    def move(self, line: str) -> None:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError


class Calls(Display):
    """Calls a function with every progress, until it raises an exception."""

    def __init__(self, function: Callable[[Progress], object]) -> None:
        super().__init__()
        self.function = function

    def note(self, line: str) -> None:
        if line.startswith("Trained: "):
            self._call(Progress("training", 100.0, _number(_LOSS, line), None, line))
        elif line.startswith("Scores: "):
            scores = {name: float(score.replace("−", "-")) for name, score in _SCORE.findall(line)}
            self._call(Progress("scores", _number(_PERCENT, line), None, None, line, scores))

    def move(self, line: str) -> None:
        phase = line.partition("  ")[0]
        self._call(Progress(phase, _number(_PERCENT, line), _number(_LOSS, line), _number(_RATE, line), line))

    def _call(self, progress: Progress) -> None:
        try:
            self.function(progress)
        except BaseException:
            # A second exception would be a second Ctrl-C, after which the program saves nothing.
            self.function = lambda _: None
            raise

    def end(self) -> None:
        pass


def _number(pattern: re.Pattern[str], line: str) -> float | None:
    found = pattern.search(line)
    return float(found[1]) if found else None


class _Terminal(Display):
    """Plain lines on standard error; on a terminal a line of progress replaces the one before."""

    def __init__(self, hide: tuple[str, ...]) -> None:
        super().__init__(hide)
        self.live = sys.stderr.isatty()

    def note(self, line: str) -> None:
        self._write(("\r\x1b[K" if self.live else "") + line + "\n")

    def move(self, line: str) -> None:
        if self.live:
            import shutil

            self._write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])

    def end(self) -> None:
        if self.live:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class _Notebook(Display):
    """An output that is updated: notes, bar, and the loss so far as a line."""

    def __init__(self, hide: tuple[str, ...]) -> None:
        super().__init__(hide)
        self.notes: list[str] = []
        self.moving = ""
        self.losses: list[tuple[float, float]] = []  # percent, loss
        self.handle: Any = None
        self.shown = 0.0

    def note(self, line: str) -> None:
        self.notes.append(line)
        self.moving = ""
        self._update()

    def move(self, line: str) -> None:
        self.moving = line
        percent, loss = _PERCENT.search(line), _LOSS.search(line)
        if percent and loss:
            self.losses.append((float(percent[1]), float(loss[1])))
            if len(self.losses) > 1 and self.losses[-2][0] > self.losses[-1][0]:
                del self.losses[:-1]  # another run
        if time.monotonic() - self.shown >= SECONDS:
            self._update()

    def end(self) -> None:
        self.moving = ""
        self.losses = []
        self._update()

    def _update(self) -> None:
        from IPython.display import display

        self.shown = time.monotonic()
        if self.handle is None:
            untyped: Callable[..., Any] = display  # where IPython is installed, mypy refuses calls without types
            self.handle = untyped(self, display_id=True)
        else:
            self.handle.update(self)

    def __repr__(self) -> str:
        return "\n".join([*self.notes, self.moving]).rstrip("\n")

    def _repr_html_(self) -> str:
        out = "<pre>" + html.escape("\n".join(self.notes)) + "</pre>"
        if self.moving:
            percent = _PERCENT.search(self.moving)
            value = f' value="{percent[1]}"' if percent else ""
            out += f'<progress max="100"{value} style="width:20em"></progress> <code>{html.escape(self.moving)}</code>'
        if len(self.losses) > 2:
            out += _curve(self.losses)
        return out


def _curve(losses: list[tuple[float, float]]) -> str:
    low = min(loss for _, loss in losses)
    span = max(loss for _, loss in losses) - low or 1.0
    points = " ".join(f"{3 * x:.0f},{5 + 50 * (1 - (y - low) / span):.1f}" for x, y in losses)
    return (f'<br><svg width="300" height="60" role="img"><title>loss, {losses[-1][1]:.4f} now</title>'
            f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>')


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"
