#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, each for a time such as 2s
# or 20m. What it finds is a file in the package's testdata/fuzz, to be kept: go test
# runs it from then on.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?usage: .ci/fuzz.sh TIME [TARGET...]}
shift

grep -rEo --include='*_test.go' '^func Fuzz\w+' . | sort | while IFS=: read -r file line; do
	target=${line#func }
	if (($# > 0)) && [[ " $* " != *" $target "* ]]; then
		continue
	fi
	echo "+ go test ${file%/*} -fuzz $target -fuzztime $time"
	CGO_ENABLED=0 "${GO:-go}" test "${file%/*}" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1s </dev/null | tail -n 20
done
