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
#include "rows.cuh"

struct ShareArgs {
	const uint4 *fixed;                      // jobs of rows of several slots, or of none: {row, slots, piece, pieces}
	const uint32_t *ones;                    // rows of one slot
	const uint32_t *lengths, *phases, *slots; // of all rows
	uint4 *jobs;                             // (series, most, 2)
	uint32_t *tiles;                         // (series)
	uint2 *counts;                           // (series, segments), rows of one slot with a share, and samples
	double *samples;                         // of a step of an iteration, (series)
	uint32_t *next;                          // (2, series), to be zero
	uint4 *losses;                           // (2, series), to be zero
	uint32_t fixedJobs, oneRows, most, contexts, segments;
	float logBeta1, logBeta2;                // logarithms of Adam's betas
	uint32_t unused;
};

constexpr uint32_t threads = 256, each = 16, segment = threads * each, warps = 8, none = 0xffffffffu;

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

// put writes the job of a piece of a row that has so many samples, or of no row.
__device__ __forceinline__ void put(uint4 *to, const ShareArgs &a, uint32_t row, uint32_t samples, uint32_t updates, uint32_t piece, uint32_t pieces) {
	uint32_t ofPiece = (samples + pieces - 1) / pieces, first = min(piece * ofPiece, samples);
	float left1 = -expm1f(a.logBeta1 * updates), left2 = sqrtf(-expm1f(a.logBeta2 * updates));
	to[0] = make_uint4(row, row == none ? 0 : a.slots[row] + first, min(ofPiece, samples - first), samples);
	to[1] = make_uint4(__float_as_uint(left2 / left1), __float_as_uint(left2), piece, pieces);
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
		} else if (uint4 job = a.fixed[n]; job.x != none && job.z == 0) {
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
	uint4 *jobs = a.jobs + uint64_t(iteration) * a.most * 2;
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
		uint4 job = a.fixed[n];
		uint32_t samples = job.x == none ? 0 : shareOf(a, first + iteration, job.x, updates);
		put(jobs + 2 * n, a, job.x, samples, samples ? updates : 1, job.z, job.w);
	}
	uint32_t at = a.fixedJobs + before + sumBefore(rows, all);
	for (uint32_t i = 0; i < each; i++)
		if (updatesOf[i]) put(jobs + 2 * at++, a, a.ones[start + i - a.fixedJobs], 1, updatesOf[i], 0, 1);
	if (place + 1 < a.segments || threadIdx.x) return;
	uint32_t end = a.fixedJobs + before + all, tiles = (end + warps - 1) / warps;
	for (; end < tiles * warps; end++) put(jobs + 2 * end, a, none, 0, 1, 0, 1);
	a.tiles[iteration] = tiles;
	for (uint32_t step = 2 * iteration; step < 2 * iteration + 2; step++) {
		a.next[step] = 0;
		a.losses[step] = make_uint4(0, 0, 0, 0);
	}
	double samples = 0;
	for (uint32_t i = 0; i < a.segments; i++) samples += counts[i].y;
	a.samples[iteration] = samples;
}
