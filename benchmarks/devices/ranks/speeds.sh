#!/bin/bash
# speeds.sh: speeds of ranks on 16 processors of their own, by turns. W2VCL and TEXT name the program and the text.
mkdir -p ranks && cd ranks && cp "$W2VCL" w
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl=self,vader
PATH=$PATH:/usr/local/mpi/bin:/opt/hpcx/ompi/bin:/usr/mpi/gcc/openmpi/bin
MP=$(dirname "$(dirname "$(readlink -f "$(which mpirun)")")"); export LD_LIBRARY_PATH="$MP/lib:$MP/lib64:$LD_LIBRARY_PATH"
python3 - "$TEXT" <<'P'
import sys
w = open(sys.argv[1]).read().split()
open('t1000.txt', 'w').writelines(' '.join(w[i:i+1000]) + '\n' for i in range(0, len(w), 1000))
open('t2.txt', 'w').writelines(' '.join(w[i:i+20]) + '\n' for i in range(0, min(len(w), 5_000_000), 20))
P
lscpu | grep 'Model name'
run() { # ranks threads flags...
	local n=$1 t=$2 m=''; shift 2
	((n == 1)) || m="mpirun --bind-to none -n $n"
	timeout 60 taskset -c "${CORES:-16-31}" $m ./w train "$@" --threads $t --seed 1 --checkpoint 0 --force --out r > o.txt 2>&1
	echo "ranks $n threads $t rc $? load $(cut -d' ' -f1 /proc/loadavg) $(sha256sum < r/vectors.bin | cut -c1-16): $*"
	grep -E 'Ranks:|Trained|Traffic|w2vcl:' o.txt | cut -c1-200
}
for turn in 1 2; do
	for x in '1 16' '2 8' '4 4' '8 2'; do run $x --corpus t1000.txt --min-count 5 --dim 128 --epochs 5 --mode fullw2v; done
	for x in '1 16' '2 8' '4 4' '8 2'; do run $x --corpus t1000.txt --min-count 5 --dim 128 --epochs 5 --mode word2vec --model cbow; done
	for x in '1 16' '2 8' '4 4' '16 1'; do run $x --corpus t2.txt --mode cl --max-vocab 18498 --tempering 0 --positives 1 --shared-negatives 0 --dim 500 --negative 5 --contexts 400 --optimizer adam --iterations 150; done
done
