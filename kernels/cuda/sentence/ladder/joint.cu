// All rows in registers, the fourth rung: the ring, too. All dots of a window are summed over
// the lanes together, in one exchange for 32 of them instead of five for each.
//
// 667, 570. The next rung is fullw2v.cu: the ring is in shared memory again, which leaves
// registers for the next window's rows and for one and a half times as many warps: 741 with
// as many sentences in flight as here, 900 with all.
#include "ladder.cuh"

// scoresOf sums numbers first, first+1, ... of the dots of all slots with all
// outputs, G at once, makes them coefficients and stores them.
template <int G, int S, int width>
__device__ __forceinline__ float scoresOf(int first, const Row<1> (&rows)[S], const Row<1> (&r)[width], int times, float rate, float *coefficients) {
	float x[G];
#pragma unroll
	for (int n = 0; n < G; n++) x[n] = first + n < S * width ? partial(rows[(first + n) / width % S], r[(first + n) % width]) : 0;
	float score = sums<G>(x);
	int n = first + laneNumber() % G;
	float often = __shfl_sync(warp, times, n / width);
	float part = pair(score, n % width, n < S * width ? width : 0, often, rate);
	if (laneNumber() < G && n < S * width) coefficients[n] = score;
	return laneNumber() < G ? part : 0;
}

template <int H> __device__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	using Draw = Outputs<8>;
	constexpr int width = 6, slots = 2 * H + 2;
	__shared__ float coefficients[slots * width];
	Ring<1> ring = {Chunks<1>(a.words, a.layout), a.shares, slots, 0};
	Chunks<1> contexts(static_cast<float4 *>(a.contexts), a.layout);
	ring.clear();
	Row<1> rows[slots];
#pragma unroll
	for (int s = 0; s < slots; s++) rows[s] = zeros<1>();
	auto bring = [&](int i) {
		if (i >= n) return;
		int into = ring.enter(kept[i], i);
		Row<1> row = loadCurrent(ring.words, kept[i], into >= 0);
#pragma unroll
		for (int s = 0; s < slots; s++)
			if (s == into) rows[s] = row;
	};
	auto giveBack = [&](int i) {
		if (i < 0) return;
		int from = ring.leave(i);
		if (from < 0) return;
		Row<1> row = zeros<1>();
#pragma unroll
		for (int s = 0; s < slots; s++)
			if (s == from) row = rows[s];
		storeCurrent(ring.words, kept[i], row);
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
		__syncwarp();
		if constexpr (H == 3) {
			loss += scoresOf<32>(0, rows, r, times, rate, coefficients) + scoresOf<16>(32, rows, r, times, rate, coefficients);
		} else {
			loss += scoresOf<32>(0, rows, r, times, rate, coefficients) + scoresOf<32>(32, rows, r, times, rate, coefficients) +
				scoresOf<8>(64, rows, r, times, rate, coefficients);
		}
		__syncwarp();
#pragma unroll
		for (int s = 0; s < slots; s++) {
			Row<1> left = rows[s];
#pragma unroll
			for (int k = 0; k < width; k++) {
				add(rows[s], coefficients[s * width + k], r[k]);
				add(added[k], coefficients[s * width + k], left);
			}
		}
#pragma unroll
		for (int k = 0; k < width; k++) addCurrent(contexts, outputs[k], added[k], true);
		giveBack(t - H);
	}
	for (int i = max(n - H, 0); i < n; i++) giveBack(i);
	return loss;
}

RUNG(ALONE, joint, 1, 3)
RUNG(ALONE, joint, 1, 5)
