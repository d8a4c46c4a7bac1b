#!/usr/bin/env bash
# Builds the kernels: PTX for compute_80, which every later GPU can run after the
# driver has compiled it, and machine code for sm_90; of hopper.cu, whose instructions
# only sm_90 has, machine code alone, and of *_small.cu, which sm_90 does not need, PTX
# alone. Needs no GPU. The bytes
# follow from the sources and the pinned compiler alone, and are compressed by gzip.
#
#   build.sh            write the folders built/, each beside its sources, and SHA256SUMS
#   build.sh check      fail unless sources and built/ are those of SHA256SUMS
#   build.sh verify     compile all again; fail unless every built/ has the same bytes
#   build.sh env        print the cgo settings of go build -tags gpu
#
# pip installs missing parts: for env CUDA's headers (a download of 2 MB), to compile
# the compiler (104 MB). $W2VCL_CUDA names the compiler's folder,
# $PIP the pip to use.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
release=13.0.88
toolkit=${W2VCL_CUDA:-${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl/cuda-$release}
root=$toolkit/nvidia/cu13
headers=nvidia-cuda-runtime==13.0.96
compiler=(
	nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
	nvidia-cuda-cccl==13.0.85 $headers
)
# The folders of the sources, each with a folder built/.
folders=(. cl sentence sentence/ladder subword vanilla)
# Drivers refuse PTX that is newer than they are. CUDA 12.0's takes this.
ptx_version=8.0

flags=(-std=c++17 -O3 --fmad=true "-I$here/include")

main() {
	case ${1:-all} in
	all) find_compiler && build "$here" && sums >"$here/SHA256SUMS" ;;
	check) check ;;
	verify) find_compiler && verify ;;
	env) settings ;;
	compile) compile "$2" "$3" ;; # for build
	*) echo "usage: $0 [check|verify|env]" >&2 && return 2 ;;
	esac
}

# find_compiler installs the compiler unless it is there.
find_compiler() {
	if [[ ! -x $root/bin/nvcc ]]; then
		echo "downloading nvcc $release (104 MB; 271 MB in $toolkit)" >&2
		pip_install "$toolkit" "${compiler[@]}"
		chmod +x "$root"/bin/* "$root"/nvvm/bin/*
	fi
	if ! "$root/bin/nvcc" --version | grep -q "V$release"; then
		echo "$root/bin/nvcc is not nvcc $release" >&2
		return 1
	fi
}

# find_headers prints the folder of CUDA's headers. It installs them unless they
# or the compiler, which comes with them, are there.
find_headers() {
	local folder=$toolkit/headers # pip leaves a folder alone that is there: the compiler gets another
	if [[ -f $root/include/cuda.h ]]; then
		folder=$toolkit
	elif [[ ! -f $folder/nvidia/cu13/include/cuda.h ]]; then
		echo "downloading the headers of CUDA (2 MB; 7 MB in $folder)" >&2
		pip_install "$folder" "$headers"
	fi
	echo "$folder/nvidia/cu13/include"
}

# pip_install installs packages into a folder.
pip_install() {
	local to=$1 pip=${PIP:-python3 -m pip}
	shift
	PIP_ROOT_USER_ACTION=ignore $pip install --quiet --no-deps --only-binary=:all: --target "$to" "$@" >&2
}

# build compiles all kernels, as many at a time as there are processors: the sources of
# a folder F into $1/F/built.
build() {
	local folder
	for folder in "${folders[@]}"; do
		mkdir -p "$1/$folder/built"
		(cd "$here" && printf '%s\n' "$folder"/*.cu)
	done | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} "$here/build.sh" compile {} "$1"
}

# compile compiles one source. It works in the source's folder, so that no path of
# this machine gets into the result.
compile() {
	local name=${1##*/} to=$2/${1%/*}/built
	cd "$here/${1%/*}"
	name=${name%.cu}
	if [[ $name == hopper ]]; then
		"$root/bin/nvcc" "${flags[@]}" -arch=sm_90a -cubin -o "$to/$name.cubin" "$name.cu"
		gzip -9nf "$to/$name.cubin"
		return
	fi
	"$root/bin/nvcc" "${flags[@]}" -arch=compute_80 -ptx -o "$to/$name.ptx" "$name.cu"
	sed -i -e "s/^\.version .*/.version $ptx_version/" -e '/^\/\//d' -e '/used_bytes_mask/d' "$to/$name.ptx"
	# used_bytes_mask is a hint that old versions do not have.
	# The assembler refuses instructions that the version does not have.
	"$root/bin/ptxas" -arch=sm_80 -o /dev/null "$to/$name.ptx"
	if [[ $name != *_small ]]; then
		"$root/bin/nvcc" "${flags[@]}" -arch=sm_90 -cubin -o "$to/$name.cubin" "$name.cu"
		gzip -9nf "$to/$name.cubin"
	fi
	gzip -9nf "$to/$name.ptx" # all of them are a fifth of 40 MB
}

# sums prints the checksums of all that the kernels follow from, and of the kernels.
sums() {
	(cd "$here" && find . \( -name '*.cu' -o -name '*.cuh' -o -path '*/built/*' -o -name build.sh \) -type f | LC_ALL=C sort | xargs sha256sum)
}

check() {
	if ! diff <(sums) "$here/SHA256SUMS" >/dev/null; then
		diff <(sums) "$here/SHA256SUMS" | grep '^[<>]' | awk '{print $3}' | sort -u
		echo 'these changed since the kernels were built: run make kernels and commit it' >&2
		return 1
	fi
}

verify() {
	local fresh folder same=0
	fresh=$(mktemp -d)
	trap "rm -rf '$fresh'" EXIT
	build "$fresh"
	for folder in "${folders[@]}"; do
		diff -rq "$here/$folder/built" "$fresh/$folder/built" || same=1
	done
	((same == 0)) || echo 'built/ does not follow from the sources: run make kernels and commit it' >&2
	return "$same"
}

# build_driver builds a libcuda.a that finds the real driver when the program runs,
# and prints its folder. Its name follows from the sources: other work trees may use
# the same cache.
build_driver() {
	local folder
	folder=$toolkit/driver-$(cat "$here"/driver/* | sha256sum | cut -c1-16)
	mkdir -p "$folder"
	"${CC:-cc}" -O2 -Wall -Wno-builtin-declaration-mismatch -c -o "$folder/driver.o" "$here/driver/driver.c"
	rm -f "$folder/libcuda.a"
	ar rcsD "$folder/libcuda.a" "$folder/driver.o"
	echo "$folder"
}

settings() {
	local include driver
	include=$(find_headers)
	driver=$(build_driver)
	echo "export CGO_ENABLED=1"
	echo "export CGO_CFLAGS='-O2 -I$here/driver -I$include'"
	echo "export CGO_LDFLAGS='-L$driver -ldl'"
}

main "$@"
