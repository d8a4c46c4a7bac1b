# title: W2V-CL, figure 8 and tables 2 and 3: growth of the vocabulary, frequent and rare words, frequent pairs
. "$(dirname "$0")/../common.sh"

"$W2VCL" corpus stats "$CORPUS" "${text[@]:2}" --window 2 --json --quiet >"$OUT/text.json"
"$W2VCL" corpus stats "$CORPUS" "${text[@]:2}" --window 2 --min-count 50
# Table 3 is about the first 500,000 words of the text. The whole of a compressed text is counted.
case $CORPUS in
*.gz | *.xz | *.zst | *.bz2) first=$CORPUS ;;
*) first=$OUT/first.txt && tr -s '[:space:]' '\n' <"$CORPUS" | awk 'NR <= 500000' | paste -sd ' ' - >"$first" ;;
esac
"$W2VCL" corpus stats "$first" "${text[@]:2}" --window 2
