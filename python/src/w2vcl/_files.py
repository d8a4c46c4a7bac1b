"""Files of vectors, as the program writes them, and temporary folders."""

from __future__ import annotations

import json
import mmap
import pathlib
import shutil
import tempfile
import weakref

import numpy as np
from numpy.typing import NDArray

from ._program import command

Array = NDArray[np.float32]

PREFIX = "w2vcl-"  # of the names of temporary folders


def read(path: pathlib.Path) -> tuple[list[str], Array]:
    """Words and vectors of a file of any format; of a run, those that the program finds there."""
    if path.suffix == ".npy":
        return _read_npy(path)
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    folder = tempfile.mkdtemp(prefix=PREFIX)
    copy = pathlib.Path(folder, "v.npy")
    try:
        command("convert", path, copy)
        words, vectors = _read_npy(copy)
    finally:
        _remove(folder)  # what is mapped stays until nobody uses it
    return words, vectors


def copy_folder(folder: pathlib.Path, path: pathlib.Path, force: bool) -> None:
    """Copies a run folder. With force, the copy replaces a run folder or a file."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another name, or replace it with force=True")
    if path.is_dir() and not (path / "config.toml").exists():
        raise FileExistsError(f"{path} is a folder, but not of a run: choose another name")
    copy = pathlib.Path(tempfile.mkdtemp(prefix=path.name + "-", dir=path.parent))
    try:
        shutil.copytree(folder, copy / "run")
        if path.is_dir():
            path.rename(copy / "old")
        else:
            path.unlink(missing_ok=True)
        (copy / "run").rename(path)
    finally:
        _remove(str(copy))


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _read_npy(path: pathlib.Path) -> tuple[list[str], Array]:
    words = path.with_name(path.name.removesuffix(".npy") + ".words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    vectors = np.load(path, mmap_mode="r")
    if vectors.dtype != np.float32 or vectors.shape[:1] != (len(words),):
        raise ValueError(f"{path}: {vectors.dtype} of shape {vectors.shape} beside {len(words)} words; wanted is float32 of (words, dim)")
    return words, vectors


def _read_safetensors(path: pathlib.Path) -> tuple[list[str], Array]:
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        missing = {"vectors", "words"} - set(header)
        if missing:
            raise ValueError(f"{path}: there is no tensor {' and '.join(sorted(missing))}")
        begin, end = header["words"]["data_offsets"]
        file.seek(8 + size + begin)
        words = file.read(end - begin).decode().split("\n")
    about = header["vectors"]
    if about["dtype"] != "F32":
        raise ValueError(f"{path}: vectors are {about['dtype']}; wanted is F32")
    return words, np.memmap(path, "<f4", "r", 8 + size + about["data_offsets"][0], tuple(about["shape"]))


def read_binary(path: pathlib.Path) -> tuple[list[str], Array]:
    """Words and vectors of a file in word2vec's binary format, as w2vcl writes it."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(b"\n") + 1
        rows, dim = map(int, data[:at].split())
        words: list[str] = []
        vectors = np.empty((rows, dim), "<f4")
        target, size = vectors.data.cast("B"), 4 * dim
        for row in range(rows):
            space = data.find(b" ", at)
            words.append(data[at:space].decode())
            target[row * size:(row + 1) * size] = data[space + 1:space + 1 + size]
            at = space + 1 + size + 1  # a line feed ends the row
    return words, vectors


def temporary(owner: object) -> pathlib.Path:
    """A folder that is removed when its owner is gone, at the latest at the end of Python."""
    folder = tempfile.mkdtemp(prefix=PREFIX)
    weakref.finalize(owner, _remove, folder)
    return pathlib.Path(folder)
