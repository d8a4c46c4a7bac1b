#!/bin/bash
# large.sh FILES RESULTS: texts larger than memory. Cores 32 to 39.
R=$2; mkdir -p $R large; cd large; w=w2vcl; T0=$SECONDS
log() { echo "$((SECONDS-T0)) s: $*" >> $R/log.txt; }
timed() { # name cores seconds command...: peak memory and seconds
	local n=$1 c=$2 s=$3; shift 3
	python3 - "$R/table.txt" "$n" taskset -c $c timeout -k 5 $s "$@" > $R/$n.log 2>&1 <<'P'
import os, resource, subprocess, sys, time
out, name, *command = sys.argv[1:]
t = time.time()
p = subprocess.run(command, stdin=subprocess.DEVNULL)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
open(out, "a").write(f"{name}: rc {p.returncode}, {time.time()-t:.1f} s, user {u.ru_utime:.0f} s, peak {u.ru_maxrss/1000:.0f} MB: {' '.join(command[6:])}\n")
P
}
timed generate 32-39 200 $w bench generate --bytes 10GB --out z10.txt; ls -l z10.txt >> $R/table.txt; log generated
timed build 32,33 200 $w corpus build --corpus z10.txt --cache cache --min-count 5 --max-vocab 200000 --max-memory 1GB --quiet & b=$!
timed m4 34-39 400 $w matrix build --corpus z10.txt --matrix m4.w2vm --max-vocab 1000000 --min-count 1 --contexts 8192 --max-memory 4GB --threads 6 --quiet; log m4; ls -l m4.w2vm >> $R/table.txt
wait $b; log built
S="--corpus z10.txt --cache cache --min-count 5 --max-vocab 200000 --dim 100 --epochs 1 --sample 1e-5 --negative 5"
for m in pword2vec word2vec; do timed plan-$m 32-35 40 $w plan $S --max-memory 1GB --mode $m --threads 4; done
timed plan-cl 32-35 60 $w plan $S --max-memory 1GB --mode cl --contexts 8192 --iterations 64 --threads 4
P=$S; S="$S --quiet --force"
( timed word2vec 36-39 400 $w train $S --max-memory 1GB --mode word2vec --threads 4 --out w2v; log word2vec ) &
timed pword2vec 32-35 300 $w train $S --max-memory 1GB --mode pword2vec --threads 4 --out pw; log pword2vec
timed cl 32-35 300 $w train $S --max-memory 1GB --mode cl --contexts 8192 --iterations 64 --threads 4 --out cl; log cl
for m in fullw2v pword2vec word2vec; do CUDA_VISIBLE_DEVICES=3 timed gpu-plan-$m 32-35 60 $w plan $P --max-memory 4GB --mode $m --device cuda; CUDA_VISIBLE_DEVICES=3 timed gpu-$m 32-35 60 $w train $S --max-memory 4GB --mode $m --device cuda --out g; done
CUDA_VISIBLE_DEVICES=3 timed gpu-cl 32-35 100 $w train $S --max-memory 4GB --mode cl --contexts 8192 --iterations 64 --device cuda --out gcl; log gpu
wait; log "word2vec too"
timed m16 32-39 300 $w matrix build --corpus z10.txt --matrix m16.w2vm --max-vocab 1000000 --min-count 1 --contexts 8192 --max-memory 16GB --threads 8 --quiet; log m16
sha256sum m4.w2vm m16.w2vm >> $R/table.txt; free -g >> $R/table.txt
timed read 32 60 read m4.w2vm; cat $R/read.log >> $R/table.txt; log end
