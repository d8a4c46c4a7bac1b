#!/usr/bin/env bash
# A rank by MPI is killed at a random moment, kills.sh N times: the job must end within 10 seconds and not with 0, and the run must go on to the
# vectors of one that nobody killed. The modes take turns. Needs Go and Open MPI; not a part of .ci/run, for it takes some 5 seconds a kill.
set -euo pipefail
cd "$(dirname "$0")/.."
kills=${1:-50}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
go build -tags mpi -o "$dir/w2vcl" ./cmd/w2vcl
cd "$dir"
for i in $(seq 2500); do # words that differ much in frequency
	echo "a b$((i % 3)) c$((i % 7)) d$((i % 31)) e$((i % 53)) f$((i * i % 211)) g$((i * 7 % 83)) h$((i * i % 97))"
done >text

mpi=(mpirun --oversubscribe --bind-to none --mca btl self,vader,tcp --mca mpi_yield_when_idle 1 -n 2)
common="--corpus text --dim 50 --threads 1 --checkpoint 20 --quiet"
modes=("cl --contexts 400 --epochs 8 --tempering 0 --positives 1 --shared-negatives 0" "cl --contexts 400 --epochs 4" "fullw2v --epochs 150 --sync 3000")
names=(columns rows text)
for m in 0 1 2; do "${mpi[@]}" ./w2vcl train --mode ${modes[m]} $common --out "whole-$m"; done

printf '%-5s %-8s %-5s %-22s %-10s %-9s %s\n' kill mode rank when exit seconds vectors
good=0
for i in $(seq "$kills"); do
	m=$((i % 3)) status=0 rank=$((RANDOM % 2)) when=checkpoint
	rm -rf run run.partial
	"${mpi[@]}" ./w2vcl train --mode ${modes[m]} $common --out run >log 2>&1 &
	pid=$!
	for _ in $(seq 400); do (($(pgrep -c -P "$pid" -x w2vcl || true) == 2)) && break || sleep .02; done
	if ((RANDOM % 4 == 0)); then # perhaps before there is a checkpoint
		when=any
	else
		for _ in $(seq 400); do [[ -e run.partial/checkpoint/state.safetensors ]] && break || sleep .02; done
	fi
	sleep ".$(printf %03d $((RANDOM % 600)))"
	victim=$(pgrep -P "$pid" -x w2vcl | sed -n "$((rank + 1))p" || true)
	from=$(date +%s%N)
	if [[ -n $victim ]]; then kill -KILL "$victim" || true; else when=late; fi
	wait "$pid" || status=$?
	took=$((($(date +%s%N) - from) / 1000000))
	if [[ $status != 0 ]]; then # a run that had ended is complete
		if [[ ! -e run && ! -e run.partial ]]; then
			"${mpi[@]}" ./w2vcl train --mode ${modes[m]} $common --out run
			when+=', nothing to resume'
		else
			"${mpi[@]}" ./w2vcl resume run --quiet >>log 2>&1 || cat log
		fi
	fi
	same=differ
	if cmp -s "whole-$m/vectors.bin" run/vectors.bin; then same=same; fi
	if [[ $same == same && $took -lt 10000 && ($status != 0 || $when == late) ]]; then good=$((good + 1)); fi
	printf '%-5s %-8s %-5s %-22s %-10s %-9s %s\n' "$i" "${names[m]}" "$rank" "$when" "$status" "$((took / 1000)).$(printf %03d $((took % 1000)))" "$same"
done
echo "$good of $kills are good"
((good == kills))
