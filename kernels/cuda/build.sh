#!/usr/bin/env bash
# Compiles the kernels: PTX for compute_80, which every later GPU can run after the
# driver has compiled it, and machine code for sm_90; of *_small.cu, which sm_90 does not
# need, PTX alone. Needs no GPU.
#
#   build.sh          fill the folder built/, which package cuda embeds
#   build.sh check    compile the sources that differ from those of main, or on main from those of its parent
#   build.sh env      print the cgo settings of go build -tags gpu
#
# A source is compiled once: what becomes of it is kept in the user's cache, by a hash of the source, of what it includes and of
# how it is compiled. Without build.sh a program with the tag gpu links, and says that it has no kernels.
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
# The folders of the sources. The first source of cl takes longest.
folders=(./cl ./subword ./sentence ./vanilla .)
# Drivers refuse PTX that is newer than they are. CUDA 12.0's takes this. check finds what needs a newer one.
ptx_version=8.0

flags=(-std=c++17 -O3 --fmad=true)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl/kernels

main() {
	case ${1:-all} in
	all) build ;;
	check) check ;;
	env) settings ;;
	compile) compile "$2" "$3" ;; # for make_missing
	try) try "$2" ;;              # for check
	*) echo "usage: $0 [check|env]" >&2 && return 2 ;;
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

# find_sources sets sources to the paths of all sources, files to what each includes with itself, and keys to the name that what
# is compiled of it has in the cache.
find_sources() {
	local file name folder source
	declare -gA includes=() files=() keys=()
	cd "$here"
	while IFS=: read -r file name; do
		name=${name#*\"} name=${name%\"*}
		[[ -f ${file%/*}/$name ]] && name=${file%/*}/$name || name=./include/$name
		includes[$file]+=" $name"
	done < <(grep -rH --include='*.cu' --include='*.cuh' '^#include "' .)
	sources=()
	for folder in "${folders[@]}"; do
		sources+=("$folder"/*.cu)
	done
	for source in "${sources[@]}"; do
		files[$source]=''
		add_file "$source" "$source"
		keys[$source]=$({ cat ${files[$source]} && echo "$release $ptx_version ${flags[*]}" && declare -f compile to_version; } | sha256sum | cut -c1-24)
	done
}

# add_file adds a file, and what it includes, to the files of a source.
add_file() {
	local file
	[[ " ${files[$1]} " != *" $2 "* ]] || return 0
	files[$1]+=" $2"
	for file in ${includes[$2]:-}; do
		add_file "$1" "$file"
	done
}

# make_missing compiles those of some sources that the cache lacks, as many at a time as there are processors.
make_missing() {
	local source missing=()
	for source in "$@"; do
		[[ -d $cache/${keys[$source]} ]] || missing+=("$source ${keys[$source]}")
	done
	((${#missing[@]})) || return 0
	find_compiler
	mkdir -p "$cache"
	echo "compiling ${#missing[@]} of ${#sources[@]} sources of CUDA kernels" >&2
	printf '%s\n' "${missing[@]}" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 "$here/build.sh" compile
}

# compile compiles a source into a folder of the cache. It works in the source's folder, so that no path of
# this machine gets into the result.
compile() {
	local name work
	name=$(basename "$1" .cu)
	work=$(mktemp -d "$cache/.$name.XXXXXX")
	cd "$here/$(dirname "$1")"
	flags+=("-I$here/include")
	"$root/bin/nvcc" "${flags[@]}" -arch=compute_80 -ptx -o "$work/$name.ptx" "$name.cu"
	to_version "$work/$name.ptx"
	[[ $name == *_small ]] || "$root/bin/nvcc" "${flags[@]}" -arch=sm_90 -cubin -o "$work/$name.cubin" "$name.cu"
	gzip -9n "$work"/*
	mv -T "$work" "$cache/$2" 2>/dev/null || rm -r "$work" # another work tree was faster
}

# to_version makes PTX one that old drivers take. used_bytes_mask is a hint that they do not know.
to_version() {
	sed -i -e "s/^\.version .*/.version $ptx_version/" -e '/^\/\//d' -e '/used_bytes_mask/d' "$1"
}

# build makes built/ the folder of what all sources become.
build() {
	local source folder
	find_sources
	make_missing "${sources[@]}"
	rm -rf built/*
	for source in "${sources[@]}"; do
		folder=built/$(dirname "$source")
		mkdir -p "$folder"
		touch "$cache/${keys[$source]}"
		ln "$cache/${keys[$source]}"/* "$folder" 2>/dev/null || cp "$cache/${keys[$source]}"/* "$folder"
	done
	find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -r {} + # of sources that nobody has now
}

check() {
	local base source file changed=() wanted=()
	find_sources
	base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
	[[ $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse --verify --quiet HEAD^) || {
		echo 'no commit to compare the CUDA sources with: none was compiled' >&2
		return 0
	}
	mapfile -t changed < <(git diff --name-only --relative "$base" -- . && git ls-files --others --exclude-standard -- .)
	for source in "${sources[@]}"; do
		for file in ${files[$source]}; do
			[[ " ${changed[*]} " != *" $(realpath --relative-to=. "$file") "* ]] || { wanted+=("$source") && break; }
		done
	done
	echo "${#wanted[@]} of ${#sources[@]} CUDA sources differ from those of $base"
	((${#wanted[@]})) || return 0
	(find_compiler) || {
		echo "SKIPPED: nvcc $release cannot be had, so they were not compiled" >&2
		return 0
	}
	printf '%s\n' "${wanted[@]}" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 "$here/build.sh" try
}

# try fails where a source does not compile, or where its PTX has instructions that ptx_version lacks. Code that is not
# optimized takes a tenth of the time.
try() {
	local ptx
	ptx=$(mktemp)
	cd "$here/$(dirname "$1")"
	"$root/bin/nvcc" "${flags[@]}" "-I$here/include" -Ofc=max -arch=compute_80 -ptx -o "$ptx" "$(basename "$1")"
	to_version "$ptx"
	"$root/bin/ptxas" -O0 -arch=sm_80 -o /dev/null "$ptx"
	rm "$ptx"
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
