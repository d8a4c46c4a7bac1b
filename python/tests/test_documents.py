"""What the documents tell a reader to run is run."""

import pathlib
import re
import runpy
import sys
from unittest import mock

import pytest

import w2vcl

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = (ROOT / "python" / "README.md").read_text(encoding="utf-8")


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_dashboards(run, monkeypatch):
    pytest.importorskip("pandas")
    code = blocks(MODULE)[1]
    board = mock.MagicMock()
    monkeypatch.setitem(sys.modules, "wandb", board)
    monkeypatch.setattr(sys, "argv", ["script", str(run.path)])
    exec(compile(code, "wandb", "exec"), {})
    logged = board.init.return_value.__enter__.return_value.log
    assert logged.call_count == len(run.metrics)
    assert logged.call_args.args[0]["loss"] == run.summary["loss"]


def test_the_readme_of_the_module(text, tmp_path, monkeypatch):
    pytest.importorskip("gensim")
    words = text.read_text(encoding="utf-8").replace("cat", "paris").replace("dog", "france")
    (tmp_path / "wiki.txt").write_text(words)
    monkeypatch.chdir(tmp_path)
    code = blocks(MODULE)[0]
    exec(compile(code.replace("dim=300", "dim=8, iterations=16"), "README.md", "exec"), {})
    assert (tmp_path / "runs" / "wiki" / "vectors.bin").exists()


def test_the_licences_of_what_is_in_the_wheel():
    text = (pathlib.Path(w2vcl.__file__).parent / "bin" / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")
    for name in ("gorgonia.org/gorgonia v", "gonum.org/v1/gonum v", "Go go1.", "WordNet 3.0"):
        assert f"\n==== {name}" in text


def test_building_without_go_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    interface = "hatchling.builders.hooks.plugin.interface"
    for name in [interface[:at] for at, mark in enumerate(interface) if mark == "."] + [interface]:
        monkeypatch.setitem(sys.modules, name, mock.Mock(BuildHookInterface=object))
    hook = runpy.run_path(str(ROOT / "python" / "hatch_build.py"))["ProgramHook"]
    with pytest.raises(SystemExit, match="^w2vcl is built with Go 1.26 or later, which is not here: install it, or install a wheel of w2vcl$"):
        hook().initialize("standard", {})
