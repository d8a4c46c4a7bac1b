#!/bin/bash
# seeds.sh FILES OUT; W2VCL, E and SETS name the program, the text and the sets; 17 processors, 160 s
files=$(realpath "$1"); out=$(realpath "$2"); exec > >(tee "$out/raw.txt") 2>&1
mkdir -p ranks8 && cd ranks8 && cp "$W2VCL" w; chmod +x w
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl=self,vader
PATH=$PATH:/usr/local/mpi/bin:/opt/hpcx/ompi/bin:/usr/mpi/gcc/openmpi/bin
MP=$(dirname "$(dirname "$(readlink -f "$(which mpirun)")")"); export LD_LIBRARY_PATH="$MP/lib:$MP/lib64:$LD_LIBRARY_PATH"
E=${E:?the text} SETS=${SETS:?sets} CORES=${CORES:-16} LIMIT=${LIMIT:-132}
python3 - "$E" <<'P'
import sys
w = open(sys.argv[1]).read().split()
lines = [' '.join(w[i:i+1000]) + '\n' for i in range(0, len(w), 1000)]
open('t1000.txt', 'w').writelines(lines)
open('t2.txt', 'w').writelines(' '.join(w[i:i+20]) + '\n' for i in range(0, min(len(w), 5_000_000), 20))
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
idle = sorted((c for c in a if c in mine), key=lambda c: -(b[c][3] - a[c][3]))[:n + 1]
own = idle[-1:]
idle = sorted(idle[:n])
for half in (idle[:n//2], idle[n//2:], own): print(','.join(map(str, half)))
P
)
echo "lanes: ${lanes[*]}"
cat > first <<'L'
sg-1-1 1 16 t1000.txt --mode fullw2v
sg-8-1 8 2 t1000.txt --mode fullw2v
sg-4-1 4 4 t1000.txt --mode fullw2v
sg-2-1 2 8 t1000.txt --mode fullw2v
L
cat > list <<'L'
cbow-1-1 1 8 t1000.txt --mode word2vec --model cbow --seed 1
cbow-8-1 8 1 t1000.txt --mode word2vec --model cbow --seed 1
ngram-8-1 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 1
sg-8-2 8 1 t1000.txt --mode fullw2v --seed 2
sg-1-2 1 8 t1000.txt --mode fullw2v --seed 2
sg-2-2 2 4 t1000.txt --mode fullw2v --seed 2
sg-4-2 4 2 t1000.txt --mode fullw2v --seed 2
cbow-1-2 1 8 t1000.txt --mode word2vec --model cbow --seed 2
cbow-8-2 8 1 t1000.txt --mode word2vec --model cbow --seed 2
ngram-8-2 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 2
sg-8-3 8 1 t1000.txt --mode fullw2v --seed 3
sg-1-3 1 8 t1000.txt --mode fullw2v --seed 3
sg-2-3 2 4 t1000.txt --mode fullw2v --seed 3
sg-4-3 4 2 t1000.txt --mode fullw2v --seed 3
cbow-1-3 1 8 t1000.txt --mode word2vec --model cbow --seed 3
cbow-8-3 8 1 t1000.txt --mode word2vec --model cbow --seed 3
ngram-8-3 8 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 3
sg-8-old 8 1 t1000.txt --mode fullw2v --hot-words 0
cbow-4-1 4 2 t1000.txt --mode word2vec --model cbow
ngram-4-1 4 2 e20.txt --mode fullw2v --subword ngram --epochs 3
sg-8-blazingtext 8 1 t1000.txt --mode fullw2v --combine-rule mean --sync 100000000
sg-8-pword2vec 8 1 t1000.txt --mode fullw2v --combine-rule mean --sync 8000000 --sync-hot 1000000 --lr .035
cbow-2-1 2 4 t1000.txt --mode word2vec --model cbow
L
cat > alone <<'L'
ngram-1-1 1 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 1
ngram-1-2 1 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 2
ngram-1-3 1 1 e20.txt --mode fullw2v --subword ngram --epochs 3 --seed 3
L
[[ -n $LIST ]] && cp "$LIST" list && cp "$LIST" first && cp "$LIST" alone
: > next-first; : > next-list; : > next-alone
take() { ( flock 9; n=$(($(wc -l < next-$1) + 1)); sed -n "${n}p" $1; echo >> next-$1 ) 9>lock; }
lane() { # CORES LIST
	local name n t text rest began rc
	while [ $SECONDS -lt $LIMIT ] && read -r name n t text rest < <(take $2) && [[ -n $name ]]; do
		began=$SECONDS
		local flags="train --corpus $text --min-count 5 --dim 128 --epochs 5 --seed 1 --threads $t --checkpoint 0 --force $rest --out r-$name"
		flags=${flags/--epochs 5 /$([[ $rest == *--epochs* ]] || echo "--epochs 5 ")}; flags=${flags/--seed 1 /$([[ $rest == *--seed* ]] || echo "--seed 1 ")}
		if [ $n = 1 ]; then timeout 60 taskset -c $1 ./w $flags; else timeout 60 taskset -c $1 mpirun --bind-to none -n $n ./w $flags; fi > o-$name.txt 2>&1; rc=$?
		echo "run $name rc $rc ranks $n threads $t ($began to $SECONDS s, load $(cut -d' ' -f1 /proc/loadavg)): $flags
$(grep -E 'Ranks:|Trained|Traffic|w2vcl:|rror' o-$name.txt | cut -c1-200)"
		[ $rc = 0 ] || tail -n 5 o-$name.txt
	done
}
lane "${lanes[2]}" alone & c=$!
echo "== 16 cores"; lane "${lanes[0]},${lanes[1]}" first
cl() { rm -rf c c.partial; timeout 14 taskset -c "${lanes[0]},${lanes[1]}" $3 ./w train --corpus t2.txt --mode cl --max-vocab 18498 --tempering 0 --positives 1 --shared-negatives 0 --dim 500 --negative 5 --contexts 400 --optimizer adam --iterations 150 --seed 1 --checkpoint 0 --threads $2 --force --out c > o-cl.txt 2>&1
	echo "cl ranks $1 threads $2 rc $? $(sha256sum < c/vectors.bin | cut -c1-16)"; grep -E 'Ranks:|Trained|Traffic|w2vcl:' o-cl.txt; }
cl 1 16; for x in "2 8" "4 4" "16 1"; do cl $x "mpirun --bind-to none -n ${x% *}"; done
cat first list alone > all; echo "== two lanes ($SECONDS s)"
lane "${lanes[0]}" list & a=$!; lane "${lanes[1]}" list & b=$!; wait $a $b $c
echo "== scores ($SECONDS s)"
score() { [ -e r-$1/vectors.bin ] && echo "score $1 $(timeout 25 ./w eval r-$1 --data $SETS 2>&1 | awk 'NR>1{print $2,$4}' | tr '\n' ' ')"; }
export -f score; export SETS
cut -d' ' -f1 all | xargs -P $CORES -I{} bash -c 'score {}'
rm -rf r-*
echo "== done after $SECONDS s"
exit 0
