"""The outputs that docs/guide.md shows are real: its blocks of console are run, in order, in one folder.

    W2VCL_UPDATE=1 pytest tests/test_guide.py    writes today's outputs into the guide; read the diff

A line that begins with $ is a command. What follows it is standard error, then standard output. A line ... stands for
any lines. Numbers in standard error are times and speeds, so any number will do there; standard output is compared
letter by letter, for the vectors are the same on each machine.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys

import pytest

import w2vcl

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,.]*(e[-+]\d+)?[kM]?|(?<=[ #])(ns|µs|ms|s|min|h|[kMG]?B)\b")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the guide has the bits of x86-64")
def test_guide(tmp_path, monkeypatch):
    if re.search(r"^kernels in use +go$", w2vcl.command("doctor"), re.MULTILINE):
        pytest.skip("the guide has the bits of AVX2, which are those of AVX-512, too; plain Go adds up in another order")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "w2vcl"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m w2vcl "$@"\n')
    command.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "testdata").symlink_to(ROOT / "testdata")
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("W2VCL_PROGRESS_SECONDS", "100000")  # the guide leaves these lines out
    monkeypatch.chdir(work)
    update = bool(os.environ.get("W2VCL_UPDATE"))
    text = GUIDE.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda match: "```console\n" + run(match[1], update) + "```", text)
    if update:
        GUIDE.write_text(new, encoding="utf-8")


def run(block, update):
    """Runs the commands of a block and compares, or returns the block with today's outputs."""
    out = ""
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if not part:
            continue
        line, _, shown = part.partition("\n")
        done = subprocess.run(["sh", "-c", line[2:]], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        errors, output = done.stderr.rstrip("\n"), done.stdout.rstrip("\n")
        got = [(error, False) for error in errors.splitlines()] + [(text, True) for text in output.splitlines()]
        if update:
            out += elided(line, shown.splitlines(), got)
        else:
            assert matches(shown.splitlines(), got), "\n".join([line, "the guide shows", shown, "and it is", *(g for g, _ in got)])
    return out if update else block


def elided(line, shown, got):
    """Today's output; as many lines at the begin, and at the end, as the guide shows around its '...'."""
    lines = [text for text, _ in got]
    if "..." in shown:
        at = shown.index("...")
        lines = lines[:at] + ["..."] + (lines[-(len(shown) - at - 1):] if at + 1 < len(shown) else [])
    return "\n".join([line, *(text.rstrip() for text in lines)]) + "\n"


def matches(shown, got):
    if not shown:
        return not got
    if shown[0] == "...":
        return any(matches(shown[1:], got[skip:]) for skip in range(len(got) + 1))
    return bool(got) and same(shown[0], *got[0]) and matches(shown[1:], got[1:])


def same(shown, got, exact):
    got = got.rstrip()
    return shown == got if exact else masked(shown) == masked(got)


def masked(line):
    line = re.sub(r"\s+", " ", NUMBER.sub("#", NUMBER.sub("#", line)))
    return re.sub(r"#( #)+", "#", line)  # 1 min 2 s may be 58 s elsewhere


def test_masks():
    assert masked("about 23 s of training (11.2 ms per iteration), 40.0M pairs/s") == masked(
        "about 2 min of training (900 µs per iteration), 1,900k pairs/s")
    assert masked("in 1 min 2 s (1.2M words/s)") == masked("in 58 s (900k words/s)")
    assert masked("loss 0.31") != masked("loss falls")
