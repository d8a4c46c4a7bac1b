// A step of W2V-CL whose rows have different numbers of positives, and negatives that all
// rows share.
//
//	left: (V, N)  right: (V, N), frozen  samples: (S)
//	for each row i with a share of s > 0 samples p_1 ... p_s, and shared negatives n_1 ... n_H:
//		g = 1/s sum over k of (sigmoid(left_i . right_(p_k)) - 1) right_(p_k)
//			+ K/H sum over h of sigmoid(left_i . right_(n_h)) right_(n_h)
//		update left_i by g
//
// The negatives' part is two products of matrices, left by the H rows and the coefficients
// by the H rows: tensor cores compute it (dense.cuh). A thread block keeps the H rows in
// shared memory and trains tiles of W rows, a warp each. A warp asks for all that its row
// needs, then the block computes the negatives' part of the tile, and then each warp adds
// the positives' part and updates its row.
//
// Some rows have one positive in some of the iterations, others hundreds in each. Rows of
// many come first, W, 4 or 2 warps each. Thread blocks take the next tile when they are done
// with one: which block has it changes no bit. Of the tiles to come, a block knows two:
// while it trains one, the positives' numbers of the next arrive, and where the rows of the
// one after that are.
//
// tempered.cu and tempered_half.cu say how tables lie in memory: their Format.
#pragma once
#include "cl.cuh"
#include "dense.cuh"

struct TemperedTable {
	void *left, *leftLow; // (rows, stride)
	const void *right;    // (rows, stride)
	void *first, *second; // moments, (rows, stride)
	float *secondOfRow;   // second moments of row-wise Adam, (rows)
	const uint2 *alias;   // (rows)
	uint64_t seed;
	uint32_t rows, stride, columns;
	uint32_t negatives;         // of each row; 0 if all rows share theirs
	uint32_t shared, chunk;     // H, and how many of them are in shared memory at a time, a multiple of 16
	float weight;               // of a shared negative, K/H
	float decay, epsilon;       // of the optimizer
	float logBeta1, logBeta2;   // logarithms of its betas
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;
};

// A Share says where a row's samples are: the first of some slots, the number of slots, and
// how many times the row has been updated after the step; 0 if in every step.
struct Share {
	uint32_t row, slot, slots, updates;
};

constexpr int classes = 4; // of rows, with W, 4, 2 and 1 warps

struct TemperedLaunch {
	TemperedTable table;
	const ClStep *step;
	const uint32_t *samples; // (S)
	const uint4 *several;    // shares of rows of several slots, of most first
	const uint4 *single;     // shares of this iteration of rows of one slot
	const uint32_t *singles; // how many these are
	uint32_t *next;          // tiles handed out, beside the first two of each thread block
	float *losses;           // (tiles)
	uint32_t rowsOf[classes]; // of several
};

// noSample is in slots that are not used, none the number of no row.
constexpr uint32_t noSample = 0xfffffffeu, none = 0xffffffffu;

// A Job is what a warp has to do in a tile: part number part of a row's parts.
struct Job {
	uint32_t row, slot, slots, part, parts;
	float scale, epsilon; // of Adam
};

template <int W> __device__ constexpr int warpsOf(int c) { return c == 0 ? W : c == 1 ? 4 : c == 2 ? 2 : 1; }

// tilesOf returns the number of tiles of a class, whose number of rows it sets.
template <int W> __device__ __forceinline__ uint32_t tilesOf(const TemperedLaunch &a, uint32_t singles, int c, uint32_t &rows) {
	uint32_t together = W / warpsOf<W>(c);
	rows = a.rowsOf[c] + (c == classes - 1 ? singles : 0);
	return (rows + together - 1) / together;
}

