#!/bin/bash
# One process against ranks, M from shares with peaks of memory: run.sh PROGRAM TEXT, with a program of `make mpi`.
program=$(realpath "$1"); text=$(realpath "$2"); d=$(mktemp -d); cd "$d"; cp "$program" w
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
lscpu | egrep 'Model name|^CPU\(s\)|L2|L3'; nproc; free -g | head -2; which mpirun; mpirun --version | head -1; ls -d /usr/lib/x86_64-linux-gnu/libmpi.so* /opt/*/lib/libmpi.so* /usr/local/mpi/lib/libmpi.so* /opt/hpcx/ompi/lib/libmpi.so* 2>/dev/null
M=$(dirname "$(dirname "$(readlink -f "$(which mpirun)")")"); export LD_LIBRARY_PATH="$M/lib:$M/lib64:$LD_LIBRARY_PATH"
./w doctor
tr ' ' '\n' < "$text" | paste -d' ' - - - - - - - - - - - - - - - - - - - - > t.txt; wc t.txt; head -n 250000 t.txt > t2.txt
peak() { grep -E 'Maximum resident' "$1"* | awk '{print $NF}' | tr '\n' ' '; }
now() { date +%s.%N; }
cat > p.py <<'P'
import os,resource,subprocess,sys
r=subprocess.call(sys.argv[2:]); print("PEAK",sys.argv[1],os.environ.get("OMPI_COMM_WORLD_RANK","0"),resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss//1024,"MiB",flush=True); sys.exit(r)
P
F="--corpus t2.txt --mode cl --max-vocab 18498 --tempering 0 --positives 1 --shared-negatives 0 --dim 500 --negative 5 --contexts 400 --optimizer adam --iterations 150 --seed 1 --checkpoint 0"
one() { n=$1; t=$2; s=$(now); if [ "$n" = 1 ]; then timeout 60 ./w train $F --threads $t --out r$n-$t > o.txt 2>&1; else timeout 60 mpirun --bind-to none -n $n ./w train $F --threads $t --out r$n-$t > o.txt 2>&1; fi; echo "ranks $n threads $t rc $? wall $(echo "$(now) - $s" | bc 2>/dev/null)"; egrep 'Text:|Matrix|Ranks|Trained|w2vcl:' o.txt; sha256sum r$n-$t/vectors.bin | cut -c1-16; rm -rf r$n-$t; }
one 1 16; one 16 1; one 8 2; one 4 4; one 2 8; one 1 2; one 2 1; one 1 16
G="--corpus t.txt --max-vocab 50000 --contexts 2000 --window 8 --passes 1 --quiet --threads 4"
for n in 1 2 3 5; do s=$(now); if [ $n = 1 ]; then timeout 60 python3 p.py one ./w matrix build $G --threads 16 --matrix m$n; else timeout 60 mpirun --bind-to none -n $n python3 p.py ranks$n ./w matrix build $G --matrix m$n; fi; echo "M ranks $n rc $? wall $(echo "$(now) - $s" | bc 2>/dev/null)"; ls -l m$n | awk '{print $5}'; sha256sum m$n | cut -c1-16; rm -f m$n; done
for n in 2 16; do timeout 15 mpirun -n $n ./w doctor 2>&1 | egrep 'binding|launcher' | sort | uniq -c; done
rm -rf "$d"
