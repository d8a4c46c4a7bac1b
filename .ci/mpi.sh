#!/usr/bin/env bash
# Ranks by MPI on this host: Open MPI with 2 and 3 ranks, MPICH with 2. The same M and the
# same vectors for any number of ranks; signals, a lost rank and wrong use. Needs Go and
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
go test -c -tags mpi -o "$dir/mpi.test" ./train/cluster/mpi
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
for n in 1 2 3; do open_mpi "$n" "$dir/mpi.test" >/dev/null; done
mpich 2 "$dir/mpi.test" >/dev/null

cd "$dir"
for i in $(seq 2500); do # words that differ much in frequency
	echo "a b$((i % 3)) c$((i % 7)) d$((i % 31)) e$((i % 53)) f$((i * i % 211)) g$((i * 7 % 83)) h$((i * i % 97))"
done >text

echo '+ M on 1, 2 and 3 ranks'
M="matrix build --corpus text --contexts 500 --quiet"
./w2vcl $M --matrix m1
for n in 2 3; do open_mpi "$n" ./w2vcl $M --matrix "m$n" && same m1 "m$n" "M on $n ranks differs"; done
mpich 2 ./w2vcl $M --matrix m4 && same m1 m4 'M on 2 ranks of MPICH differs'

echo '+ vectors of 1, 2 and 4 ranks'
T="train --corpus text --tempering 0 --positives 1 --shared-negatives 0 --dim 50 --contexts 400 --epochs 1 --threads 1 --checkpoint 20 --quiet"
./w2vcl $T --out one
open_mpi 2 ./w2vcl $T --out two && same one/vectors.bin two/vectors.bin 'the vectors of 2 ranks differ'
open_mpi 4 ./w2vcl $T --out four && same one/vectors.bin four/vectors.bin 'the vectors of 4 ranks differ'
mpich 2 ./w2vcl $T --out pich && same one/vectors.bin pich/vectors.bin 'the vectors of 2 ranks of MPICH differ'
T=${T/--epochs 1/--epochs 10} # long enough to be stopped
./w2vcl $T --out long

echo '+ shared negatives and the default, on 1 and 3 ranks'
for model in 'sg --contexts 400 --epochs 1' 'cbow --iterations 200' 'cbow --iterations 200 --subword none'; do
	U="train --corpus text --dim 50 --threads 1 --quiet --model $model"
	rm -rf usual usual-3
	./w2vcl $U --out usual
	open_mpi 3 ./w2vcl $U --out usual-3 && same usual/vectors.bin usual-3/vectors.bin "the vectors of 3 ranks with --model $model differ"
done

echo '+ in the order of the text, on 2 ranks, twice'
S="train --corpus text --mode fullw2v --dim 50 --epochs 150 --sync 3000 --threads 1 --checkpoint 20 --quiet"
for n in 1 2; do open_mpi 2 ./w2vcl $S --out "ordered-$n"; done
same ordered-1/vectors.bin ordered-2/vectors.bin 'the vectors of 2 ranks in the order of the text differ'

# stop SIGNAL RANKS: a run of two ranks is stopped and goes on, on some ranks, with the bits of $want.
stop() {
	local out=run-$1-$want ranks=$2 pid status=0 from
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
	if ((ranks == 1)); then ./w2vcl resume "$out" --quiet; else open_mpi "$ranks" ./w2vcl resume "$out" --quiet; fi
	same "$want/vectors.bin" "$out/vectors.bin" "the vectors after $1 differ"
}
want=long
stop USR2 2
stop TERM 1
stop lost 1
T="train --corpus text --dim 50 --iterations 1000 --threads 1 --checkpoint 20 --quiet" want=stretches
./w2vcl $T --out $want
stop USR2 3
T=$S want=ordered-1
stop USR2 2
stop lost 2

echo '+ wrong use'
T="train --corpus text --tempering 0 --positives 1 --shared-negatives 0 --dim 50 --contexts 400 --threads 1 --quiet"
fails 'not on 3' open_mpi 3 ./w2vcl $T --out three
fails 'rank 1: the settings differ from those of rank 0: --dim 51' open_mpi 1 ./w2vcl $T --out differ : -n 1 ./w2vcl $T --dim 51 --out differ
mkdir other && cp w2vcl other && printf x >>other/w2vcl
fails 'rank 1: the version of w2vcl is ' open_mpi 1 ./w2vcl $T --out versions : -n 1 ./other/w2vcl $T --out versions
fails 'a command for one' open_mpi 2 ./w2vcl compare --corpus text --out compared
cd - >/dev/null
go build -o "$dir/plain" ./cmd/w2vcl
fails 'was built without MPI' open_mpi 2 "$dir/plain" train --corpus "$dir/text" --out "$dir/plain-run"
[[ ! -e $dir/versions.partial && ! -e $dir/plain-run && ! -e $dir/plain-run.partial && ! -e $dir/three.partial ]]
