// Which rows of one slot have a share in each iteration of a series, in the order of their
// numbers. Rows of several slots have one in all of them.
//
//	for each iteration j and row i of those of one slot:
//		start = floor((j lengths[i] + phases[i]) / contexts), end = the same of j + 1
//		if end > start: append {i, slots[i], 1, end} to single[j]
//
// share_count counts them by segments, share_list places them. Rows of one slot come behind
// those of several in the segments, a thread has sixteenths of a segment.
#include <cstdint>

struct ShareArgs {
	const uint4 *several;                    // rows of several slots: shares of tempered.cuh
	const uint32_t *ones;                    // rows of one slot
	const uint32_t *lengths, *phases, *slots; // of all rows
	uint4 *single;                           // (series, oneRows)
	uint32_t *singles;                       // (series)
	uint2 *counts;                           // (series, segments), rows of one slot with a share, and samples
	double *samples;                         // of a step of an iteration, (series)
	uint32_t *next;                          // (2, series), to be zero
	float *losses;                           // (lossCount), to be zero
	uint32_t severalRows, oneRows, contexts, segments;
	uint64_t lossCount;
};

constexpr uint32_t threads = 256, each = 16, segment = threads * each;

// shareOf returns the number of samples of a row, and its number of updates in end.
__device__ __forceinline__ uint32_t shareOf(const ShareArgs &a, uint64_t iteration, uint32_t row, uint32_t &end) {
	uint64_t before = iteration * a.lengths[row] + a.phases[row];
	uint64_t after = (before + a.lengths[row]) / a.contexts;
	end = uint32_t(after);
	return uint32_t(after - before / a.contexts);
}

// sumBefore returns the sum of the numbers of the threads before this one, and of all in all.
__device__ __forceinline__ uint32_t sumBefore(uint32_t x, uint32_t &all) {
	__shared__ uint32_t ofWarp[threads / 32];
	uint32_t l = threadIdx.x % 32, w = threadIdx.x / 32, sum = x;
	for (uint32_t d = 1; d < 32; d *= 2) {
		uint32_t other = __shfl_up_sync(0xffffffffu, sum, d);
		if (l >= d) sum += other;
	}
	__syncthreads();
	if (l == 31) ofWarp[w] = sum;
	__syncthreads();
	uint32_t before = 0;
	all = 0;
	for (uint32_t i = 0; i < threads / 32; i++) {
		if (i < w) before += ofWarp[i];
		all += ofWarp[i];
	}
	return before + sum - x;
}

extern "C" __global__ void __launch_bounds__(threads) share_count(const ShareArgs *args, uint64_t first) {
	ShareArgs a = *args;
	uint32_t iteration = blockIdx.x / a.segments, part = blockIdx.x % a.segments;
	uint32_t rows = 0, samples = 0, end;
	for (uint32_t i = 0; i < each; i++) {
		uint32_t n = part * segment + i * threads + threadIdx.x;
		if (n >= a.severalRows + a.oneRows) break;
		uint32_t share = shareOf(a, first + iteration, n < a.severalRows ? a.several[n].x : a.ones[n - a.severalRows], end);
		samples += share;
		rows += n >= a.severalRows && share > 0;
	}
	sumBefore(rows, rows);
	sumBefore(samples, samples);
	if (threadIdx.x == 0) a.counts[blockIdx.x] = make_uint2(rows, samples);
	for (uint64_t i = uint64_t(blockIdx.x) * threads + threadIdx.x; i < a.lossCount; i += uint64_t(gridDim.x) * threads) a.losses[i] = 0;
}

extern "C" __global__ void __launch_bounds__(threads) share_list(const ShareArgs *args, uint64_t first) {
	ShareArgs a = *args;
	uint32_t iteration = blockIdx.x / a.segments, part = blockIdx.x % a.segments;
	uint32_t to = 0, mine = 0, ends[each], at;
	const uint2 *counts = a.counts + iteration * a.segments;
	for (uint32_t i = threadIdx.x; i < part; i += threads) mine += counts[i].x;
	sumBefore(mine, to);
	uint32_t rows = 0, before = part * segment + threadIdx.x * each; // the first of this thread
	for (uint32_t i = 0; i < each; i++) {
		uint32_t n = before + i;
		ends[i] = 0;
		if (n < a.severalRows || n >= a.severalRows + a.oneRows) continue;
		uint32_t end;
		if (shareOf(a, first + iteration, a.ones[n - a.severalRows], end)) ends[i] = end, rows++;
	}
	uint32_t all;
	at = to + sumBefore(rows, all);
	uint4 *single = a.single + uint64_t(iteration) * a.oneRows;
	for (uint32_t i = 0; i < each; i++) {
		if (!ends[i]) continue;
		uint32_t row = a.ones[before + i - a.severalRows];
		single[at++] = make_uint4(row, a.slots[row], 1, ends[i]);
	}
	if (part + 1 < a.segments || threadIdx.x) return;
	a.singles[iteration] = to + all;
	a.next[2 * iteration] = a.next[2 * iteration + 1] = 0;
	double samples = 0;
	for (uint32_t i = 0; i < a.segments; i++) samples += counts[i].y;
	a.samples[iteration] = samples;
}
