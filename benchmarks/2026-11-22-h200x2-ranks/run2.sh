#!/bin/bash
# gpus: 2  seconds: 75
# Ranks with a GPU each, after the first job: the tests that changed, one process by NCCL, and speeds of longer runs.
files=$1; out=$2
work=/tmp/gpuhosts2; mkdir -p $work; cd $work || exit 1
[[ -e w2vcl ]] || xz -dc "$files/bin.txz" | tar -x || exit 1
started=$SECONDS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NCCL_NVLS_ENABLE=0 NCCL_DEBUG=WARN
say() { echo "[$((SECONDS - started)) s] $*"; }
ranks() { local most=$1 n=$2; shift 2; timeout -k 2 "$most" mpirun --bind-to none --oversubscribe -n "$n" "$@"; }
speed() { # LABEL DIR: words/s, loss of a run
	python3 - "$1" "$2" <<'P'
import json,sys
try:
    s=json.load(open(sys.argv[2]+"/summary.json"))
    print("RUN",sys.argv[1],{k:s.get(k) for k in ("device_name","words_per_second","pairs_per_second","seconds_train","seconds_read","seconds_matrix","seconds_total","loss","iterations","peak_device_bytes")})
except Exception as e: print("RUN",sys.argv[1],"FAILED",e)
P
}
timeout -k 2 30 ./device.test -test.v -test.timeout 60s -test.run 'TestByNCCL' >"$out/device.txt" 2>&1; say "device rc $?"; grep -E "^(--- |FAIL|ok|panic|PASS)|messages_cuda" "$out/device.txt" | head -20
timeout -k 2 40 ./sentence.test -test.v -test.timeout 60s -test.skip 'TestParts/4' -test.run 'TestPartsTrain|TestPartsByNCCL|TestCombineStructureSize' >"$out/sentence.txt" 2>&1; say "sentence tests rc $?"; grep -E "^(--- |FAIL|ok|panic|PASS)" "$out/sentence.txt" | head -40

F="train --mode fullw2v --device cuda --min-count 5 --dim 128 --sample 1e-4 --seed 1 --threads 12 --quiet --corpus /tmp/e.txt"
E="$F --epochs 20"
for turn in 1 2; do
	timeout 30 ./w2vcl $E --device cuda:0,1 --out f2 --force >"$out/f2.txt" 2>&1; speed fullw2v-2gpus f2
	ranks 30 2 ./w2vcl $E --out fr --force >"$out/fr.txt" 2>&1; speed fullw2v-2ranks fr
	ranks 30 2 ./w2vcl $E --sync 16000000 --out fs --force >"$out/fs.txt" 2>&1; speed fullw2v-2ranks-sync16M fs
	timeout 30 ./w2vcl $E --device cuda:0 --out f1 --force >"$out/f1.txt" 2>&1; speed fullw2v-1gpu f1
done
E="$F --epochs 100"
timeout 30 ./w2vcl $E --device cuda:0,1 --out l2 --force >"$out/l2.txt" 2>&1; speed fullw2v-100-2gpus l2
ranks 30 2 ./w2vcl $E --out lr --force >"$out/lr.txt" 2>&1; speed fullw2v-100-2ranks lr
C="train --preset paper --dim 500 --contexts 4096 --epochs 1 --seed 1 --threads 12 --quiet --corpus /tmp/e.txt"
timeout 30 ./w2vcl $C --device cuda:0 --out cl1 --force >"$out/cl1.txt" 2>&1; tail -n 2 "$out/cl1.txt"; speed cl-1gpu cl1
timeout 30 ./w2vcl $C --device cuda:0,1 --out cl2 --force >"$out/cl2.txt" 2>&1; speed cl-2gpus cl2
ranks 30 2 ./w2vcl $C --device cuda --out clr --force >"$out/clr.txt" 2>&1; say "cl ranks rc $?"; speed cl-2ranks clr
sha256sum cl1/vectors.bin cl2/vectors.bin clr/vectors.bin
say done
exit 0
