// A step of W2V-CL. Every row of one table moves along the mean gradient of its share of samples, which are frozen vectors.
//
//	left: (V, N)  positives: (P, N), frozen  negatives: (V, N), frozen  samples: (S), rows of positives
//	for each row i with a share of s > 0 samples p_1 ... p_s:
//		g = 1/s sum over k of (sigmoid(left_i . positives_(p_k) + bias) - 1) positives_(p_k)
//			+ sum over K negatives n of the row's own of sigmoid(left_i . negatives_n + bias) negatives_n
//		or	+ K/H sum over H negatives n of all rows of sigmoid(left_i . negatives_n + bias) negatives_n
//		update left_i by g
//
// These kernels train every setting; the paper's is a share of one, with own negatives. Positives and negatives are rows
// of the other table; in step 1 of CBOW, both are means of windows.
//
// Tensor cores compute the part of shared negatives as two products of matrices, left by the H rows and the
// coefficients by the H rows (dense.cuh). A thread block keeps the H rows in
// shared memory. Groups of eight warps train tiles of eight rows: a warp requests all that its
// row needs, the group computes the negatives' part of the tile, then each warp adds
// the positives' part and updates its row.
//
// Some rows have one positive in some iterations, others hundreds in each. The list of
// jobs, from shares.cu or for CBOW stretch_jobs, begins with rows of many positives,
// which 8, 4 or 2 warps share. A group takes the next tile when it is done with one:
// no bit depends on which group trains a tile. Meanwhile the samples of the next tile
// arrive, and the jobs of the tile after that.
//
// A Format says how tables lie in memory: single.cuh has float32, rounded.cuh half precision. A method is one of methods.cuh.
// meet.cuh says how several GPUs share the rows.
#pragma once
#include "cl.cuh"
#include "composed.cuh"
#include "dense.cuh"
#include "job.cuh"
#include "meet.cuh"

// stepTable and stepArgs of step.go are the same as the next two.
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
	float weight, bias;         // of a shared negative, K/H; added to every score
	Rule rule;
	Decays decays;
	Sharing sharing;
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

// quadOf returns four values of a lane, setQuad writes them.
template <int n> __device__ __forceinline__ float4 quadOf(const float (&x)[n], int i) { return make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]); }
template <int n> __device__ __forceinline__ void setQuad(float (&x)[n], int i, float4 y) { x[i] = y.x, x[i + 1] = y.y, x[i + 2] = y.z, x[i + 3] = y.w; }

// inWidth calls f with the least of the widths G, G/2, ..., 1 that has room for some rows: many rows have one or two positives.
template <int G, class Function> __device__ __forceinline__ void inWidth(uint32_t rows, Function f) {
	if constexpr (G > 1)
		if (rows <= G / 2) return inWidth<G / 2>(rows, f);
	f(Count<G>{});
}

