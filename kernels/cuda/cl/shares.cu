// The jobs of a step's warps (see step.cuh) in each iteration of a series: which rows have a
// share of the samples, and how many.
//
//	for each iteration j and row i:
//		start = floor((j lengths[i] + phases[i]) / contexts), end = the same of j + 1
//		if end > start: the row has end - start samples, and end updates, or j + 1 if lengths[i] >= contexts
//
// Rows of several slots have a share in every iteration; their jobs are fixed but for the
// numbers of samples. Behind them come the rows of one slot that have a share, in their
// order. share_count counts these by segments, share_list writes jobs: a thread has 16
// side by side.
#include "job.cuh"

// shareArgs of shares.go is the same.
struct ShareArgs {
	const uint2 *fixed;                      // jobs of rows of several slots, or of none: row, and piece and 2^16 pieces
	const uint32_t *ones;                    // rows of one slot
	const uint32_t *lengths, *phases, *slots; // of all rows
	Job *jobs;                               // (series, most)
	uint32_t *tiles;                         // (series)
	uint2 *counts;                           // (series, segments), rows of one slot with a share, and samples
	double *samples;                         // of a step of an iteration, (series)
	uint32_t *next;                          // (2, series), to be zero
	uint4 *losses;                           // (2, series), to be zero
	uint32_t fixedJobs, oneRows, most, contexts, segments;
	Rule rule;
	uint32_t unused;
};

constexpr uint32_t threads = 256, each = 16, segment = threads * each, warps = 8, whole = 1 << 16;

// shareOf returns the number of samples of a row, and its number of updates.
__device__ __forceinline__ uint32_t shareOf(const ShareArgs &a, uint64_t iteration, uint32_t row, uint32_t &updates) {
	uint64_t length = a.lengths[row], before = iteration * length + a.phases[row], end = (before + length) / a.contexts;
	updates = uint32_t(length < a.contexts ? end : iteration + 1);
	return uint32_t(end - before / a.contexts);
}

// sumBefore returns the sum of the numbers of the threads before this one, and of all in all.
__device__ __forceinline__ uint32_t sumBefore(uint32_t x, uint32_t &all) {
	__shared__ uint32_t ofWarp[threads / 32];
	uint32_t l = threadIdx.x % 32, w = threadIdx.x / 32, sum = x;
	for (uint32_t d = 1; d < 32; d *= 2) {
		uint32_t other = __shfl_up_sync(warp, sum, d);
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
	uint32_t iteration = blockIdx.x / a.segments, place = blockIdx.x % a.segments;
	uint32_t rows = 0, samples = 0, updates;
	for (uint32_t i = 0; i < each; i++) {
		uint32_t n = place * segment + i * threads + threadIdx.x;
		if (n >= a.fixedJobs + a.oneRows) break;
		if (n >= a.fixedJobs) {
			uint32_t share = shareOf(a, first + iteration, a.ones[n - a.fixedJobs], updates);
			samples += share;
			rows += share;
		} else if (uint2 job = a.fixed[n]; job.x != none && (job.y & 0xffff) == 0) {
			samples += shareOf(a, first + iteration, job.x, updates);
		}
	}
	sumBefore(rows, rows);
	sumBefore(samples, samples);
	if (threadIdx.x == 0) a.counts[blockIdx.x] = make_uint2(rows, samples);
}

extern "C" __global__ void __launch_bounds__(threads) share_list(const ShareArgs *args, uint64_t first) {
	ShareArgs a = *args;
	uint32_t iteration = blockIdx.x / a.segments, place = blockIdx.x % a.segments;
	Job *jobs = a.jobs + uint64_t(iteration) * a.most;
	uint32_t before = 0, mine = 0, updatesOf[each], rows = 0, all, start = place * segment + threadIdx.x * each;
	const uint2 *counts = a.counts + iteration * a.segments;
	for (uint32_t i = threadIdx.x; i < place; i += threads) mine += counts[i].x;
	sumBefore(mine, before);
	for (uint32_t i = 0; i < each; i++) {
		uint32_t n = start + i, updates;
		updatesOf[i] = 0;
		if (n >= a.fixedJobs + a.oneRows) continue;
		if (n >= a.fixedJobs) {
			if (shareOf(a, first + iteration, a.ones[n - a.fixedJobs], updates)) updatesOf[i] = updates, rows++;
			continue;
		}
		uint2 job = a.fixed[n];
		uint32_t samples = job.x == none ? 0 : shareOf(a, first + iteration, job.x, updates);
		jobs[n] = jobOf(a.rule, job.x, job.x == none ? 0 : a.slots[job.x], samples, samples ? updates : 1, job.y);
	}
	uint32_t at = a.fixedJobs + before + sumBefore(rows, all);
	for (uint32_t i = 0; i < each; i++)
		if (updatesOf[i]) {
			uint32_t row = a.ones[start + i - a.fixedJobs];
			jobs[at++] = jobOf(a.rule, row, a.slots[row], 1, updatesOf[i], whole);
		}
	if (place + 1 < a.segments || threadIdx.x) return;
	uint32_t end = a.fixedJobs + before + all, tiles = (end + warps - 1) / warps;
	for (; end < tiles * warps; end++) jobs[end] = jobOf(a.rule, none, 0, 0, 1, whole);
	a.tiles[iteration] = tiles;
	for (uint32_t step = 2 * iteration; step < 2 * iteration + 2; step++) {
		a.next[step] = 0;
		a.losses[step] = make_uint4(0, 0, 0, 0);
	}
	double samples = 0;
	for (uint32_t i = 0; i < a.segments; i++) samples += counts[i].y;
	a.samples[iteration] = samples;
}
