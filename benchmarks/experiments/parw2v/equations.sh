# title: PAR-Word2Vec, equations 4 to 7: data moved by word2vec and PAR-Word2Vec, counted and measured
. "$(dirname "$0")/../common.sh"

# The equations count table elements. C_rand is 0, so a window has 2C words; a batch has H = 2CT negatives.
awk 'function show(what, C, T, K, B, cache, words,    A, R, a, r, H) {
		H = 2 * C * T
		A = 1 + 2 * C * (1 + 4 * K + 8 * K * (T + 1)) # equation 4: a word of word2vec
		a = 2 * C * (1 + 4 * K + 8 * K * T)           # 5: its negatives
		R = (6 * H * B * K / sqrt(cache) + H + 4 * B * K + 4 * H * K + 2 * H * B) / B # 7: negatives of PAR-Word2Vec
		r = 1 + 2 * C * (1 + 8 * K) + R               # 6: all of it
		printf "%s: word2vec %.0f, negatives %.0f; PAR-Word2Vec %.0f, negatives %.0f; ratio %.2f\n", what, A * words, a * words, r * words, R * words, A / r
	}
	BEGIN {
		show("one billion words, as published (window 8)", 8, 5, 128, 24, 35 * 2 ^ 20, 804269958)
		show("a word, window 8", 8, 5, 128, 24, 35 * 2 ^ 20, 1)
		show("a word, window 5", 5, 5, 128, 24, 35 * 2 ^ 20, 1)
	}' | tee "$OUT/counted.txt"
# Measured: what reached L1 and L2 of a GPU in one launch each, on the same part of the text, window 5.
counters=$(dirname "$0")/../../speed-gpu/counters.txt
"$(dirname "$0")/../../../kernels/cuda/counters.py" --from "$counters" --out "$OUT" | grep -E 'L1 MB|word2vec_|parw2v_' | tee "$OUT/measured.txt"