// A Step trains the tiles of a group of warps. G is the number of rows of targets that a warp holds at a time, a power of two.
template <class Format, int G, class method> struct Step {
	static constexpr int n = Format::values, words = sizeof(Job) / 4;
	using Tile = typename Format::Tile;
	using Rows = typename Format::Packed[Format::staged ? 1 : G];

	const StepLaunch &a;
	const StepTable &t;
	const DenseShape &d;
	const Tile dense;
	const uint32_t stream, tiles;
	const int l, w; // lane, warp of the group
	const Format f;
	uint32_t *numbers; // of the group's next tiles
	char *staged;      // this warp's rows of targets
	uint32_t tile, tile1, tile2, next, job, job1;
	uint32_t ids, count; // of the samples of job
	bool idle, sound;
	long long losses;

	// A Row is that of this warp's job: its values, its gradient and its loss.
	struct Row {
		const uint32_t row, samples;
		const bool owner, trains;
		float x[n], g[n], loss;
		typename Format::Moments moments;
	};

	__device__ __forceinline__ Step(const StepLaunch &a, uint32_t *numbers)
		: a(a), t(a.table), d(a.dense), dense(d), stream(a.step->stream), tiles(*a.tiles), l(laneNumber()), w(threadIdx.x / 32 % tileRows), f(t, stream), numbers(numbers),
		  staged((char *)denseMemory + blockDim.x / groupThreads * Tile::groupBytes + d.kept * Tile::chunkBytes + threadIdx.x / 32 * G * Format::rowBytes),
		  next(0), sound(true), losses(0) {}

	__device__ __forceinline__ static bool first() { return threadIdx.x % groupThreads == 0; }
	__device__ __forceinline__ static uint32_t groups() { return gridDim.x * (blockDim.x / groupThreads); }

	// A lane has a word of a job. Behind the last tile there is the last again, and behind the last sample: no
	// condition may make the compiler wait for what is asked for.
	__device__ __forceinline__ uint32_t jobOf(uint32_t tile) const { return a.jobs[(min(tile, max(tiles, 1u) - 1) * tileRows + w) * words + l % words]; }
	__device__ __forceinline__ uint32_t word(uint32_t job, int i) const { return __shfl_sync(warp, job, i); }
	__device__ __forceinline__ uint32_t samplesOf(uint32_t job) const {
		uint32_t count = word(job, 2), slot = word(job, 1);
		return a.samples[slot + min(uint32_t(l), max(count, 1u) - 1)];
	}

	// fetch asks for rows of targets. They wait in shared memory, or the first of them in registers: of few targets the last
	// repeatedly, for a condition would make the compiler wait for the values.
	__device__ __forceinline__ void fetch(Rows &r, const void *table, uint32_t ids, uint32_t first, uint32_t end) const {
		if constexpr (Format::staged) {
			f.template stage<G>(sharedAt(staged), table, ids, first, end);
			asm volatile("cp.async.commit_group;" ::: "memory");
		} else {
#pragma unroll
			for (int i = 0; i < G; i++) f.gather(r[i], table, __shfl_sync(warp, ids, min(first + i, max(end, 1u) - 1) % 32));
		}
	}

	// request asks for the row of a job, whose samples are in ids. What the kernel before this one wrote is the row, if leftIsNew,
	// or else its targets.
	__device__ __forceinline__ void request(uint32_t job) {
		idle = word(job, 0) == none || __shfl_sync(warp, ids, 0) == noContext;
		count = idle ? 0 : word(job, 2);
		if (idle) ids = 0;
		f.bringLeft(dense, w, word(job, 0));
		asm volatile("cp.async.commit_group;" ::: "memory");
	}

	// start asks for the first jobs, rows and shared negatives. Of the first three tiles of the groups every second run goes backwards:
	// the first tiles are the longest.
	__device__ __forceinline__ void start() {
		dense.draw(a.shared);
		uint32_t mine = uniform(blockIdx.x * (blockDim.x / groupThreads) + threadIdx.x / groupThreads);
		tile = mine, tile1 = 2 * groups() - 1 - mine, tile2 = 2 * groups() + mine;
		job = jobOf(tile), job1 = jobOf(tile1);
		if (first()) {
			numbers[0] = tile, numbers[1] = tile1, numbers[2] = tile2;
			next = 3 * groups() + atomicAdd(a.next, 1);
		}
		__syncthreads();
		ids = samplesOf(job);
		auto bringShared = [&] {
			for (uint32_t c = 0; d.shared && c < d.kept; c++) f.loadShared(dense, c, c * Tile::negatives);
		};
		if constexpr (Format::leftIsNew) { // the kernels before this one wrote it, and nothing else that this one reads
			awaitOthers(t.sharing);
			bringShared();
			awaitPrevious();
			startNext();
			request(job);
		} else {
			request(job);
			awaitPrevious();
			awaitOthers(t.sharing);
			startNext(); // its early part reads what the step before this one wrote
			bringShared();
		}
		Rows unused;
		if constexpr (Format::staged) fetch(unused, t.positives, ids, 0, count);
		arrivedShared();
		__syncthreads();
	}

	// sharedNegatives begins the row's gradient and loss with those of the negatives that all rows share.
	__device__ __forceinline__ void sharedNegatives(Row &r) const {
		for (uint32_t c = 0, first = 0; first < d.shared; c++, first += Tile::negatives) {
			uint32_t place = c;
			if (d.kept * Tile::negatives < d.shared) { // no room for all
				if (first) awaitGroup();
				f.loadShared(dense, place = 0, first);
				arrivedShared();
				awaitGroup();
			}
			dense.scores(place);
			awaitGroup();
			r.loss += dense.coefficients(d.shared - first, idle ? 0 : t.weight, t.bias);
			awaitGroup();
			dense.gradient(place, first > 0);
		}
		if (d.shared) awaitGroup();
		r.loss = r.trains ? r.loss * (r.samples * t.weight) : 0;
#pragma unroll
		for (int i = 0; i < n; i += 4) setQuad(r.g, i, d.shared && r.trains ? *Format::quad(dense.gradientOf(w), i) : make_float4(0, 0, 0, 0));
	}

	// meet adds the gradient of some targets, at most W, whose rows are in targets.
	template <int W> __device__ __forceinline__ void meet(Row &r, const Rows &targets, uint32_t live, bool positive) const {
		if constexpr (Format::staged) {
			arrivedShared();
			__syncwarp();
		}
		typename Format::Packed rows[W];
		float scores[W];
#pragma unroll
		for (int i = 0; i < W; i++) {
			if constexpr (Format::staged) rows[i] = f.waiting(staged, i);
			else rows[i] = targets[i];
			scores[i] = 0;
			if (i < live) scores[i] = f.dot(r.x, rows[i]);
		}
		float score = sums<W>(scores) + t.bias;
		bool mine = l % W < live;
		Logistic y = fastLogistic(positive ? -score : score); // to the loss, a positive is a negative of opposite score
		float c = !mine ? 0 : positive ? -y.sigmoid * inverse(r.samples) : y.sigmoid;
		if (mine && l < W) r.loss += (positive ? 1.0f : r.samples) * __logf(y.factor);
#pragma unroll
		for (int i = 0; i < W; i++) {
			float mine = __shfl_sync(warp, c, i);
			if (i < live) f.add(r.g, mine, rows[i]);
		}
		if constexpr (Format::staged) __syncwarp();
	}

	// positives trains the row's samples, the first of which were asked for.
	__device__ __forceinline__ void positives(Row &r, const Rows &asked) {
		auto train = [&](const Rows &rows, uint32_t live) {
			inWidth<G>(live, [&](auto width) { meet<decltype(width)::value>(r, rows, live, true); });
		};
		uint32_t done = 0;
		if constexpr (!Format::staged) { // what was asked for before has registers of its own
			if (count) train(asked, min(uint32_t(G), count));
			done = G;
		}
		for (; done < count; done += G) {
			if (done % 32 == 0 && done) {
				uint32_t slot = word(job, 1) + done + l;
				ids = done + l < count ? a.samples[slot] : 0;
			}
			Rows rows;
			if (done || !Format::staged) fetch(rows, t.positives, ids, done, count);
			train(rows, min(uint32_t(G), count - done));
		}
	}

	__device__ __forceinline__ void ownNegatives(Row &r) {
		for (uint32_t done = 0; done < t.ownNegatives; done += G) {
			if (done % 32 == 0) {
				uint64_t i = uint64_t(r.row) * t.ownNegatives + done + l;
				ids = done + l < t.ownNegatives ? aliasDraw(t.alias, t.rows, randomBits(t.seed, streamNegatives, stream, i)) : 0;
			}
			Rows rows;
			fetch(rows, t.negatives, ids, done, t.ownNegatives);
			meet<G>(r, rows, min(uint32_t(G), t.ownNegatives - done), false);
		}
	}

	// addPieces adds the gradients of the warps that share a row, which are the same for all warps of a tile.
	__device__ __forceinline__ void addPieces(Row &r) const {
		uint32_t pieces = word(job, 7);
		if (pieces <= 1) return;
#pragma unroll
		for (int i = 0; i < n; i += 4)
			if (!r.owner) *Format::quad(dense.gradientOf(w), i) = quadOf(r.g, i);
		awaitGroup();
		for (uint32_t other = w + 1; r.owner && other < w + pieces; other++)
#pragma unroll
			for (int i = 0; i < n; i += 4) {
				float4 x = quadOf(r.g, i);
				add(x, 1, *Format::quad(dense.gradientOf(other), i));
				setQuad(r.g, i, x);
			}
		awaitGroup();
	}

	__device__ __forceinline__ void update(Row &r) const {
		const float2 corrections = make_float2(__uint_as_float(word(job, 4)), __uint_as_float(word(job, 5)));
		const StepNumbers s = numbersOf<method>(t.rule, *a.step, corrections, r.samples);
		f.template update<method>(r.row, r.x, r.g, r.moments, s);
	}

	// trainTile trains tile number k of the group.
	__device__ __forceinline__ void trainTile(int k) {
		constexpr int ring = 4;
		const uint32_t row = word(job, 0), samples = word(job, 3);
		const bool owner = row != none && word(job, 6) == 0;
		Row r = {row, samples, owner, owner && !idle};
		Rows targets;
		if constexpr (!Format::staged) fetch(targets, t.positives, ids, 0, count);
		asm volatile("cp.async.wait_group %0;" ::"n"(Format::staged ? 1 : 0) : "memory"); // what request asked for; its targets may come later
		__syncwarp();
		f.leftOf(dense, w, r.x);
		if constexpr (Format::early) f.template load<method>(r.moments, row);
		tile2 = uniform(numbers[(k + 2) % ring]);
		uint32_t job2 = jobOf(tile2), ids1 = samplesOf(job1);
		if (first()) {
			numbers[(k + 3) % ring] = next;
			next = 3 * groups() + atomicAdd(a.next, 1);
		}
		awaitGroup();
		sharedNegatives(r);
		positives(r, targets);
		if (r.trains && !small) ownNegatives(r);
		if constexpr (!Format::early) f.template load<method>(r.moments, row);
		addPieces(r);
		ids = ids1;
		request(job1);
		if constexpr (Format::staged) fetch(targets, t.positives, ids, 0, count);
		if (owner) update(r);
		sound = sound && r.loss < 1e12f; // not so if it is no number
		losses += __float2ll_rn(r.loss * unitsOfLoss);
		tile = tile1, tile1 = tile2, job = job1, job1 = job2;
	}
};

// kernelOf says how a kernel of train is made.
template <class Format, int G> constexpr DenseKernel kernelOf(uint32_t groups) {
	return Format::Tile::kernel(groups, Format::staged ? G * Format::rowBytes : 0);
}

template <class Format, int G, class method> __device__ __forceinline__ void train(const StepLaunch &a) {
	__shared__ uint32_t numbers[4][4]; // of tiles, of groups
	Step<Format, G, method> s(a, numbers[threadIdx.x / groupThreads]);
	s.start();
	for (int k = 0; s.tile < s.tiles; k++) s.trainTile(k);
	report(a.loss, s.losses, s.sound);
	tellOthers(a.table.sharing);
}
