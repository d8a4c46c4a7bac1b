"""Executes every notebook of this folder, in place or into a folder.

    python execute.py [DIR]

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


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    with tempfile.TemporaryDirectory() as place:
        root = lay_out(pathlib.Path(place).resolve())
        for path in sorted(HERE.glob("*.ipynb")):
            start = time.monotonic()
            notebook = execute(path, root / "notebooks")
            refuse_paths(notebook, path.name, [str(root), str(HERE.parent)])
            nbformat.write(notebook, out / path.name)
            print(f"{path.name}: {time.monotonic() - start:.0f} s", flush=True)


def lay_out(root):
    """Makes a folder that looks like the repository to a notebook, whose paths are all relative."""
    (root / "notebooks").mkdir()
    (root / "testdata").symlink_to(HERE.parent / "testdata")
    return root


def execute(path, folder):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    notebook.metadata = {  # without the version of this machine's Python
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def refuse_paths(notebook, name, paths):
    for number, cell in enumerate(notebook.cells):
        text = str(cell.get("outputs", ""))
        for path in paths:
            if path in text:
                sys.exit(f"{name}: the output of cell {number} names {path}; print relative paths")


if __name__ == "__main__":
    main()
