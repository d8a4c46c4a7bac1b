// A step of W2V-CL. Every row of one table moves along the mean gradient of its share of samples, which are frozen vectors.
//
//	left: (V, N)  positives: (P, N), frozen  negatives: (V, N), frozen  samples: (S), rows of positives
//	for each row i with a share of s > 0 samples p_1 ... p_s:
//		g = 1/s sum over k of (sigmoid(left_i . positives_(p_k) + bias) - 1) positives_(p_k)
//			+ sum over K negatives n of the row's own of sigmoid(left_i . negatives_n + bias) negatives_n
//		or	+ K/H sum over H negatives n of all rows of sigmoid(left_i . negatives_n + bias) negatives_n
//		update left_i by g
//
// These kernels train every setting; the paper's is a share of one, with own negatives. Both frozen matrices are
// the other table today.
//
// Tensor cores compute the part of shared negatives as two products of matrices, left by the H rows and the
// coefficients by the H rows (dense.cuh). A thread block keeps the H rows in
// shared memory. Groups of eight warps train tiles of eight rows: a warp requests all that its
// row needs, the group computes the negatives' part of the tile, then each warp adds
// the positives' part and updates its row.
//
// Some rows have one positive in some iterations, others hundreds in each. The list of
// jobs, which shares.cu makes, begins with rows of many positives, which 8, 4 or 2 warps share. A group
// takes the next tile when it is done with one: no bit depends on which group trains a tile. Meanwhile
// the samples of the next tile arrive, and the jobs of the tile after that.
//
// A Format says how tables lie in memory: single.cuh has float32, rounded.cuh half precision. A method is one of methods.cuh.
// meet.cuh says how several GPUs share the rows. ../subword/composed.cu has rows of left that an
// encoder composes.
#pragma once
#include "cl.cuh"
#include "dense.cuh"
#include "meet.cuh"

struct StepTable {
	void *left;                        // (rows, stride)
	const void *positives, *negatives; // (P, stride) and (rows, stride)
	void *leftLow;        // (own rows, stride)
	void *first, *second; // moments, (own rows, stride)
	float *secondOfRow;   // second moments of row-wise Adam, (own rows)
	const uint2 *alias;   // (rows)
	uint64_t seed;
	uint32_t rows, stride, columns;
	uint32_t ownNegatives;      // K, of each row; 0 if all rows share theirs
	float weight;               // of a shared negative, K/H
	float decay, epsilon;       // of the optimizer
	Decays decays;
	float bias;                 // added to every score
	Sharing sharing;
};

// A Job is what a warp has to do in a tile: one of the parts of a row's samples.
struct Job {
	uint32_t row;     // or none
	uint32_t slot;    // of the part's first sample
	uint32_t count;   // of the part's samples
	uint32_t samples; // of the row
	float scale;      // by which Adam's bias correction changes the learning rate,
	float epsilon;    // and epsilon
	uint32_t part, parts;
};

struct StepLaunch {
	StepTable table;
	DenseShape dense;
	const StepNumbers *step;
	const uint32_t *samples; // (S)
	const uint32_t *jobs;    // (tiles, 8) Job
	const uint32_t *tiles;   // how many
	uint32_t *next;          // tiles handed out, beside the first three of each group
	Loss *loss;
	const uint32_t *shared;  // (H) shared negatives
};

// none is the number of no row.
constexpr uint32_t none = 0xffffffffu;

template <int n> struct Count { static constexpr int value = n; };

// inWidth calls f with the least of the widths G, G/2, ..., 1 that has room for some rows: many rows have one or two positives.
template <int G, class Function> __device__ __forceinline__ void inWidth(uint32_t rows, Function f) {
	if constexpr (G > 1)
		if (rows <= G / 2) return inWidth<G / 2>(rows, f);
	f(Count<G>{});
}

