#!/usr/bin/env bash
# Runs the experiments of the papers, all or those that are named:
#
#     benchmarks/experiments/run.sh [--quick] [--list] [--corpus FILE] [--data DIR] [--device NAME] [--out DIR] [PAPER | PAPER/FIGURE]...
#
# --quick makes a small version of each, to see that all works: minutes on two cores. --list only names
# them. An experiment is a file for `w2vcl compare --config`, or a script. Each has a folder
# in DIR, with what it printed in log.txt; one that is finished is not run again. W2VCL names the
# program (default: w2vcl).
# Exit status: 0, or 1 if an experiment failed; the others run all the same.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() {
	sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
	exit "$1"
}

export W2VCL=${W2VCL:-w2vcl} CORPUS=$here/../../testdata/sotu.txt.zst DEVICE=cpu QUICK=
out=reports/papers
list=''
compare=()
names=()
while (($#)); do
	case $1 in
	--quick) QUICK=1 && compare+=(--quick) ;;
	--list) list=1 ;;
	--corpus | --data | --device | --out)
		(($# > 1)) || { echo "run.sh: $1 needs a value" >&2 && exit 2; }
		case $1 in
		--corpus) CORPUS=$(realpath "$2") ;;
		--data) DATA=$(realpath "$2") && export DATA && compare+=(--data "$DATA") ;;
		--device) DEVICE=$2 && compare+=(--device "$2") ;;
		--out) out=$2 ;;
		esac
		shift
		;;
	-h | --help) usage 0 ;;
	-*) echo "run.sh: unknown flag $1" >&2 && usage 2 >&2 ;;
	*) names+=("$1") ;;
	esac
	shift
done

# wanted: the files of the experiments that are named, all of them without a name.
wanted=()
for file in "$here"/*/*.toml "$here"/*/*.sh; do
	name=${file#"$here/"} name=${name%.*}
	((${#names[@]})) || wanted+=("$file")
	for each in ${names[@]+"${names[@]}"}; do
		if [[ $name == "$each" || $name == "$each"/* ]]; then
			wanted+=("$file")
			break
		fi
	done
done
if ((${#wanted[@]} == 0)); then
	echo "run.sh: no experiment is called ${names[*]}" >&2
	exit 2
fi
if [[ $list ]]; then
	for file in "${wanted[@]}"; do
		printf '%-22s %s\n' "$(file=${file#"$here/"} && echo "${file%.*}")" "$(sed -n -e 's/^title = "\(.*\)"$/\1/p' -e 's/^# title: //p' "$file")"
	done
	exit 0
fi

command -v "$W2VCL" >/dev/null || { echo "run.sh: there is no program $W2VCL: build it with 'make build' and say W2VCL=bin/w2vcl" >&2 && exit 1; }
W2VCL=$(realpath "$(command -v "$W2VCL")")
compare+=(--corpus "$CORPUS")
if [[ $(basename "$CORPUS") == sotu.txt.zst ]]; then # the text that comes with w2vcl is raw
	compare+=(--tokenizer words --lowercase)
fi
mkdir -p "$out"
out=$(realpath "$out")

# run_one FILE: an experiment, unless it is done; says how it ended.
run_one() {
	local file=$1 name folder start=$SECONDS flags=() command
	name=${file#"$here/"} name=${name%.*}
	folder=$out/$name
	if [[ -e $folder/done ]]; then
		echo "$name: done before"
		return
	fi
	mkdir -p "$folder"
	if [[ $file == *.toml ]]; then
		# psgnscc has no kernels for GPUs.
		if [[ $DEVICE == cuda* ]] && grep -q '^modes.*psgnscc' "$file"; then
			flags=(--modes "$(sed -n 's/^modes *= *\[\(.*\)\].*/\1/p' "$file" | tr -d '" ' | sed 's/psgnscc,//')")
		fi
		if grep -q '^threads *=' "$file"; then # threads are the CPU's
			flags+=(--device cpu)
		fi
		command=("$W2VCL" compare --config "$file" "${compare[@]}" ${flags[@]+"${flags[@]}"} --out "$folder")
	else
		command=(env OUT="$folder" bash "$file")
	fi
	if "${command[@]}" >"$folder/log.txt" 2>&1 </dev/null; then
		touch "$folder/done"
		echo "$name: $((SECONDS - start)) s"
	else
		echo "$name: FAILED, see $folder/log.txt: $(tail -1 "$folder/log.txt")"
	fi
}

for file in "${wanted[@]}"; do
	run_one "$file"
done
failed=0
for file in "${wanted[@]}"; do
	name=${file#"$here/"}
	[[ -e $out/${name%.*}/done ]] || failed=$((failed + 1))
done
echo "${#wanted[@]} experiments, $failed failed; results in $out"
((failed == 0))
