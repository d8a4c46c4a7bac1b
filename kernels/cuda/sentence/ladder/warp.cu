// One warp for a sentence, the third rung: a lane has four values of each row. No dot needs
// a barrier of a thread block, and the warps of a multiprocessor train sentences of their
// own. Context words meet the outputs one after the other.
//
// 534, 392.
#include "ladder.cuh"

template <int H> __device__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	using Draw = Outputs<8>;
	constexpr int width = 6;
	Ring<1> ring = {Chunks<1>(a.words, a.layout), a.shares, 2 * H + 2, 0};
	Chunks<1> contexts(static_cast<float4 *>(a.contexts), a.layout);
	ring.clear();
	auto bring = [&](int i) {
		if (i >= n) return;
		int into = ring.enter(kept[i], i);
		if (into >= 0) ring.store(into, loadCurrent(ring.words, kept[i], true));
	};
	auto giveBack = [&](int i) {
		if (i < 0) return;
		int from = ring.leave(i);
		if (from >= 0) storeCurrent(ring.words, kept[i], ring.load(from));
	};
	for (int i = 0; i < H; i++) bring(i);
	float loss = 0;
	uint32_t batch = 0;
	for (int t = 0; t < n; t++) {
		bring(t + H);
		if (t % Draw::windows == 0) {
			Draw draw;
			draw.begin(a, epoch, first, kept, t, n);
			batch = draw.end(a, epoch);
		}
		uint32_t outputs[width];
		Row<1> r[width], added[width];
#pragma unroll
		for (int k = 0; k < width; k++) {
			outputs[k] = __shfl_sync(warp, batch, t % Draw::windows * 8 + k);
			r[k] = loadCurrent(contexts, outputs[k], true);
			added[k] = zeros<1>();
		}
		int times = ring.times(~(1u << (t & 31)));
		for (unsigned rest = __ballot_sync(warp, times > 0); rest; rest &= rest - 1) {
			int s = __ffs(rest) - 1;
			Row<1> left = ring.load(s), updated = left;
			float x[8];
#pragma unroll
			for (int k = 0; k < 8; k++) x[k] = k < width ? partial(left, r[k < width ? k : 0]) : 0;
			float score = sums<8>(x), part = pair(score, laneNumber() % 8, width, __shfl_sync(warp, times, s), rate);
			if (laneNumber() < 8) loss += part;
#pragma unroll
			for (int k = 0; k < width; k++) {
				float g = __shfl_sync(warp, score, k);
				add(updated, g, r[k]);
				add(added[k], g, left);
			}
			ring.store(s, updated);
		}
#pragma unroll
		for (int k = 0; k < width; k++) addCurrent(contexts, outputs[k], added[k], true);
		giveBack(t - H);
	}
	for (int i = max(n - H, 0); i < n; i++) giveBack(i);
	return loss;
}

RUNG(ALONE, warp, 1, 3)
RUNG(ALONE, warp, 1, 5)
