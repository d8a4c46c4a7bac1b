#!/usr/bin/env bash
# Builds the kernels: PTX for compute_80, which every later GPU can run after the
# driver has compiled it, and machine code for sm_90. Needs no GPU. The bytes
# follow from the sources and the pinned compiler alone.
#
#   build.sh            write built/
#   build.sh check      fail unless built/ is what the sources give
#   build.sh driver     write the library that stands for the driver (driver/)
#   build.sh env        print the cgo settings of go build -tags gpu
#
# The compiler is installed with pip if it is not there: $W2VCL_CUDA names its
# folder, $PIP the pip to use.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
release=13.0.88
toolkit=${W2VCL_CUDA:-${XDG_CACHE_HOME:-$HOME/.cache}/w2vcl/cuda-$release}
root=$toolkit/nvidia/cu13
packages=(
	nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
	nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
)
# Drivers refuse PTX that is newer than they are. CUDA 12.0's takes this.
ptx_version=8.0

flags=(-std=c++17 -O3 --fmad=true)

main() {
	case ${1:-all} in
	all) toolkit && build "$here/built" ;;
	check) toolkit && check ;;
	driver) toolkit && driver ;;
	env) toolkit && settings ;;
	compile) compile "$2" "$3" ;; # for build
	*) echo "usage: $0 [check|driver|env]" >&2 && return 2 ;;
	esac
}

# toolkit installs the compiler unless it is there.
toolkit() {
	if [[ ! -x $root/bin/nvcc ]]; then
		echo "installing nvcc $release into $toolkit" >&2
		local pip=${PIP:-python3 -m pip}
		$pip install --quiet --no-deps --only-binary=:all: --target "$toolkit" "${packages[@]}" >&2
		chmod +x "$root"/bin/* "$root"/nvvm/bin/*
	fi
	if ! "$root/bin/nvcc" --version | grep -q "V$release"; then
		echo "$root/bin/nvcc is not nvcc $release" >&2
		return 1
	fi
}

# build compiles all kernels into a folder, as many at a time as there are processors.
build() {
	mkdir -p "$1"
	cd "$here" # no path of this machine gets into what is built
	printf '%s\n' *.cu | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} "$here/build.sh" compile {} "$1"
}

# compile compiles one source into a folder.
compile() {
	local name=${1%.cu}
	"$root/bin/nvcc" "${flags[@]}" -arch=compute_80 -ptx -o "$2/$name.ptx" "$1"
	sed -i -e "s/^\.version .*/.version $ptx_version/" -e '/^\/\//d' -e '/used_bytes_mask/d' "$2/$name.ptx"
	# used_bytes_mask is a hint that old versions do not have.
	# The assembler refuses instructions that the version does not have.
	"$root/bin/ptxas" -arch=sm_80 -o /dev/null "$2/$name.ptx"
	"$root/bin/nvcc" "${flags[@]}" -arch=sm_90 -cubin -o "$2/$name.cubin" "$1"
}

check() {
	local fresh
	fresh=$(mktemp -d)
	trap "rm -rf '$fresh'" EXIT
	build "$fresh"
	diff -rq "$here/built" "$fresh" || {
		echo 'kernels/cuda/built is not what the sources give: run make kernels and commit it' >&2
		return 1
	}
}

# driver builds a libcuda.a that finds the real driver when the program runs. Its
# folder is that of its sources: other work trees may use the same toolkit.
driver() {
	folder=$toolkit/driver-$(cat "$here"/driver/* | sha256sum | cut -c1-16)
	mkdir -p "$folder"
	"${CC:-cc}" -O2 -Wall -Wno-builtin-declaration-mismatch -c -o "$folder/driver.o" "$here/driver/driver.c"
	rm -f "$folder/libcuda.a"
	ar rcsD "$folder/libcuda.a" "$folder/driver.o"
}

settings() {
	driver
	echo "export CGO_ENABLED=1"
	echo "export CGO_CFLAGS='-O2 -I$here/include -I$root/include'"
	echo "export CGO_LDFLAGS='-L$folder -ldl'"
}

main "$@"
