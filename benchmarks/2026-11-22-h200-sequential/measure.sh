#!/bin/bash
# usage: call1.sh OUT
FINAL=$1; S=$PWD; cd /tmp; OUT=/tmp/logs; mkdir -p $OUT
save() { tar -czf $FINAL/all.tar.gz -C /tmp logs; }
T0=$SECONDS
python3 -c "
import lzma; open('/tmp/enwiki.txt','wb').write(lzma.open('$S/enwiki.xz').read())" &
mkdir -p b r && tar -xJf $S/bin.tar.xz -C b; wait
nvidia-smi --query-gpu=name,clocks.sm,driver_version --format=csv,noheader
echo "unpacked $((SECONDS-T0))"
run() { # name, flags
	local name=$1; shift
	timeout 20 b/w2vcl train --quiet --device cuda --corpus enwiki.txt --min-count 5 --dim 128 --seed ${SEED:-1} --out r/$name "$@" > $OUT/log-$name 2>&1 || { echo "$name FAILED $(tail -1 $OUT/log-$name)"; return; }
	python3 -c "
import json,sys
s=json.load(open('r/$name/summary.json'))
print('$name %.0f Mw/s loss %s total %.2f'%(s['words_per_second']/1e6, s.get('loss'), s['seconds_total']))" | tee -a $OUT/runs.txt
}
flags() { case $1 in cbow) echo --mode word2vec --model cbow;; *) echo --mode $1;; esac; }
before() { ((SECONDS-T0 < $1)); }
timeout 9 b/sentence.test -test.run 'TestModes$/.*/N=(50|128|300|500)/W=(5|10)/K=5/V=400|TestModesHalf/.*/N=(50|300)/W=5' -test.v > $OUT/tests.log 2>&1; rc=$?; echo "tests rc $rc $((SECONDS-T0)) s"
grep -E '^(panic|FAIL|ok|PASS|---)' $OUT/tests.log | head; grep -E '^ +--- FAIL' $OUT/tests.log | head -20; grep -c -E '^ +--- PASS' $OUT/tests.log; grep 'relative diff' $OUT/tests.log | awk '{print $NF}' | sort -g | tail -1
ev() { GOMAXPROCS=4 timeout 30 b/w2vcl eval r/$1 --data $S/ev --json > $OUT/eval-$1.txt 2>&1; }
for m in word2vec pword2vec cbow fullregister parw2v fullw2v; do before 36 && run $m-20 $(flags $m) --epochs 20; done
for m in word2vec pword2vec cbow fullregister parw2v; do before 40 || continue; SEED=1 run $m-s1 $(flags $m) --epochs 5; ev $m-s1 & done
for m in word2vec pword2vec cbow; do before 42 || continue; run $m-half-20 $(flags $m) --epochs 20 --precision half; SEED=1 run $m-half-s1 $(flags $m) --epochs 5 --precision half; ev $m-half-s1 & done
for m in word2vec pword2vec parw2v cbow fullregister; do before 44 && run $m-all $(flags $m) --epochs 1 --window 10 --negative 15 --lr .05; done
before 44 && run fullw2v-w10-20 --mode fullw2v --window 10 --epochs 20
for s in 2 3; do for m in word2vec pword2vec cbow fullregister parw2v; do before 46 || continue; SEED=$s run $m-s$s $(flags $m) --epochs 5; ev $m-s$s & done; done
echo "trained $((SECONDS-T0)) s"
wait
echo "end $((SECONDS-T0)) s"
cat $OUT/eval-*.txt | cut -c1-3000 > $OUT/evals.txt
save
