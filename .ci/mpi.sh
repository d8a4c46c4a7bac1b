#!/usr/bin/env bash
# Ranks by MPI on this host: Open MPI with 2 and 3 ranks, MPICH with 2. The same
# vectors again, by TCP as well; signals, a lost rank and wrong use. Needs Go and
# the libraries, which it installs where apt-get can.
set -euo pipefail
cd "$(dirname "$0")/.."

find_mpi() { command -v mpirun.openmpi >/dev/null && command -v mpirun.mpich >/dev/null; }
if ! find_mpi; then
	if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null || ! .ci/apt.sh openmpi-bin mpich >/dev/null || ! find_mpi; then
		echo 'SKIPPED: this needs Open MPI and MPICH and they could not be installed'
		exit 0
	fi
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0 W2VCL_NEED_MPI=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export GOGC=400 # for the compiler
go test -c -tags mpi -o "$dir/mpi.test" ./train/cluster
go build -tags mpi -buildvcs=false -o "$dir/w2vcl" ./cmd/w2vcl # of no version, so that its checksum counts
unset GOGC

# Ranks that wait let others run: other parts of CI take processors, too.
openmpi=(mpirun.openmpi --oversubscribe --bind-to none --mca btl self,vader,tcp --mca mpi_yield_when_idle 1)
open_mpi() { timeout 300 "${openmpi[@]}" -n "$@"; }
mpich() { timeout 300 mpirun.mpich -n "$@"; }
same() {
	if ! cmp "$1" "$2"; then
		echo "$3"
		exit 1
	fi
}
fails() { # fails TEXT COMMAND...: the command fails and says the text
	local text=$1 said
	shift
	if said=$("$@" 2>&1) || ! grep -qF "$text" <<<"$said"; then
		printf '%s\nshould fail and say: %s\n%s\n' "$*" "$text" "$said"
		exit 1
	fi
}

echo '+ calls of MPI'
for n in 1 2 3; do open_mpi "$n" "$dir/mpi.test" -test.run TestMPI >/dev/null; done
mpich 2 "$dir/mpi.test" -test.run TestMPI >/dev/null

cd "$dir"
for i in $(seq 2500); do # words that differ much in frequency
	echo "a b$((i % 3)) c$((i % 7)) d$((i % 31)) e$((i % 53)) f$((i * i % 211)) g$((i * 7 % 83)) h$((i * i % 97))"
done >text

echo '+ vectors of 2 ranks'
T="train --corpus text --mode fullw2v --dim 50 --epochs 150 --sync 3000 --threads 1 --checkpoint 20 --quiet"
open_mpi 2 ./w2vcl $T --out one
open_mpi 2 ./w2vcl $T --out two && same one/vectors.bin two/vectors.bin 'the vectors of 2 ranks differ'
tcp() { env RANK="$1" WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 ./w2vcl $T --out tcp; }
(tcp 1 &) && tcp 0 && same one/vectors.bin tcp/vectors.bin 'the vectors of 2 ranks by TCP differ'
mpich 2 ./w2vcl $T --out pich && same one/vectors.bin pich/vectors.bin 'the vectors of 2 ranks of MPICH differ'

# stop SIGNAL: a run of two ranks is stopped and goes on with the same bits.
stop() {
	local out=run-$1 pid status=0 from
	"${openmpi[@]}" -n 2 ./w2vcl $T --out "$out" >"$out.log" 2>&1 &
	pid=$!
	for _ in $(seq 30000); do [[ -e $out.partial/checkpoint/state.safetensors ]] && break || sleep .01; done
	from=$SECONDS
	if [[ $1 == lost ]]; then
		kill -KILL "$(pgrep -P $pid | tail -n 1)"
	else
		kill -"$1" $pid
	fi
	wait $pid || status=$?
	echo "+ $1: ended with $status after $((SECONDS - from)) s"
	if ((status == 0 || SECONDS - from > 60)); then
		cat "$out.log"
		exit 1
	fi
	if [[ $1 == USR2 && $status != 130 ]]; then
		echo 'SIGUSR2 should save and end with 130'
		exit 1
	fi
	open_mpi 2 ./w2vcl resume "$out" --quiet
	same one/vectors.bin "$out/vectors.bin" "the vectors after $1 differ"
}
stop USR2
stop TERM
stop lost

echo '+ wrong use'
fails 'ranks cannot train with --mode cl on CPUs: take a sentence-ordered mode' open_mpi 3 ./w2vcl train --corpus text --out cl
fails 'rank 1: the settings differ from those of rank 0: --dim 51' open_mpi 1 ./w2vcl $T --out differ : -n 1 ./w2vcl $T --dim 51 --out differ
mkdir other && cp w2vcl other && printf x >>other/w2vcl
fails 'rank 1: the version of w2vcl is ' open_mpi 1 ./w2vcl $T --out versions : -n 1 ./other/w2vcl $T --out versions
fails 'a command for one' open_mpi 2 ./w2vcl matrix build --corpus text --matrix m
fails 'a command for one' open_mpi 2 ./w2vcl compare --corpus text --out compared
cd - >/dev/null
go build -o "$dir/plain" ./cmd/w2vcl
fails 'was built without MPI' open_mpi 2 "$dir/plain" train --corpus "$dir/text" --out "$dir/plain-run"
[[ ! -e $dir/versions.partial && ! -e $dir/plain-run && ! -e $dir/plain-run.partial && ! -e $dir/cl.partial ]]