// A Look reads the job of a warp in a tile: begin asks memory for it.
template <int W> struct Look {
	uint4 share;
	uint32_t part, parts;

	__device__ __forceinline__ void begin(const TemperedLaunch &a, uint32_t singles, uint32_t tile, uint32_t warpOfBlock) {
		share = make_uint4(none, 0, 0, 0);
		part = 0, parts = 1;
		uint32_t from = 0;
#pragma unroll
		for (int c = 0; c < classes; c++) {
			uint32_t rows, tiles = tilesOf<W>(a, singles, c, rows), warps = warpsOf<W>(c);
			if (tile < tiles) {
				uint32_t i = tile * (W / warps) + warpOfBlock / warps;
				if (i >= rows || warpOfBlock >= W) return;
				part = warpOfBlock % warps, parts = warps;
				uint32_t several = from + a.rowsOf[c];
				share = from + i < several ? a.several[from + i] : a.single[from + i - several];
				return;
			}
			tile -= tiles;
			from += rows;
		}
	}

	// end corrects the bias of Adam's moments as often as the row was updated.
	__device__ __forceinline__ Job end(const TemperedTable &t, const ClStep &s) const {
		Job j = {share.x, share.y, share.z, part, parts, s.scale, s.epsilon};
		if (share.w) {
			float left1 = -expm1f(t.logBeta1 * share.w), left2 = sqrtf(-expm1f(t.logBeta2 * share.w));
			j.scale = s.rate * left2 / left1;
			j.epsilon = t.epsilon * left2;
		}
		return j;
	}
};

// Numbers are the samples of a job, a lane each. A job of more has 32 at a time.
struct Numbers {
	uint32_t id, last;

	__device__ __forceinline__ static uint32_t each(const Job &j) { return (j.slots + j.parts - 1) / j.parts; }
	__device__ __forceinline__ static uint32_t from(const Job &j) { return j.part * each(j); }
	__device__ __forceinline__ static uint32_t count(const Job &j) {
		uint32_t first = from(j);
		return first < j.slots ? min(each(j), j.slots - first) : 0;
	}

	__device__ __forceinline__ void begin(const Job &j, const uint32_t *samples) {
		next(j, samples, 0);
		last = j.slots ? samples[j.slot + j.slots - 1] : 0;
	}
	__device__ __forceinline__ void next(const Job &j, const uint32_t *samples, uint32_t done) {
		uint32_t k = done + laneNumber();
		id = k < count(j) ? samples[j.slot + from(j) + k] : noSample;
	}
};

