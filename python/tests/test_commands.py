"""The commands of README.md and docs/guide.md run in order, in a folder with the files that they name."""

import gzip
import pathlib
import random
import re
import shutil
import subprocess
import sys

import pytest

import w2vcl

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What needs a GPU, another program's model, a minute and more, or a network that nobody may pass on.
ELSEWHERE = re.compile(r"cuda|w2vcl demo|runs/demo|--budget 60s|vanilla-long|cc\.(en|de)\.300|blogcatalog|walks\.txt|runs/blogs")

# What trains long is told to train less.
LESS = {"w2vcl compare --corpus": "w2vcl compare --quick --budget 300ms --corpus", "--iterations 4096": "--iterations 1024", "--preset paper": "--preset paper --contexts 64"}


def indented(document):
    """The blocks of code that have no language."""
    blocks = re.findall(r"^\n((?:    .*\n)+)", document.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


def commands(document):
    """The commands in indented blocks; a line that begins with spaces continues the one before."""
    return [command for block in indented(document)
            for command in re.findall(r"^(?:w2vcl|until|zcat|cut) .*(?:\n +.*)*", block, re.MULTILINE) if not ELSEWHERE.search(command)]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with the files of the documents, and the command w2vcl."""
    draw = random.Random(1)
    topics = [[f"{name}{i}" for i in range(16)] for name in ("cat", "red", "new")]
    text = "".join(" ".join(draw.choices(draw.choice(topics), k=8)) + "\n" for _ in range(600))
    text += "paris mathematics definitely\n" * 60  # the documents ask for these, or for words that share n-grams with them
    files = {name: text for name in ("wiki.txt", "more.txt", "reports.txt", "news.txt", "books/a.txt", "commoncrawl/a.txt")}
    files |= {
        "sets/pairs.txt": "cat1 cat2 9\ncat1 red1 1\nred2 red3 8\nnew1 cat5 2\n", "countries.txt": "cat1\ncat2\nred1\n",
        "sets/groups.csv": "category,word\n" + "".join(f"{topic[0]},{word}\n" for topic in topics for word in topic),
        "sentences/feelings.txt": "".join(f"{i % 2}\t{' '.join(draw.choices(topics[i % 2], k=6))}\n" for i in range(40)),
        "rare-words.txt": "catty\nreddish\n", "friends.csv": "".join(f"{draw.randrange(30)},{draw.randrange(30)}\n" for _ in range(200)),
        "bin/w2vcl": f'#!/bin/sh\nexec {pathlib.Path(w2vcl.__file__).parent / "bin" / "w2vcl"} "$@"\n',  # test_guide starts it by Python
    }
    for block in indented(ROOT / "docs" / "guide.md"):
        if block.startswith("title = "):
            files["windows.toml"] = block
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "bin" / "w2vcl").chmod(0o755)
    (tmp_path / "news.gz").write_bytes(gzip.compress(text.encode()))
    for seed in (1, 2, 3, 4):
        run = w2vcl.train(tmp_path / "wiki.txt", dim=8, iterations=16, seed=seed, out=tmp_path / "runs" / f"seed{seed}", progress=False)
    for name in ("gensim.bin", "gensim2.bin"):
        shutil.copy(run.path / "vectors.bin", tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("document, least", [("README.md", 5), ("docs/guide.md", 45)])
def test_commands(work, document, least):
    found = commands(ROOT / document)
    assert len(found) >= least, found
    for command in found:
        for long, short in LESS.items():
            command = command.replace(long, short)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
        assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("document", ["README.md", "python/README.md"])
def test_python(work, document):
    """Blocks of Python that are indented run, too."""
    pytest.importorskip("tqdm")
    scope = {"tqdm": __import__("tqdm").tqdm, "w2vcl": w2vcl}
    found = [block for block in indented(ROOT / document) if "w2vcl.train" in block]
    assert found
    for block in found:
        exec(compile(block, document, "exec"), scope)
