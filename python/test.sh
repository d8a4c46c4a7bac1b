#!/usr/bin/env bash
# Tests a wheel in a virtual environment made for it:
#
#   test.sh WHEEL [PYTHON]
#
# First what a user does: install it beside gensim, train, ask (tests/quickstart.py). Then
# the tests, types, what other libraries read, and whether the wheel's tag is true.
set -euo pipefail

[[ $# == 1 || $# == 2 ]] || { sed -n '2,4p' "$0" >&2 && exit 2; }
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
python=${2:-python3}
cd "$(dirname "${BASH_SOURCE[0]}")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

from=$SECONDS
"$python" -m venv "$work"
# Compiling all of it takes longer than using what is used.
"$work/bin/python" -m pip install --quiet --no-compile -c tests/requirements.txt "$wheel" gensim
echo "installed with $("$work/bin/python" --version) after $((SECONDS - from)) s"
"$work/bin/python" tests/quickstart.py
echo "installed, trained and asked in $((SECONDS - from)) s"

"$work/bin/python" -m pip install --quiet --no-compile --no-deps -r tests/requirements.txt
export MYPY_CACHE_DIR=$work/mypy # what tests check the types of imports the same
"$work/bin/pytest" # not python -m pytest, which would import the sources beside it
"$work/bin/mypy"
"$work/bin/python" tests/interop.py
if [[ $wheel == *manylinux*x86_64.whl ]]; then
	"$work/bin/auditwheel" show "$wheel" >"$work/shown"
	# The oldest Linux that it may run on: the wheel's tag must not promise an older one.
	grep -E 'manylinux_2_(5|12|17)_x86_64' <(tr -d '\n' <"$work/shown") >/dev/null ||
		{ cat "$work/shown" >&2 && echo "the tag of $wheel is not true" >&2 && exit 1; }
fi
