"""The version of the package: $W2VCL_VERSION, else the tag of the commit, else that of CITATION.cff with the commit behind it."""

import os
import pathlib
import re
import subprocess


def version() -> str:
    given = os.environ.get("W2VCL_VERSION") or _git("describe", "--tags", "--exact-match", "--match", "v*")
    if given:
        # v1.2.0-rc.1 is 1.2.0rc1 to Python.
        return re.sub(r"-(a|alpha|b|beta|rc)\.?", r"\1", given.removeprefix("v"))
    citation = pathlib.Path(__file__).parent.parent / "CITATION.cff"
    [release] = re.findall(r"^version: (\S+)$", citation.read_text(encoding="utf-8"), re.MULTILINE)
    commit = _git("rev-parse", "--short=12", "HEAD")
    return f"{release}+g{commit}" if commit else release


def _git(*args: str) -> str:
    try:
        done = subprocess.run(["git", *args], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print(version())
