#!/usr/bin/env bash
# Runs golangci-lint of one exact version, building it the first time (two minutes on two cores) into a cache folder:
#
#     .ci/golangci-lint.sh run
#
# The program is built with the linters that .golangci.yml enables: all hundred of them take twice as long to compile.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v2.15.0
module=github.com/golangci/golangci-lint/v2

linters=$(sed -n '/^  enable:/,/^  [a-z]*:$/s/^    - //p' .golangci.yml | paste -sd' ')
cache=${W2VCL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl-tools}
bin=$cache/golangci-lint-$version-$(go env GOVERSION)-$(cksum <<<"$linters" | cut -d' ' -f1)

# build compiles a copy of golangci-lint whose list of linters, where each is a paragraph, has only what is enabled.
build() {
	local dir copy list=pkg/lint/lintersdb/builder_linter.go
	dir=$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	copy=$(mktemp -d)
	trap "rm -rf '$copy'" EXIT
	cp -r --no-preserve=mode "$dir"/{go.mod,go.sum,cmd,internal,pkg,jsonschema} "$copy"
	awk -v linters="$linters" '
		BEGIN { split(linters " golinters", names, " "); for (i in names) enabled[names[i]] }
		match($0, /golinters\/[a-z0-9_]+"$/) && !(substr($0, RSTART + 10, RLENGTH - 11) in enabled) { next }
		match($0, /^\t\tlinter\.NewConfig\([a-z0-9_]+\./) { skip = !(substr($0, RSTART + 19, RLENGTH - 20) in enabled) }
		!skip
		/^$/ { skip = 0 }
	' "$dir/$list" >"$copy/$list"
	cd "$copy"
	CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -ldflags='-s -w' -o "$bin/golangci-lint" ./cmd/golangci-lint
	cd - >/dev/null
}

if [[ ! -x $bin/golangci-lint ]]; then
	echo "building golangci-lint $version into $bin" >&2
	build
fi
exec "$bin/golangci-lint" "$@"
