#!/usr/bin/env bash
# Executes the notebooks, in place or into a folder:
#
#   run.sh          write the outputs into the notebooks
#   run.sh DIR      leave the notebooks alone, write executed copies to DIR
#   run.sh --quick [WHEEL]  train with little work to see whether every cell runs, and write nothing
#
# Installs requirements.txt into notebooks/.venv when it changed, and w2vcl of this work tree or of the wheel.
set -euo pipefail

out=${1:-} wheel=${2:+$(realpath "$2")}
if [[ -n $out && $out != --quick ]]; then
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
fi
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! cmp -s requirements.txt .venv/installed.txt; then
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
		echo "the notebooks need Python 3.11 or later, this is $(python3 --version)" >&2
		exit 1
	}
	echo 'installing requirements.txt into notebooks/.venv' >&2
	rm -rf .venv
	python3 -m venv .venv
	# Compiling all of it takes longer than using what is used.
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements.txt
	cp requirements.txt .venv/installed.txt
fi

if [[ -z $wheel ]]; then
	wheels=$(mktemp -d)
	trap 'rm -rf "$wheels"' EXIT
	PIP="$PWD/.venv/bin/python -m pip" ../.ci/packaging/wheel.sh "$wheels" host >/dev/null
	wheel=$(echo "$wheels"/*.whl)
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --force-reinstall "$wheel"
.venv/bin/python execute.py ${out:+"$out"}
