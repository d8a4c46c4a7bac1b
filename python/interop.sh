#!/usr/bin/env bash
# Checks a wheel's vectors with every library of tests/interop.py, in a virtual environment made
# for it (a download of 300 MB):
#
#   interop.sh WHEEL [PYTHON]
set -euo pipefail

[[ $# == 1 || $# == 2 ]] || { sed -n '2,5p' "$0" >&2 && exit 2; }
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
"${2:-python3}" -m venv "$work"
"$work/bin/python" -m pip install --quiet --no-compile --no-deps --only-binary=:all: -r tests/interop.txt "$wheel"
HF_HUB_OFFLINE=1 "$work/bin/python" tests/interop.py --all
