#!/usr/bin/env bash
# Two ranks on this host, started by each launcher: the same vectors, the seconds of training, and how long the other lasts after
# rank 1 was killed.
#
#   launchers.sh W2VCL TEXT VENV
#
# W2VCL is built with -tags mpi. VENV has torch, ray[train] and pyspark; Java and Open MPI are installed. The programs of Ray and Spark
# are those of docs/cluster.md.
set -euo pipefail
w2vcl=$(realpath "$1") text=$(realpath "$2") PATH=$(realpath "$3")/bin:$PATH
docs=$(realpath "$(dirname "$0")/../../../docs/cluster.md")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PYTHONWARNINGS=ignore
settings="--corpus $text --mode fullw2v --dim 100 --min-count 50 --threads 1 --quiet"

# program FIRST LAST: the lines of a program of the page, with another command and two ranks.
program() {
	awk -v first="    $1" -v last="    $2" 'index($0, first) == 1 {on = 1} on {print substr($0, 5)} index($0, last) == 1 {on = 0}' "$docs" |
		sed -E "s|w2vcl train [^\"]*|$command|; s/num_workers=4/num_workers=2/; s/range\(4\), 4/range(2), 2/"
}
start() { # start LAUNCHER: runs $command
	case $1 in
	mpirun) mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 2 $command ;;
	torchrun) torchrun --nproc-per-node 2 --no-python $command ;;
	'Ray Train') python <(program 'import subprocess' 'TorchTrainer') ;;
	Spark)
		program 'import os, subprocess' 'spark.sparkContext' >spark.py
		spark-submit --master 'local[2]' spark.py
		;;
	esac
}
ranks() { grep -lzE "^(OMPI_COMM_WORLD_)?RANK=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
alive() { # alive OUT [RANK]: the processes of a run
	local pid
	for pid in $(ranks "${2:-}"); do
		[[ $(readlink "/proc/$pid/exe") == "$w2vcl" ]] && grep -qzF -- "$1" "/proc/$pid/cmdline" && echo "$pid"
	done 2>/dev/null || true
}

printf 'launcher\tvectors\tseconds of training\tseconds from kill to end\tmessage\n'
for launcher in mpirun torchrun 'Ray Train' Spark; do
	rm -rf run lost*
	command="$w2vcl train $settings --epochs 2 --out $dir/run"
	start "$launcher" >log 2>&1 || { cat log && exit 1; }
	[[ -e vectors.bin ]] || cp run/vectors.bin .
	same=same
	cmp -s vectors.bin run/vectors.bin || same=other
	seconds=$(grep -o '"seconds_train": *[0-9.]*' run/summary.json | grep -o '[0-9.]*$')

	command="$w2vcl train $settings --epochs 1000 --checkpoint 20 --out $dir/lost"
	start "$launcher" >log 2>&1 &
	until [[ -e lost.partial/checkpoint/state.safetensors ]]; do sleep .05; done
	kill -KILL $(alive "$dir/lost" 1)
	from=$(date +%s.%N)
	while [[ -n $(alive "$dir/lost") ]]; do sleep .05; done
	took=$(date +%s.%N)
	wait $! && echo 'the launcher says that all is well' && exit 1
	printf '%s\t%s\t%.1f\t%.1f\t%s\n' "$launcher" "$same" "$seconds" "$(bc <<<"$took - $from")" \
		"$(grep -oE 'rank 1 (\([^)]*\) is lost|.*exited on signal.*)' log | head -n 1 | sed 's/ ([^)]*)//')"
done
