# title: W2V-CL, tables 1 and 4: the pairs and the matrix M of the sentence "i like apple juice"
. "$(dirname "$0")/../common.sh"

echo i like apple juice >"$OUT/sentence.txt"
"$W2VCL" matrix build --corpus "$OUT/sentence.txt" --matrix "$OUT/sentence.matrix" --min-count 1 --window 2 --dynamic-window=false \
	--sample 0 --contexts 5 --preset paper --vocab "$OUT/words.txt" --force
"$W2VCL" matrix info "$OUT/sentence.matrix" --rows 4 --vocab "$OUT/words.txt"
