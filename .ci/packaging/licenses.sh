#!/usr/bin/env bash
# Writes the licences of everything in the program that is not ours: the modules that are linked on any platform, Go itself, and
# the data of WordNet. Needs Go.
#
#   licenses.sh FILE
set -euo pipefail

[[ $# == 1 ]] || { sed -n '5p' "$0" >&2 && exit 2; }
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

{
	for platform in linux/amd64 darwin/arm64 windows/amd64; do
		GOOS=${platform%/*} GOARCH=${platform#*/} go list -deps -tags gpu \
			-f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/w2vcl
	done | sort -u
	echo "Go $(go env GOVERSION) $(go env GOROOT)"
	echo "WordNet 3.0 $PWD/testdata/licenses"
} | while read -r path version dir; do
	texts=$(find "$dir" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -name WordNet.txt \) | sort)
	[[ -n $texts ]] || { echo "$path $version has no licence at $dir" >&2 && exit 1; }
	printf '\n==== %s %s\n\n' "$path" "$version"
	xargs -d '\n' cat <<<"$texts"
done >"$out"
