#!/usr/bin/env bash
# Ranks with a GPU each on a host with two: run.sh W2VCL TEXT SETS OUT. W2VCL is built by make cuda-mpi.
set -uo pipefail
w2vcl=$(realpath "$1") text=$(realpath "$2") sets=$(realpath "$3") out=$4
mkdir -p "$out" && cd "$out" || exit 1
export NCCL_NVLS_ENABLE=0
ranks() { mpirun --bind-to none --oversubscribe -n 2 "$w2vcl" "$@"; }

head -c 20000000 "$text" >small.txt; echo >>small.txt
cl="train --mode cl --tempering 0 --positives 1 --shared-negatives 0 --min-count 50 --dim 500 --window 2 --contexts 512 --epochs 1 --seed 1 --threads 12 --quiet --corpus small.txt"
"$w2vcl" $cl --device cuda:0 --out cl-gpu
"$w2vcl" $cl --device cuda:0,1 --out cl-gpus
ranks $cl --device cuda --out cl-ranks
sha256sum cl-*/vectors.bin cl-*/context.bin

full="train --mode fullw2v --min-count 5 --dim 128 --sample 1e-4 --seed 1 --threads 12 --quiet --corpus $text"
"$w2vcl" $full --epochs 20 --device cuda:0,1 --out full-gpus
ranks $full --epochs 20 --device cuda --out full-ranks
"$w2vcl" $full --epochs 20 --sync 16000000 --device cuda:0,1 --out full-gpus-16M
ranks $full --epochs 20 --sync 16000000 --device cuda --out full-ranks-16M
for run in full-*; do "$w2vcl" eval "$run" --data "$sets"; done
grep -h words_per_second ./*/summary.json

# stop SIGNAL OUT: a run of ranks is stopped after its first checkpoint.
stop() {
	mpirun --bind-to none --oversubscribe -n 2 "$w2vcl" $full --epochs 300 --checkpoint 1s --device cuda --out "$2" & local pid=$! status=0 from
	until [[ -e $2.partial/checkpoint/state.safetensors ]]; do sleep .05; done
	sleep .5
	from=$(date +%s.%N)
	if [[ $1 == KILL ]]; then kill -KILL "$(pgrep -P "$pid" | tail -n 1)"; else kill "-$1" "$pid"; fi
	wait "$pid" || status=$?
	echo "$1: status $status after $(echo "$(date +%s.%N) - $from" | bc) s"
}
stop KILL lost && "$w2vcl" resume lost --device cuda:0,1 --quiet
stop USR2 saved && ranks resume saved --quiet
