#!/bin/bash
R=$1; mkdir -p $R
one() { local e=$1; shift
	timeout 25 w2vcl train --quiet --device cuda --corpus enwiki.txt --min-count 5 --epochs $e --out run --force --threads 4 --mode "$@" > run.log 2>&1 && python3 -c "
import json; s=json.load(open('run/summary.json')); print('$* | %.0f Mw/s loss %.5f train %.3f total %.2f' % (s['words_per_second']/1e6, s['loss'], s['seconds_train'], s['seconds_total']))" >> $R/speeds.txt || { echo "FAILED $*"; tail -2 run.log; } >> $R/speeds.txt; }
for i in 1 2 3; do
	for m in "parw2v" "fullw2v" "fullw2v --window 10" "fullw2v --precision half" "fullw2v --window 10 --precision half" "pword2vec" "pword2vec --precision half" "fullregister" word2vec "word2vec --model cbow"; do one 20 $m --dim 128; done
	for d in 100 300; do one 10 fullw2v --subword ngram --dim $d; done
done
