#!/bin/bash
# gpus: 0  cores: 16  seconds: 155   (no GPU; two lanes of 8 cores each; ranks that wait give way)
files=$(realpath "$1"); out=$(realpath "$2"); exec > >(tee "$out/raw.txt") 2>&1
mkdir -p /tmp/ranks7 && cd /tmp/ranks7 && xz -dc "$files/w2vcl.xz" > w; chmod +x w
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl=self,vader
PATH=$PATH:/usr/local/mpi/bin:/opt/hpcx/ompi/bin:/usr/mpi/gcc/openmpi/bin
MP=$(dirname "$(dirname "$(readlink -f "$(which mpirun)")")"); export LD_LIBRARY_PATH="$MP/lib:$MP/lib64:$LD_LIBRARY_PATH"
E=${E:-/tmp/e.txt} SETS=${SETS:-/tmp/sets/sets} CORES=${CORES:-16} LIMIT=${LIMIT:-118}
python3 - "$E" <<'P'
import sys
w = open(sys.argv[1]).read().split()
lines = [' '.join(w[i:i+1000]) + '\n' for i in range(0, len(w), 1000)]
open('t1000.txt', 'w').writelines(lines)
open('e20.txt', 'w').writelines(lines[:len(lines) // 5])
P
lscpu | grep 'Model name'; echo "prepared after $SECONDS s; load $(cat /proc/loadavg); gpus [$CUDA_VISIBLE_DEVICES]"
mapfile -t lanes < <(python3 - "$CORES" <<'P'
import os, sys, time
n = int(sys.argv[1])
def read(): return {int(l.split()[0][3:]): [int(x) for x in l.split()[1:]] for l in open('/proc/stat') if l.startswith('cpu') and l[3] != ' '}
a = read(); time.sleep(.7); b = read()
mine = os.sched_getaffinity(0)
if len(mine) < n: mine = set(a)
idle = sorted((c for c in a if c in mine), key=lambda c: -(b[c][3] - a[c][3]))[:n]
idle.sort()
for half in (idle[:n//2], idle[n//2:]): print(','.join(map(str, half)))
P
)
echo "lanes: ${lanes[*]}"
cat > list <<'L'
sg-one 1 8 t1000.txt --mode fullw2v
sg-default 8 1 t1000.txt --mode fullw2v
cbow-one 1 8 t1000.txt --mode word2vec --model cbow
cbow-default 8 1 t1000.txt --mode word2vec --model cbow
cbow-f2.8 8 1 t1000.txt --mode word2vec --model cbow --lr .07
sg-hot250k 8 1 t1000.txt --mode fullw2v --sync-hot 250000 --hot-words 2048
sg-sync1M 8 1 t1000.txt --mode fullw2v --sync 1000000
cbow-hot250k 8 1 t1000.txt --mode word2vec --model cbow --sync-hot 250000 --hot-words 2048
ngram-one 1 8 e20.txt --mode fullw2v --subword ngram --epochs 3
ngram-default 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3
ngram-f4 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --lr .05
ngram-sync200k 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --sync 200000
sg-hot250k-f1.4 8 1 t1000.txt --mode fullw2v --sync-hot 250000 --hot-words 2048 --lr .0175
sg-hot100k-512 8 1 t1000.txt --mode fullw2v --sync-hot 100000 --hot-words 512
cbow-sync1M 8 1 t1000.txt --mode word2vec --model cbow --sync 1000000
cbow-f4 8 1 t1000.txt --mode word2vec --model cbow --lr .1
sg-f2.8 8 1 t1000.txt --mode fullw2v --lr .035
ngram-sync200k-f4 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --sync 200000 --lr .05
sg-hot250k-8192 8 1 t1000.txt --mode fullw2v --sync-hot 250000 --hot-words 8192
cbow-hot250k-f1.4 8 1 t1000.txt --mode word2vec --model cbow --lr .035 --sync-hot 250000 --hot-words 2048
sg-r2 2 4 t1000.txt --mode fullw2v
sg-r4 4 2 t1000.txt --mode fullw2v
cbow-r2 2 4 t1000.txt --mode word2vec --model cbow
cbow-r4 4 2 t1000.txt --mode word2vec --model cbow
sg-one-2 1 8 t1000.txt --mode fullw2v --seed 2
cbow-one-2 1 8 t1000.txt --mode word2vec --model cbow --seed 2
sg-r4-hot 4 2 t1000.txt --mode fullw2v --sync-hot 250000 --hot-words 2048
L
[[ -n $LIST ]] && cp "$LIST" list
: > next
take() { ( flock 9; n=$(($(wc -l < next) + 1)); sed -n "${n}p" list; echo >> next ) 9>lock; }
lane() { # CORES
	local name n t text rest began rc
	while [ $SECONDS -lt $LIMIT ] && read -r name n t text rest < <(take) && [[ -n $name ]]; do
		began=$SECONDS
		local flags="train --corpus $text --min-count 5 --dim 128 --epochs 5 --seed 1 --threads $t --checkpoint 0 --force $rest --out r-$name"
		flags=${flags/--epochs 5 /$([[ $rest == *--epochs* ]] || echo "--epochs 5 ")}; flags=${flags/--seed 1 /$([[ $rest == *--seed* ]] || echo "--seed 1 ")}
		if [ $n = 1 ]; then timeout 60 taskset -c $1 ./w $flags; else timeout 60 taskset -c $1 mpirun --bind-to none -n $n ./w $flags; fi > o-$name.txt 2>&1; rc=$?
		echo "run $name rc $rc ranks $n threads $t ($began to $SECONDS s, load $(cut -d' ' -f1 /proc/loadavg)): $flags
$(grep -E 'Ranks:|Trained|Traffic|w2vcl:|rror' o-$name.txt | cut -c1-200)"
		[ $rc = 0 ] || tail -n 5 o-$name.txt
	done
}
lane "${lanes[0]}" & a=$!; lane "${lanes[1]}" & b=$!; wait $a $b
echo "== scores ($SECONDS s)"
score() { [ -e r-$1/vectors.bin ] && echo "score $1 $(timeout 25 ./w eval r-$1 --data $SETS 2>&1 | awk 'NR>1{print $2,$4}' | tr '\n' ' ')"; }
export -f score; export SETS
cut -d' ' -f1 list | taskset -c "${lanes[0]},${lanes[1]}" xargs -P $CORES -I{} bash -c 'score {}'
rm -rf r-*
echo "== done after $SECONDS s"
exit 0
