#!/usr/bin/env bash
# Runs golangci-lint of one exact version, building it the first time (a few
# minutes on two cores) into a cache folder:
#
#     .ci/golangci-lint.sh run
set -euo pipefail
cd "$(dirname "$0")/.."

version=v2.15.0

cache=${W2VCL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl-tools}
bin=$cache/golangci-lint-$version-$(go env GOVERSION)
if [[ ! -x $bin/golangci-lint ]]; then
	echo "building golangci-lint $version into $bin" >&2
	CGO_ENABLED=0 GOFLAGS= GOBIN=$bin go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
fi
exec "$bin/golangci-lint" "$@"
