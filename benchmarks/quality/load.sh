#!/bin/bash
# What other programs change in a comparison: load.sh W2VCL TEXT SETS DIR. In each try, the same comparison trains quiet and beside two endless
# loops, by turns; what it trains first is measured, and kept for the other.
set -eu
for try in 1 2 3; do
	export XDG_CACHE_HOME=$4/cache$try
	order=(quiet "two busy loops")
	if [ $try = 2 ]; then
		order=("two busy loops" quiet)
	fi
	for load in "${order[@]}"; do
		loops=()
		if [ "$load" != quiet ]; then
			for _ in 1 2; do
				while :; do :; done &
				loops+=($!)
			done
		fi
		"$1" compare --quiet --corpus "$2" --data "$3" --modes pword2vec,word2vec,cl --dim 50 --seeds 3 --points 2 --threads 2 --json --out "$4/$try-${load%% *}" |
			python3 -c '
import json, sys
r = json.load(sys.stdin)
alike = [d["against"] + "=" + d["variant"] for d in r["differences"] if d["task"] == "mean" and (d["holm"] is None or d["holm"] >= .05)]
best = max(r["variants"], key=lambda v: v["score"]["mean"])["name"]
for v in r["variants"]:
    runs = [run["summary"] for run in r["runs"] if run["name"] == v["name"]]
    iterations, words = sorted({s["iterations"] for s in runs}), sorted({round(s["train_words"] * s["epochs"]) for s in runs})
    print(*sys.argv[1:], v["name"], round(v["length"]["seconds"], 3), *iterations, *words, round(v["score"]["mean"], 3), best, " ".join(alike) or "-", sep="\t")
' "$try" "$load"
		[ ${#loops[@]} = 0 ] || kill "${loops[@]}"
	done
done
