"""Runs the program: arguments from keyword arguments, errors from its messages, Ctrl-C."""

from __future__ import annotations

import inspect
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import threading
import warnings
from collections.abc import Mapping
from typing import Any, cast

from ._progress import SECONDS, Display

# Exit codes of the program, see docs/guide.md.
USAGE = 2
INTERRUPTED = 130


class Error(RuntimeError):
    """The program failed. The text is its own message, which names the file and what to do."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status  #: the exit code


class UsageError(Error, ValueError):
    """A setting does not exist, or does not fit."""


def binary() -> str:
    """The path of the program: $W2VCL_BINARY, else the one in this package."""
    path = os.environ.get("W2VCL_BINARY") or str(pathlib.Path(__file__).parent / "bin" / "w2vcl")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no program w2vcl; install a wheel, or name one in $W2VCL_BINARY")
    return path


def arguments(settings: Mapping[str, Any]) -> list[str]:
    """The flags of keyword arguments: ``min_count=5`` is ``--min-count=5``.

    None leaves a setting out. A list is joined by commas. A dict gives the flag for each of
    its entries, ``name=value``; entries of entries have names with a point between.
    """
    flags = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            flags += [f"{flag}={key}={text(each)}" for key, each in _entries(value)]
        elif value is not None:
            given = text(value)
            flags.append(f"{flag}={os.path.expanduser(given) if given.startswith('~/') else given}")
    return flags


def _entries(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        key = prefix + name.replace("_", "-")
        found += _entries(value, key + ".") if isinstance(value, Mapping) else [(key, value)]
    return found


def text(value: Any) -> str:
    """A value as the command line writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(text, value))
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    return str(value)


def command(*args: Any, progress: bool | None = False) -> str:
    """Runs ``w2vcl`` with these arguments and returns its standard output.

    Raises Error, or UsageError, with the program's message. Ctrl-C is passed on to the program,
    which saves its work, and is raised when it has ended. The program's warnings are warnings.
    """
    return execute([text(a) for a in args], Display.choose(progress))


def version() -> dict[str, Any]:
    """The program's version, commit and date where they are known, and what is built in."""
    return cast(dict[str, Any], json.loads(command("version", "--json")))


def execute(args: list[str], *displays: Display | None) -> str:
    """Runs the program to its end, and shows its lines on the displays that are not None.

    An exception of a display stops the program as Ctrl-C does, and is raised when it has ended.
    """
    # A session of its own: the program shall meet one Ctrl-C, the one that is sent here. A
    # second one would end it at once. If Python dies, its next line of progress ends the program.
    process = subprocess.Popen(
        [binary(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", errors="replace", start_new_session=True, env={**os.environ, "W2VCL_PROGRESS_SECONDS": str(SECONDS)},
    )
    output: list[str] = []
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    readers = [
        threading.Thread(target=_read_all, args=(process.stdout, output), daemon=True),
        threading.Thread(target=_read_lines, args=(process.stderr, lines), daemon=True),
    ]
    for reader in readers:
        reader.start()
    follower = _Follower(process, [display for display in displays if display])
    try:
        follower.follow(lines)
        for reader in readers:
            reader.join()
        status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        follower.end()
    if follower.failure:
        raise follower.failure
    message = pythonic(_message(follower.messages))
    if follower.interrupted or status == INTERRUPTED:
        raise KeyboardInterrupt(message or "interrupted")
    if status != 0:
        message = message or "\n".join(follower.messages[-20:])
        if status < 0:
            message = f"w2vcl was ended by {signal.Signals(-status).name}\n{message}".strip()
        raise (UsageError if status == USAGE else Error)(message, status)
    return "".join(output)


def _read_all(stream: Any, output: list[str]) -> None:
    with stream:
        output.append(stream.read())


def _read_lines(stream: Any, lines: queue.SimpleQueue[str | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line.rstrip("\n"))
    lines.put(None)


class _Follower:
    """Shows the lines of a process, and passes every Ctrl-C on to it."""

    def __init__(self, process: subprocess.Popen[str], displays: list[Display]) -> None:
        self.process = process
        self.displays = displays
        self.messages: list[str] = []
        self.interrupted = False
        self.failure: Exception | None = None  # of a display

    def follow(self, lines: queue.SimpleQueue[str | None]) -> None:
        """Shows the lines until the last one."""
        more = True
        while more:
            try:
                while (line := lines.get()) is not None:  # Python raises a Ctrl-C where a loop jumps back: here it is caught
                    self._take(line)
                more = False
            except KeyboardInterrupt:
                self.interrupted = True
                self._stop()
            except Exception as failure:
                self.failure = self.failure or failure
                self._stop()

    def _take(self, line: str) -> None:
        self.messages.append(line)
        if len(self.messages) > 1000:
            del self.messages[:500]
        if line.startswith("Warning: "):
            warnings.warn(pythonic(line.removeprefix("Warning: ")), stacklevel=_outside())
        elif not line.startswith("w2vcl: "):
            for display in self.displays:
                display.show(line)

    def _stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        for display in self.displays:
            display.end()


def _outside() -> int:
    """How far below a warning the caller of this package is."""
    frame, depth = inspect.currentframe(), 0
    while frame and frame.f_globals.get("__package__") == __package__:
        frame, depth = frame.f_back, depth + 1
    return depth


def _message(lines: list[str]) -> str:
    """The lines of an error, without the program's name and its advice about --help."""
    return "\n".join(re.sub("^w2vcl: ", "", line) for line in lines if line.startswith("w2vcl: "))


# Texts in memory, as messages name them: a file that _corpus makes, or a link in a folder that it makes.
_MADE = re.compile(r"corpus:? \S*/w2vcl-[^/\s]+/corpus-[0-9a-f]{16}(\.txt|/\d{6}-)")

# What messages say of flags, and what that is in Python. The first pattern that fits counts.
_FLAGS = re.compile(r"""
    'w2vcl\ resume\ \S+(?P<more>(\ --\S+\ \S+)*)'                    # a command that goes on
  | (?P<other>'w2vcl\ [^']*')                                           # any other
  | --tokenizer\ (?P<tokenizer>words|whitespace)
  | (?<![\w-])--(?P<name>[a-z][a-z0-9-]*)
    (?:[= ](?P<value>true|false|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.%-]*\w))?
""", re.VERBOSE)


def pythonic(message: str) -> str:
    """A message of the program as one about keyword arguments: ``min_count=5``, not ``--min-count 5``."""
    message = _FLAGS.sub(_keyword, message).replace("no such flag", "no such setting")
    return _MADE.sub(lambda made: "the corpus" if made[1] == ".txt" else "corpus ", message)


def _keyword(found: re.Match[str]) -> str:
    if found["other"]:
        return found["other"]
    if found["tokenizer"]:
        return f'tokenizer="{found["tokenizer"]}"'
    if found["name"] is None:
        given = re.findall(r"--(\S+) (\S+)", found["more"])
        return "resume(" + ", ".join(f"{name.replace('-', '_')}={value}" for name, value in given) + ")"
    name, value = found["name"].replace("-", "_"), found["value"]
    if name in ("force", "lowercase") and value is None:
        value = "true"
    return name if value is None else f"{name}={value.title() if value in ('true', 'false') else value}"
