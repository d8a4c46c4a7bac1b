"""Executes every notebook of this folder, in place or into a folder.

    python execute.py [--quick] [DIR]

--quick trains with little work, which shows whether every cell runs, and writes nothing.
Run folders go to a temporary place, so each execution starts from nothing and leaves only
notebooks. A cell that fails is an error, and so is an output with a path of this machine.
"""

import pathlib
import sys
import tempfile
import time

import matplotlib.font_manager  # noqa: F401 (its message about the font cache belongs in no notebook)
import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent

QUICK = {
    "ITERATIONS, SEEDS = 512, 2": "ITERATIONS, SEEDS = 24, 1", "ITERATIONS, SEEDS = 512, 3": "ITERATIONS, SEEDS = 48, 1",
    "SEEDS = 3": "SEEDS = 1", "ITERATIONS = 384": "ITERATIONS = 24", "CONTEXTS = 192": "CONTEXTS = 12",
    "contexts=1024": "contexts=32", "seeds=2": "seeds=1", '"min_count": 20': '"min_count": 100', '"min_count": 50': '"min_count": 100',
}


def main():
    quick = "--quick" in sys.argv[1:]
    folders = [argument for argument in sys.argv[1:] if argument != "--quick"]
    out = pathlib.Path(folders[0]) if folders else HERE
    unused = set(QUICK) if quick else set()
    with tempfile.TemporaryDirectory() as place:
        root = lay_out(pathlib.Path(place).resolve())
        for path in sorted(HERE.glob("*.ipynb")):
            start = time.monotonic()
            notebook = nbformat.read(path, as_version=4)
            if quick:
                unused -= replace(notebook, QUICK)
            execute(notebook, root / "notebooks")
            refuse_paths(notebook, path.name, [str(root), str(HERE.parent)])
            if not quick:
                nbformat.write(notebook, out / path.name)
            print(f"{path.name}: {time.monotonic() - start:.0f} s", flush=True)
    if unused:
        sys.exit(f"no notebook has {', '.join(sorted(unused))}: mend QUICK")


def lay_out(root):
    """Makes a folder that looks like the repository to a notebook, whose paths are all relative."""
    (root / "notebooks").mkdir()
    (root / "testdata").symlink_to(HERE.parent / "testdata")
    return root


def replace(notebook, replacements):
    """Replaces in all cells of code, and returns what was found."""
    found = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            found |= {old for old in replacements if old in cell.source}
            for old, new in replacements.items():
                cell.source = cell.source.replace(old, new)
    return found


def execute(notebook, folder):
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    notebook.metadata = {  # without the version of this machine's Python
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


def refuse_paths(notebook, name, paths):
    for number, cell in enumerate(notebook.cells):
        text = str(cell.get("outputs", ""))
        for path in paths:
            if path in text:
                sys.exit(f"{name}: the output of cell {number} names {path}; print relative paths")


if __name__ == "__main__":
    main()
