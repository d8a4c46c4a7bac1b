// FULL-W2V as published, the second rung: the first one with the rows of context words in a
// ring in shared memory from the window they enter to the window they leave (section 3.2).
//
// 325, 224: no faster than the first rung. L2 has the rows that the ring saves, and a
// thread block waits for the barrier of every context word.
#include "ladder.cuh"

template <int H> __device__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	using Draw = Outputs<8>;
	constexpr int slots = 2 * H + 2;
	__shared__ float rows[slots][ladderDim];
	// Every warp keeps the same account of where rows are.
	Ring<1> ring = {Chunks<1>(a.words, a.layout), a.shares, slots, 0};
	ring.clear();
	auto bring = [&](int i) {
		if (i >= n) return;
		int into = ring.enter(kept[i], i);
		if (into >= 0) rows[into][threadIdx.x] = loadValue(a.words, a.layout, kept[i]);
	};
	auto giveBack = [&](int i) {
		if (i < 0) return;
		int from = ring.leave(i);
		if (from >= 0) *at(a.words, a.layout, kept[i]) = rows[from][threadIdx.x];
	};
	for (int i = 0; i < H; i++) bring(i);
	float loss = 0;
	uint32_t batch = 0;
	int round = 0;
	for (int t = 0; t < n; t++) {
		bring(t + H);
		if (t % Draw::windows == 0) {
			Draw draw;
			draw.begin(a, epoch, first, kept, t, n);
			batch = draw.end(a, epoch);
		}
		uint32_t outputs[ladderWidth];
		float r[ladderWidth], added[ladderWidth] = {};
#pragma unroll
		for (int k = 0; k < ladderWidth; k++) {
			outputs[k] = __shfl_sync(warp, batch, t % Draw::windows * 8 + k);
			r[k] = loadValue(a.contexts, a.layout, outputs[k]);
		}
		int times = ring.times(~(1u << (t & 31)));
		for (unsigned rest = __ballot_sync(warp, times > 0); rest; rest &= rest - 1) {
			int s = __ffs(rest) - 1;
			rows[s][threadIdx.x] += meet(rows[s][threadIdx.x], __shfl_sync(warp, times, s), r, added, rate, round++, loss);
		}
#pragma unroll
		for (int k = 0; k < ladderWidth; k++) addValue(a.contexts, a.layout, outputs[k], added[k]);
		giveBack(t - H);
	}
	for (int i = max(n - H, 0); i < n; i++) giveBack(i);
	return loss;
}

RUNG(TEAM, ring, ladderWarps, 3)
RUNG(TEAM, ring, ladderWarps, 5)
