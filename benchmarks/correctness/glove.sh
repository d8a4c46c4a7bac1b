#!/usr/bin/env bash
# run.sh TEXT DIR W2VCL GLOVE PYTHON DATA: mode glove beside GloVe's own program (GLOVE: its folder build), one thread each,
# to DIR/times.txt and DIR/scores.txt.
set -eu
text=$1 dir=$2 w2vcl=$3 glove=$4 python=$5 data=$6 epochs=15
mkdir -p "$dir"
timed() { # NAME COMMAND...: seconds of user time
	local name=$1; shift
	TIMEFORMAT="$name %U"
	{ time timeout 1500 sh -c "$*" >"$dir/log" 2>&1; } 2>>"$dir/times.txt" || cat "$dir/log"
}
timed "GloVe count" "$glove/vocab_count -min-count 5 -verbose 0 <$text >$dir/vocab.txt && $glove/cooccur -window-size 10 -memory 4 -verbose 0 -vocab-file $dir/vocab.txt -overflow-file $dir/overflow <$text >$dir/pairs.bin"
for seed in 1 2 3; do
	timed "w2vcl $seed" "$w2vcl train --mode glove --window 10 --x-max 10 --epochs $epochs --lr 0.05 --dim 100 --threads 1 --seed $seed --corpus $text --out $dir/w2vcl-$seed --force"
	grep -h Trained "$dir/log" >>"$dir/times.txt" || true
	timed "GloVe shuffle $seed" "$glove/shuffle -memory 4 -verbose 0 -seed $seed -temp-file $dir/shuffle <$dir/pairs.bin >$dir/shuffled.bin"
	timed "GloVe train $seed" "$glove/glove -save-file $dir/glove-$seed -threads 1 -input-file $dir/shuffled.bin -x-max 10 -iter $epochs -eta 0.05 -vector-size 100 -binary 0 -model 2 -seed $seed -vocab-file $dir/vocab.txt -verbose 0"
done
for v in "$dir"/glove-?.txt; do mv "$v" "${v%.txt}.glove"; done
for v in "$dir"/*-?/ "$dir"/glove-?.glove; do
	echo "$(basename "$v")" "$("$w2vcl" eval "$v" --data "$data" --task similarity --json | "$python" -c '
import json, sys
r = {x["dataset"]: x["score"] for x in json.load(sys.stdin) if x["metric"] == "spearman"}
print(*(f"{d} {r[d]:.3f}" for d in ("WS-353", "MEN", "RW", "SimLex-999")))')"
done >"$dir/scores.txt"
