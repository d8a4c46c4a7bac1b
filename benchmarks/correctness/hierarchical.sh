#!/usr/bin/env bash
# run.sh TEXT DIR W2VCL WORD2VEC PYTHON DATA: hierarchical softmax of three programs, one thread each, to DIR/times.txt
# and DIR/scores.txt. WORD2VEC is word2vec.c, -Ofast -march=native, with `eof = 0` where an iteration ends.
set -eu
text=$1 dir=$2 w2vcl=$3 word2vec=$4 python=$5 data=$6 epochs=3
export OPENBLAS_NUM_THREADS=1
mkdir -p "$dir"
timed() { # NAME COMMAND...: seconds of user time
	local name=$1; shift
	TIMEFORMAT="$name %U"
	{ time timeout 1500 "$@" >"$dir/log" 2>&1; } 2>>"$dir/times.txt" || cat "$dir/log"
	grep -h '^user' "$dir/log" | sed "s/^/$name training /" >>"$dir/times.txt" || true
}
for seed in 1 2 3; do
	for model in sg cbow; do
		timed "w2vcl $model $seed" "$w2vcl" train --mode word2vec --model $model --hs --dim 100 --epochs $epochs --threads 1 --seed $seed --corpus "$text" --out "$dir/w2vcl-$model-$seed" --force
		timed "gensim $model $seed" "$python" "$(dirname "$0")/train_gensim.py" "$text" $model $epochs $seed "$dir/gensim-$model-$seed.bin"
		if [ $seed = 1 ]; then # its random numbers have no seed
			timed "word2vec.c $model" "$word2vec" -train "$text" -size 100 -window 5 -sample 1e-4 -negative 0 -hs 1 -iter $epochs -threads 1 -binary 1 -cbow $([ $model = cbow ] && echo 1 || echo 0) -output "$dir/word2vec.c-$model.bin"
		fi
	done
done
for v in "$dir"/*-?/ "$dir"/*.bin; do
	echo "$(basename "$v")" "$("$w2vcl" eval "$v" --data "$data" --task similarity --json | "$python" -c '
import json, sys
r = {x["dataset"]: x["score"] for x in json.load(sys.stdin) if x["metric"] == "spearman"}
print(*(f"{d} {r[d]:.3f}" for d in ("WS-353", "MEN", "RW", "SimLex-999")))')"
done >"$dir/scores.txt"
