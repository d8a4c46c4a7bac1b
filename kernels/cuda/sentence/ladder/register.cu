// FULL-Register, the first rung: a thread block of N threads trains a sentence. The rows of
// a window's outputs stay in registers while they meet all context words (section 3.1).
// Context words are read from memory for every window, and their changes are added there.
//
// One H200, million words a second at W_f 3 and W_f 5, as the next rungs: 358, 235.
// The published FULL-Register reaches 93 and 60; it has two barriers for every dot
// product, and one here does for the six of a context word.
#include "ladder.cuh"

template <int H> __device__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	using Draw = Outputs<8>;
	float loss = 0;
	uint32_t batch = 0;
	for (int t = 0; t < n; t++) {
		if (t % Draw::windows == 0) {
			Draw draw;
			draw.begin(a, epoch, first, kept, t, n);
			batch = draw.end(a, epoch);
		}
		uint32_t outputs[ladderWidth];
		float r[ladderWidth], added[ladderWidth] = {}, w[2 * H];
#pragma unroll
		for (int k = 0; k < ladderWidth; k++) {
			outputs[k] = __shfl_sync(warp, batch, t % Draw::windows * 8 + k);
			r[k] = loadValue(a.contexts, a.layout, outputs[k]);
		}
		// All rows first: a word may be here twice, and all pairs take the values from before
		// the window.
#pragma unroll
		for (int c = 0; c < 2 * H; c++) {
			int i = t + c - H + (c >= H);
			w[c] = i >= 0 && i < n ? loadValue(a.words, a.layout, kept[i]) : 0;
		}
#pragma unroll
		for (int c = 0; c < 2 * H; c++) {
			int i = t + c - H + (c >= H);
			bool here = i >= 0 && i < n;
			float gets = meet(w[c], here, r, added, rate, c, loss);
			if (here) addValue(a.words, a.layout, kept[i], gets);
		}
#pragma unroll
		for (int k = 0; k < ladderWidth; k++) addValue(a.contexts, a.layout, outputs[k], added[k]);
	}
	return loss;
}

RUNG(TEAM, register, ladderWarps, 3)
RUNG(TEAM, register, ladderWarps, 5)
