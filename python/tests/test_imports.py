"""No module of the package imports, directly or by others, a module that imports it."""

import ast
import graphlib
import pathlib

import w2vcl


def imported(source: str) -> set[str]:
    """The modules of the package that a module of it imports anywhere, also for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
    return found


def test_no_circle() -> None:
    files = [p for p in pathlib.Path(w2vcl.__file__).parent.glob("*.py") if p.stem != "__init__"]
    assert len(files) > 5
    graphlib.TopologicalSorter({p.stem: imported(p.read_text(encoding="utf-8")) for p in files}).prepare()


def test_imported() -> None:
    assert imported("from . import _a, _b\nif T:\n    from ._c import D\ndef f():\n    from ._e import g\nimport os\n") == {"_a", "_b", "_c", "_e"}
