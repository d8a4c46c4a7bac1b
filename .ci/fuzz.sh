#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, each for a time such as 20m or
# a number of inputs such as 1000x. (Some seconds may end with "context deadline
# exceeded", which is Go's and no finding.) What it finds is a file in the package's
# testdata/fuzz, to be kept: go test runs it from then on.
#
#   fuzz.sh TIME [TARGET...]    inputs are led by coverage, for which all is compiled anew
#   fuzz.sh blind TIME          inputs are random changes of the seeds; quicker to start
set -euo pipefail
cd "$(dirname "$0")/.."
blind=''
if [[ ${1:-} == blind ]]; then
	blind=$(mktemp -d)
	trap 'rm -rf "$blind"' EXIT
	shift
fi
time=${1:?usage: .ci/fuzz.sh [blind] TIME [TARGET...]}
shift
export CGO_ENABLED=0
go=${GO:-go}

# fuzz runs a target of a package; its arguments are a command and the prefix of its flags.
fuzz() {
	local target=$1 prefix=$2
	shift 2
	"$@" "-${prefix}run=^\$" "-${prefix}fuzz=^$target\$" "-${prefix}fuzztime=$time" "-${prefix}fuzzminimizetime=1s" </dev/null | tail -n 20
}

grep -rEo --include='*_test.go' '^func Fuzz\w+' . | sort | while IFS=: read -r file line; do
	target=${line#func } package=${file%/*}
	if (($# > 0)) && [[ " $* " != *" $target "* ]]; then
		continue
	fi
	echo "+ fuzz $target of $package for $time"
	if [[ -z $blind ]]; then
		fuzz "$target" '' "$go" test "$package"
		continue
	fi
	binary=$blind/${package//\//-}.test
	[[ -x $binary ]] || "$go" test -c -o "$binary" "$package"
	(cd "$package" && fuzz "$target" test. "$binary" "-test.fuzzcachedir=$blind/cache")
done
