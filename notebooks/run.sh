#!/usr/bin/env bash
# Executes the notebooks, in place or into a folder:
#
#   run.sh          write the outputs into the notebooks
#   run.sh DIR      leave the notebooks alone, write executed copies to DIR
#
# Builds bin/w2vcl, and installs requirements.txt into notebooks/.venv when it changed.
set -euo pipefail

out=''
if [[ -n ${1:-} ]]; then
	mkdir -p "$1"
	out=$(cd "$1" && pwd)
fi
cd "$(dirname "${BASH_SOURCE[0]}")"

(cd .. && CGO_ENABLED=0 go build -o bin/ ./cmd/w2vcl)

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
exec .venv/bin/python execute.py ${out:+"$out"}