// temper is the step. W is the number of warps, G the rows of positives that a warp holds at
// a time.
template <class Format, int W, int G, Method method> __device__ __forceinline__ void temper(const TemperedLaunch &a) {
	constexpr int n = Format::values, sumsOf = G <= 2 ? 2 : G <= 4 ? 4 : 8;
	extern __shared__ uint4 memory[];
	__shared__ Job jobs[3][W];
	__shared__ uint32_t tileOf[3];
	__shared__ float lossOf[W];
	const TemperedTable &t = a.table;
	const ClStep s = *a.step;
	const uint32_t singles = *a.singles;
	const int l = laneNumber(), w = threadIdx.x / 32;
	const Format f(t, s);
	Dense<Format::planes, W> dense(memory, t.shared, t.chunk, t.stride);
	dense.draw(t, s.stream);

	uint32_t tiles = 0, rows;
	for (int c = 0; c < classes; c++) tiles += tilesOf<W>(a, singles, c, rows);
	// The second tile of the thread block that has the first tile of all is the last of the second ones.
	uint32_t tile = 2 * gridDim.x - 1 - blockIdx.x;
	Look<W> look;
	if (w == 0) {
		if (l < W) {
			look.begin(a, singles, blockIdx.x, l);
			jobs[0][l] = look.end(t, s);
			look.begin(a, singles, tile, l);
			jobs[1][l] = look.end(t, s);
		}
		if (l == 0) tileOf[0] = blockIdx.x, tileOf[1] = tile;
		if (l == 0) tile = 2 * gridDim.x + atomicAdd(a.next, 1);
	}
	__syncthreads();
	Numbers numbers;
	numbers.begin(jobs[0][w], a.samples);
	typename Format::Left left;
	f.load(left, jobs[0][w].row);
	awaitPrevious();
	startNext(); // its early part reads what the step before this one wrote
	if (t.shared) f.loadShared(dense, t, 0);

	for (int k = 0; tileOf[k % 3] < tiles; k++) {
		const Job j = jobs[k % 3][w];
		const bool owner = j.part == 0 && j.row != none;
		uint32_t count = Numbers::count(j), samples = j.slots;
		if (samples && numbers.last == noSample) {
			samples--;
			if (count && Numbers::from(j) + count == j.slots) count--;
		}
		uint32_t ids = numbers.id;
		const bool idle = j.row == none || __shfl_sync(warp, ids, 0) == noContext;
		if (idle) count = 0;
		numbers.begin(jobs[(k + 1) % 3][w], a.samples);
		f.prefetch(jobs[(k + 1) % 3][w].row);
		uint32_t ahead = tile;
		if (w == 0) {
			ahead = __shfl_sync(warp, tile, 0);
			if (l < W) look.begin(a, singles, ahead, l);
			if (l == 0) tile = 2 * gridDim.x + atomicAdd(a.next, 1);
		}

		float x[n];
		f.values_(left, x);
		if (t.shared) f.keep(dense, w, left);
		typename Format::Packed r[G];
		auto fetch = [&](uint32_t first, uint32_t end) {
#pragma unroll
			for (int g = 0; g < G; g++)
				if (first + g < end) f.gather(r[g], __shfl_sync(warp, ids, (first + g) % 32));
		};
		fetch(0, count);
		typename Format::Moments moments;
		if constexpr (Format::early) f.template load<method>(moments, j.row);

		float loss = 0, g[n];
#pragma unroll
		for (int i = 0; i < n; i++) g[i] = 0;
		if (t.shared) {
			for (uint32_t first = 0; first < t.shared; first += t.chunk) {
				if (t.shared > t.chunk && (first || k)) { // with all of them the first stay
					__syncthreads();
					f.loadShared(dense, t, first);
				}
				arrivedShared();
				__syncthreads();
				dense.scores();
				__syncthreads();
				float y = dense.coefficients(min(t.chunk, t.shared - first), owner && !idle ? t.weight : 0);
				loss += samples * t.weight * y;
				__syncthreads();
				dense.gradient(first > 0);
			}
		}
		if (w == 0) {
			if (l < W) jobs[(k + 2) % 3][l] = look.end(t, s);
			if (l == 0) tileOf[(k + 2) % 3] = ahead;
		}
		__syncthreads();
		if (t.shared && owner && !idle) f.add(g, dense.gradientOf(w));

		// train adds the gradient of some targets, whose rows are in r.
		const float share = samples ? 1.0f / samples : 0;
		auto train = [&](uint32_t live, bool positive) {
			float scores[sumsOf];
#pragma unroll
			for (int i = 0; i < sumsOf; i++) scores[i] = i < G && i < live ? f.dot(x, r[i < G ? i : 0]) : 0;
			float score = sums<sumsOf>(scores);
			bool mine = l % sumsOf < live;
			Logistic y = fastLogistic(positive ? -score : score); // to the loss, a positive is a negative of opposite score
			float c = !mine ? 0 : positive ? -y.sigmoid * share : y.sigmoid;
			if (mine && l < sumsOf) loss += (positive ? 1.0f : samples) * __logf(y.factor);
#pragma unroll
			for (int i = 0; i < G; i++)
				if (i < live) f.add(g, __shfl_sync(warp, c, i), r[i]);
		};
		for (uint32_t done = 0; done < count; done += G) {
			if (done) {
				if (done % 32 == 0) {
					Numbers more;
					more.next(j, a.samples, done);
					ids = more.id;
				}
				fetch(done, count);
			}
			train(min(uint32_t(G), count - done), true);
		}
		if (owner && !idle)
			for (uint32_t done = 0; done < t.negatives; done += G) {
				if (done % 32 == 0) {
					uint64_t i = uint64_t(j.row) * t.negatives + done + l;
					ids = done + l < t.negatives ? aliasDraw(t.alias, t.rows, randomBits(t.seed, streamNegatives, s.stream, i)) : 0;
				}
				fetch(done, t.negatives);
				train(min(uint32_t(G), t.negatives - done), false);
			}

		f.load(left, jobs[(k + 1) % 3][w].row); // as early as there are registers
		if constexpr (!Format::early) f.template load<method>(moments, j.row);
		if (jobs[k % 3][0].parts > 1) { // the same for all rows of a tile
			if (j.part) f.store(dense.gradientOf(w), g);
			__syncthreads();
			if (owner)
				for (uint32_t part = 1; part < j.parts; part++) f.add(g, dense.gradientOf(w + part));
		}
		if (owner) {
			ClStep mine = {s.stream, s.keep, j.scale, j.epsilon, s.rate};
			if constexpr (method == sgd) { // a sum of independent samples, divided by its standard deviation
				float root = sqrtf(float(samples));
				mine.rate = s.rate * root;
				mine.keep = 1 - mine.rate * t.decay;
			}
			f.template update<method>(j.row, x, g, moments, mine);
		}
		loss = sum(loss);
		if (l == 0) lossOf[w] = loss;
		__syncthreads();
		if (threadIdx.x == 0) {
			for (int i = 1; i < W; i++) loss += lossOf[i];
			a.losses[tileOf[k % 3]] = loss;
		}
	}
}
