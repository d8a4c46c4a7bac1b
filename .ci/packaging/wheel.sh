#!/usr/bin/env bash
# Builds Python wheels that carry the program:
#
#   wheel.sh [DIR [PLATFORM...]]
#
# DIR is dist without arguments; platforms are linux-amd64, linux-arm64 and darwin-arm64, all
# without arguments, or host for one that is used here. See binary.sh. Needs Go and pip; $PIP names the pip to use.
set -euo pipefail

packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-dist}
platforms=("${@:2}")
((${#platforms[@]})) || platforms=(linux-amd64 linux-arm64 darwin-arm64)

# The tags of PEP 425. A static program runs beside any C library. Go 1.26 needs macOS 12.
declare -A tags=(
	[linux-amd64]=manylinux_2_17_x86_64.manylinux2014_x86_64
	[linux-arm64]=manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64
	[darwin-arm64]=macosx_12_0_arm64
	[host]=host
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for platform in "${platforms[@]}"; do
	[[ -n ${tags[$platform]:-} ]] || { echo "$platform: there is no wheel for it" >&2 && exit 2; }
	"$packaging/binary.sh" "$platform" "$work/$platform/w2vcl"
	tag=${tags[$platform]}
	[[ $tag != host ]] || tag=''
	W2VCL_BINARY=$work/$platform/w2vcl W2VCL_PLATFORM=$tag \
		${PIP:-python3 -m pip} wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" "$packaging/../../python"
done
ls -l "$out"
