#!/bin/bash
# gpus: 2  cores: 8  seconds: 115
# fullw2v on one GPU and on two: the 100 MB text 64 times, its lines each time in another random order; three seeds.
files=$(realpath "$1"); out=$(realpath "$2"); exec > >(tee "$out/raw.txt") 2>&1
mkdir -p /tmp/ranks-gpu && cd /tmp/ranks-gpu && xz -dc "$files/w2vcl.xz" > w; chmod +x w
E=${E:-/tmp/e.txt} SETS=${SETS:-/tmp/sets/sets} COPIES=${COPIES:-64} LIMIT=${LIMIT:-95}
one=cuda:0 two=cuda:0,1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NCCL_NVLS_ENABLE=0
mkdir -p long
python3 - "$E" "$COPIES" <<'P'
import multiprocessing, random, sys
words = open(sys.argv[1], 'rb').read().split()
lines = [b' '.join(words[i:i+1000]) + b'\n' for i in range(0, len(words), 1000)]
del words
def copy(n):
    own = lines[:]
    random.Random(n).shuffle(own)
    with open('long/%02d.txt' % n, 'wb') as f: f.writelines(own)
multiprocessing.set_start_method('fork')
with multiprocessing.Pool(8) as pool: pool.map(copy, range(int(sys.argv[2])), 1)
P
du -sh long; echo "text after $SECONDS s; load $(cat /proc/loadavg)"
C="--corpus long --cache cache --min-count $((5 * COPIES))"
timeout 60 ./w corpus build $C --threads 8 > build.txt 2>&1; echo "built rc $? after $SECONDS s"; tail -n 6 build.txt
echo '#!/bin/bash
timeout 30 ./w eval r-$1 --data $SETS 2>&1 | awk -v n=$1 "NR>1{s=s \" \" \$2 \" \" \$4} END{print \"score\", n s}"; rm -rf r-$1' > score.sh
export SETS
scoring=()
run() { # NAME DEVICE FLAGS
	local name=$1 device=$2; shift 2
	[ $SECONDS -lt $LIMIT ] || { echo "no time left for $name"; return; }
	timeout 40 ./w train $C --mode fullw2v --dim 128 --epochs 1 --device $device --threads 8 --checkpoint 0 --quiet --force --out r-$name "$@" > o-$name.txt 2>&1
	echo "run $name rc $? ($SECONDS s)"; tail -n 3 o-$name.txt
	python3 - $name <<'P'
import json,sys
try:
    s=json.load(open("r-"+sys.argv[1]+"/summary.json"))
    print("RUN",sys.argv[1],{k:s.get(k) for k in ("device_name","words_per_second","seconds_train","seconds_total","loss","iterations","peak_device_bytes")})
except Exception as e: print("RUN",sys.argv[1],"FAILED",e)
P
	cp r-$name/summary.json "$out/$name.json" 2>/dev/null
	[ -e r-$name/vectors.bin ] && { bash score.sh $name > s-$name.txt & scoring+=($!); }
}
for seed in 1 2 3; do run one-$seed $one --seed $seed; run two-$seed $two --seed $seed; done
# Ranks with a GPU each, with their default of combinations, beside one process.
cat > train2.sh <<'P'
#!/bin/bash
# EPOCHS GPUS|ranks ARGUMENTS...
e=$1 how=$2; shift 2
if [ $how = ranks ]; then exec mpirun --bind-to none --oversubscribe -n 2 ./w "$@" --epochs $e --device cuda; fi
exec ./w "$@" --epochs $e --device $how
P
short() { # NAME EPOCHS HOW
	local name=$1 e=$2 how=$3; shift 3
	[ $SECONDS -lt $LIMIT ] || { echo "no time left for $name"; return; }
	timeout -k 2 30 bash train2.sh $e $how train --mode fullw2v --min-count 5 --dim 128 --sample 1e-4 --seed 1 --threads 8 --quiet --corpus "$E" --checkpoint 0 --force --out r-$name "$@" > o-$name.txt 2>&1
	echo "short $name rc $? ($SECONDS s)"; tail -n 2 o-$name.txt
	python3 -c 'import json,sys
s=json.load(open("r-"+sys.argv[1]+"/summary.json")); print("RUN",sys.argv[1],{k:s.get(k) for k in ("device_name","words_per_second","seconds_train","seconds_total","loss","iterations")})' $name
	[ -e r-$name/vectors.bin ] && { bash score.sh $name > s-$name.txt & scoring+=($!); }
}
for e in 20 100 5; do short e$e-gpus $e $two; short e$e-ranks $e ranks; done
B="--mode word2vec --model cbow"
short cbow-one 5 $one $B; short cbow-two 5 $two $B; short cbow-two-hot 5 $two $B --sync-hot 500000; short cbow-two-lr 5 $two $B --lr .063; short cbow-two-hot-lr 5 $two $B --lr .063 --sync-hot 500000
short w-one 5 $one; short w-two-lr 5 $two --lr .0315; short w-two-hot 5 $two --sync-hot 500000; short w-two-hot-lr 5 $two --lr .0315 --sync-hot 500000
run two-16M-1 $two --seed 1 --sync 16000000
run two-touched-1 $two --seed 1 --combine-rule touched
wait "${scoring[@]}"; cat s-*.txt
rm -rf r-* long cache
echo "== done after $SECONDS s"
exit 0
