"""The version of the package: $W2VCL_VERSION, else the tag of the commit, else 0.0.0 with the commit behind it."""

import os
import pathlib
import re
import subprocess


def version() -> str:
    given = os.environ.get("W2VCL_VERSION") or _git("describe", "--tags", "--exact-match", "--match", "v*")
    if given:
        # v1.2.0-rc.1 is 1.2.0rc1 to Python.
        return re.sub(r"-(a|alpha|b|beta|rc)\.?", r"\1", given.removeprefix("v"))
    commit = _git("rev-parse", "--short=12", "HEAD")
    return "0.0.0+g" + commit if commit else "0.0.0"


def _git(*args: str) -> str:
    try:
        done = subprocess.run(["git", *args], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
