#!/usr/bin/env bash
# Builds w2vcl for a platform, as it is released:
#
#   binary.sh PLATFORM FILE
#
# PLATFORM is linux-amd64 (with the CUDA kernels; starts without a driver, and on any Linux with
# glibc 2.17 or later), linux-arm64, darwin-arm64, darwin-amd64, windows-amd64 (pure Go; those for
# Linux are static), or host (pure Go, for this machine).
#
# linux-amd64 needs pip, which installs a C compiler that links against an old glibc (zig, 100 MB)
# and CUDA's compiler (104 MB) into the user's cache. To compile the kernels takes some minutes the first time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
zig=0.17.1
flags=(-trimpath -buildvcs=auto '-ldflags=-s -w')

main() {
	[[ $# == 2 ]] || { sed -n '2,4p' "$0" >&2 && return 2; }
	local out
	mkdir -p "$(dirname "$2")"
	out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
	cd "$root"
	case $1 in
	host) CGO_ENABLED=0 go build "${flags[@]:1}" -o "$out" ./cmd/w2vcl ;; # with paths: from what other builds here have compiled
	linux-amd64) with_cuda "$out" ;;
	linux-arm64 | darwin-arm64 | darwin-amd64 | windows-amd64)
		CGO_ENABLED=0 GOOS=${1%-*} GOARCH=${1#*-} go build "${flags[@]}" -o "$out" ./cmd/w2vcl
		;;
	*) echo "$1: no such platform" >&2 && return 2 ;;
	esac
}

# The program is linked against libc and libdl alone; it looks for the driver when it runs.
with_cuda() {
	export W2VCL_ZIG=${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl/zig-$zig
	if [[ ! -x $W2VCL_ZIG/ziglang/zig ]]; then
		echo "downloading zig $zig (100 MB)" >&2
		PIP_ROOT_USER_ACTION=ignore ${PIP:-python3 -m pip} install --quiet --no-deps --only-binary=:all: --no-compile \
			--target "$W2VCL_ZIG" "ziglang==$zig" >&2
	fi
	export CC=$root/.ci/packaging/zigcc
	if ! command -v ar >/dev/null; then # of binutils, which comes with a C compiler
		mkdir -p "$W2VCL_ZIG/bin"
		printf '#!/bin/sh\nexec "%s/ziglang/zig" ar "$@"\n' "$W2VCL_ZIG" >"$W2VCL_ZIG/bin/ar"
		chmod +x "$W2VCL_ZIG/bin/ar"
		PATH=$PATH:$W2VCL_ZIG/bin
	fi
	"$root/kernels/cuda/build.sh"
	eval "$("$root/kernels/cuda/build.sh" env)"
	GOOS=linux GOARCH=amd64 go build -tags gpu,netgo,osusergo "${flags[@]}" -o "$1" ./cmd/w2vcl
}

main "$@"
