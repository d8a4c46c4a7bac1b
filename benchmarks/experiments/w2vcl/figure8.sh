# title: W2V-CL, figure 8 and tables 2 and 3: growth of the vocabulary, frequent and rare words, frequent pairs
. "$(dirname "$0")/../common.sh"

# Tables 2 and 3 are about the first 500,000 words of text8.
"$W2VCL" corpus stats "$CORPUS" "${text[@]:2}" --window 2 --json --quiet >"$OUT/text.json"
"$W2VCL" corpus stats "$CORPUS" "${text[@]:2}" --window 2 --min-count 50
