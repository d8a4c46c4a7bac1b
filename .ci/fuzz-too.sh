#!/usr/bin/env bash
# Runs a test binary, then each of its fuzz targets on 200 inputs: that they run at all, and on what
# earlier runs found. `go test -exec` of it compiles and links nothing more. Inputs are random changes of the
# seeds, not led by coverage: fuzz.sh is for the finding. Names of targets go to the file $FUZZED.
set -euo pipefail
unset GOGC
"$@"
targets=$(grep -hoE --include='*_test.go' '^func Fuzz\w+' ./* 2>/dev/null || true)
[[ -n $targets ]] || exit 0
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
while read -r _ target; do
	echo "+ fuzz $target"
	"$1" -test.run='^$' "-test.fuzz=^$target\$" -test.fuzztime=200x -test.fuzzminimizetime=1s "-test.fuzzcachedir=$cache" </dev/null
	echo "$PWD $target" >>"$FUZZED"
done <<<"$targets"