// train is the step. G is the number of rows of targets that a warp holds at a time, a power of two.
template <class Format, int G, class method> __device__ __forceinline__ void train(const StepLaunch &a) {
	constexpr int n = Format::values, ring = 4, words = sizeof(Job) / 4;
	__shared__ uint32_t numbers[4][ring]; // of tiles, of groups
	const StepTable &t = a.table;
	const DenseShape &d = a.dense;
	const typename Format::Tile dense(d);
	const uint32_t stream = a.step->stream, tiles = *a.tiles;
	const int l = laneNumber(), w = threadIdx.x / 32 % tileRows, group = threadIdx.x / groupThreads;
	const Format f(t, stream);
	dense.draw(a.shared);

	// Of the first three tiles of the groups every second run goes backwards: the first tiles are the longest.
	uint32_t groups = gridDim.x * (blockDim.x / groupThreads), mine = blockIdx.x * (blockDim.x / groupThreads) + group;
	uint32_t tile = mine, tile1 = 2 * groups - 1 - mine, tile2 = 2 * groups + mine, next = 0;
	// A lane has a word of a job. Behind the last tile there is the last again, and behind the last sample: no
	// condition may make the compiler wait for what is asked for.
	auto jobOf = [&](uint32_t tile) { return a.jobs[(min(tile, max(tiles, 1u) - 1) * tileRows + w) * words + l % words]; };
	auto word = [&](uint32_t job, int i) { return __shfl_sync(warp, job, i); };
	auto samplesOf = [&](uint32_t job) {
		uint32_t count = word(job, 2), slot = word(job, 1);
		return a.samples[slot + min(uint32_t(l), max(count, 1u) - 1)];
	};
	uint32_t job = jobOf(tile), job1 = jobOf(tile1);
	if (threadIdx.x % groupThreads == 0) {
		numbers[group][0] = tile, numbers[group][1] = tile1, numbers[group][2] = tile2;
		next = 3 * groups + atomicAdd(a.next, 1);
	}
	__syncthreads();

	// Rows of targets wait in shared memory, or the first of them in registers: of few targets the last repeatedly, for a
	// condition would make the compiler wait for the values.
	char *staged = (char *)denseMemory + blockDim.x / groupThreads * Format::Tile::groupBytes + d.kept * Format::Tile::chunkBytes + threadIdx.x / 32 * G * Format::rowBytes;
	using Rows = typename Format::Packed[Format::staged ? 1 : G];
	auto fetch = [&](Rows &r, const void *table, uint32_t ids, uint32_t first, uint32_t end) {
		if constexpr (Format::staged) {
			f.template stage<G>(sharedAt(staged), table, ids, first, end);
			asm volatile("cp.async.commit_group;" ::: "memory");
		} else {
#pragma unroll
			for (int i = 0; i < G; i++) f.gather(r[i], table, __shfl_sync(warp, ids, min(first + i, max(end, 1u) - 1) % 32));
		}
	};
	uint32_t ids = samplesOf(job), count;
	bool idle;
	// begin asks for the row of a job, whose samples are in ids. Its targets need what the step before this one wrote.
	auto begin = [&](uint32_t job) {
		idle = word(job, 0) == none || __shfl_sync(warp, ids, 0) == noContext;
		count = idle ? 0 : word(job, 2);
		if (idle) ids = 0;
		f.begin(dense, w, word(job, 0));
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	begin(job);
	awaitPrevious();
	awaitOthers(t.sharing);
	startNext(); // its early part reads what the step before this one wrote
	for (uint32_t c = 0; d.shared && c < d.kept; c++) f.loadShared(dense, c, c * Format::Tile::negatives);
	Rows unused;
	if constexpr (Format::staged) fetch(unused, t.positives, ids, 0, count);
	arrivedShared();
	__syncthreads();

	long long losses = 0;
	bool sound = true;
	for (int k = 0; tile < tiles; k++) {
		const uint32_t row = word(job, 0), samples = word(job, 3);
		const bool owner = row != none && word(job, 6) == 0, trains = owner && !idle;
		Rows r;
		if constexpr (!Format::staged) fetch(r, t.positives, ids, 0, count);
		asm volatile("cp.async.wait_group %0;" ::"n"(Format::staged ? 1 : 0) : "memory"); // what begin asked for; its targets may come later
		__syncwarp();
		float x[n], g[n], loss = 0;
		f.end(dense, w, x);
		typename Format::Moments moments;
		if constexpr (Format::early) f.template load<method>(moments, row);
		tile2 = numbers[group][(k + 2) % ring];
		uint32_t job2 = jobOf(tile2), ids1 = samplesOf(job1);
		if (threadIdx.x % groupThreads == 0) {
			numbers[group][(k + 3) % ring] = next;
			next = 3 * groups + atomicAdd(a.next, 1);
		}

		awaitGroup();
		for (uint32_t c = 0, first = 0; first < d.shared; c++, first += Format::Tile::negatives) {
			uint32_t place = c;
			if (d.kept * Format::Tile::negatives < d.shared) { // no room for all
				if (first) awaitGroup();
				f.loadShared(dense, place = 0, first);
				arrivedShared();
				awaitGroup();
			}
			dense.scores(place);
			awaitGroup();
			loss += dense.coefficients(d.shared - first, idle ? 0 : t.weight, t.bias);
			awaitGroup();
			dense.gradient(place, first > 0);
		}
		if (d.shared) awaitGroup();
		loss = trains ? loss * (samples * t.weight) : 0;
		if (d.shared && trains) f.take(g, dense.gradientOf(w));
		else
#pragma unroll
			for (int i = 0; i < n; i++) g[i] = 0;

		// train adds the gradient of some targets, at most a width, whose rows are in r.
		auto train = [&](auto width, const Rows &r, uint32_t live, bool positive) {
			constexpr int W = decltype(width)::value;
			if constexpr (Format::staged) {
				arrivedShared();
				__syncwarp();
			}
			auto target = [&](int i) {
				if constexpr (Format::staged) return f.waiting(staged, i);
				else return r[i];
			};
			float scores[W];
#pragma unroll
			for (int i = 0; i < W; i++) {
				scores[i] = 0;
				if (i < live) scores[i] = f.dot(x, target(i));
			}
			float score = sums<W>(scores) + t.bias;
			bool mine = l % W < live;
			Logistic y = fastLogistic(positive ? -score : score); // to the loss, a positive is a negative of opposite score
			float c = !mine ? 0 : positive ? -y.sigmoid * inverse(samples) : y.sigmoid;
			if (mine && l < W) loss += (positive ? 1.0f : samples) * __logf(y.factor);
#pragma unroll
			for (int i = 0; i < W; i++) {
				float mine = __shfl_sync(warp, c, i);
				if (i < live) f.add(g, mine, target(i));
			}
			if constexpr (Format::staged) __syncwarp();
		};
		auto trainPositives = [&](const Rows &r, uint32_t live) {
			inWidth<G>(live, [&](auto width) { train(width, r, live, true); });
		};
		uint32_t done = 0;
		if constexpr (!Format::staged) { // what was asked for before has registers of its own
			if (count) trainPositives(r, min(uint32_t(G), count));
			done = G;
		}
		for (; done < count; done += G) {
			if (done % 32 == 0 && done) {
				uint32_t slot = word(job, 1) + done + l;
				ids = done + l < count ? a.samples[slot] : 0;
			}
			Rows r;
			if (done || !Format::staged) fetch(r, t.positives, ids, done, count);
			trainPositives(r, min(uint32_t(G), count - done));
		}
		if (trains && !small)
			for (uint32_t done = 0; done < t.ownNegatives; done += G) {
				if (done % 32 == 0) {
					uint64_t i = uint64_t(row) * t.ownNegatives + done + l;
					ids = done + l < t.ownNegatives ? aliasDraw(t.alias, t.rows, randomBits(t.seed, streamNegatives, stream, i)) : 0;
				}
				Rows r;
				fetch(r, t.negatives, ids, done, t.ownNegatives);
				train(Count<G>{}, r, min(uint32_t(G), t.ownNegatives - done), false);
			}

		if constexpr (!Format::early) f.template load<method>(moments, row);
		if (uint32_t parts = word(job, 7); parts > 1) { // the same for all warps of a tile
			if (!owner) f.store(dense.gradientOf(w), g);
			awaitGroup();
			if (owner)
				for (uint32_t other = 1; other < parts; other++) f.add(g, dense.gradientOf(w + other));
			awaitGroup();
		}
		ids = ids1;
		begin(job1);
		if constexpr (Format::staged) fetch(r, t.positives, ids, 0, count);
		if (owner) {
			StepNumbers s = {stream, a.step->keep, a.step->rate * __uint_as_float(word(job, 4)), t.epsilon * __uint_as_float(word(job, 5)), a.step->rate};
			if constexpr (!method::corrected) s.scale = s.rate, s.epsilon = t.epsilon;
			if constexpr (!method::adaptive) { // a sum of independent samples, divided by its standard deviation
				s.rate *= root(samples);
				s.keep = 1 - s.rate * t.decay;
			}
			f.template update<method>(row, x, g, moments, s);
		}
		sound = sound && loss < 1e12f; // not so if it is no number
		losses += __float2ll_rn(loss * unitsOfLoss);
		tile = tile1, tile1 = tile2, job = job1, job1 = job2;
	}
	report(a.loss, losses, sound);
	tellOthers(t.sharing);
}
