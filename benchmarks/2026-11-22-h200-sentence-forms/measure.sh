#!/bin/bash
# ab2.sh BINDIR RESULTS SETS: what is fixed and what grows with epochs; more warps in half precision, and their scores. One GPU.
b=$1 R=$2 S=$3
one() { # name binary flags...
	local n=$1 p=$2; shift 2
	timeout 20 $p train --quiet --device cuda --corpus /tmp/e.txt --min-count 5 --dim 128 --out /tmp/ab-$n --force --threads 4 --mode "$@" > /tmp/ab.log 2>&1 && python3 -c "
import json; s=json.load(open('/tmp/ab-$n/summary.json')); print('$n | $* | %.0f Mw/s loss %.5f train %.4f total %.2f' % (s['words_per_second']/1e6, s['loss'], s['seconds_train'], s['seconds_total']))" >> $R/ab2.txt || { echo "$n $*"; tail -2 /tmp/ab.log; } >> $R/ab2.txt
}
for i in 1 2; do
	for e in 20 80; do for m in fullw2v "fullw2v --window 10" parw2v pword2vec; do one base $b/w2vcl-old $m --epochs $e; one new $b/w2vcl $m --epochs $e; done; done
	CUDA_MODULE_LOADING=EAGER one eager $b/w2vcl fullw2v --epochs 20
	for w in 12 14 15 16; do XK=$b/kq$w XF=$w one half$w $b/w2vcl-x fullw2v --precision half --epochs 20; done
	for w in 12 15; do XK=$b/kw$w XF=$w one halfW5-$w $b/w2vcl-x fullw2v --window 10 --precision half --epochs 20; done
done
score() { local n=$1; shift; one $n "$@"; timeout 20 $b/w2vcl eval /tmp/ab-$n --data $S --json > /tmp/eval-$n.json 2>/dev/null; python3 -c "
import json
def flat(d):
    if isinstance(d, list):
        for x in d: yield from flat(x)
    elif isinstance(d, dict):
        if 'score' in d and not isinstance(d['score'], (dict, list)): yield d
        for x in d.values():
            if isinstance(x, (dict, list)): yield from flat(x)
print('$n', ' '.join('%s:%s=%.4f' % (r.get('dataset'), r.get('metric'), r['score']) for r in flat(json.load(open('/tmp/eval-$n.json'))) if r.get('metric') in ('spearman','3cosadd')))" >> $R/scores.txt; }
for s in 1 2 3 4; do
	for w in 12 15; do XK=$b/kq$w XF=$w score h$w-$s $b/w2vcl-x fullw2v --precision half --epochs 5 --seed $s; XK=$b/kw$w XF=$w score hW$w-$s $b/w2vcl-x fullw2v --window 10 --precision half --epochs 5 --seed $s; done
	score new-$s $b/w2vcl parw2v --epochs 5 --seed $s; score old-$s $b/w2vcl-old parw2v --epochs 5 --seed $s
done
for i in 1 2 3; do for m in "fullregister" "fullw2v" "pword2vec" "fullw2v --precision half" "parw2v"; do one stable$i $b/w2vcl $m --lr .05 --window $((5 * i - 4 > 10 ? 10 : 5 * i - 4)) --negative $((i * 5)) --epochs 1 --sample 0; done; done
