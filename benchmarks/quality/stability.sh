#!/bin/sh
# How far runs with different seeds agree, and ensembles of them: stability.sh W2VCL TEXT DIR, where TEXT is testdata/sotu.txt.zst
set -eu
for seed in 1 2 3 4; do
	"$1" train --quiet --corpus "$2" --tokenizer words --lowercase --seed $seed --out "$3/seed$seed"
done
"$1" stability "$3"/seed?
for dim in "" "--dim 100"; do
	"$1" ensemble "$3/seed1" "$3/seed2" $dim --out "$3/a$dim"
	"$1" ensemble "$3/seed3" "$3/seed4" $dim --out "$3/b$dim"
	"$1" stability "$3/a$dim" "$3/b$dim"
done
