#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, each for a time such as 20m or
# a number of inputs such as 1000x. Inputs are led by coverage, for which all is compiled
# anew. (Some seconds may end with "context deadline exceeded", which is Go's and no
# finding.) What it finds is a file in the package's testdata/fuzz, to be kept: go test
# runs it from then on.
#
#   fuzz.sh TIME [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?usage: .ci/fuzz.sh TIME [TARGET...]}
shift
export CGO_ENABLED=0

grep -rEo --include='*_test.go' '^func Fuzz\w+' . | sort | while IFS=: read -r file line; do
	target=${line#func } package=${file%/*}
	if (($# > 0)) && [[ " $* " != *" $target "* ]]; then
		continue
	fi
	echo "+ fuzz $target of $package for $time"
	"${GO:-go}" test "$package" '-run=^$' "-fuzz=^$target\$" "-fuzztime=$time" -fuzzminimizetime=1s </dev/null | tail -n 20
done
