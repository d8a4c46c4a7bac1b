// A minibatch of W2V-Vanilla: skip-gram pairs with look-ups on both sides.
//
//	words: (V, N)  contexts: (V, N)
//	entry e = b(1+K)+k: left word b meets row contexts[e] of C, k = 0 is the positive
//	s_e = words[left b] . contexts[contexts[e]]
//	c_e = sigmoid(s_e), less 1 for a positive
//	gradient of a row = sum of c_e times the rows of the other table that its entries meet
//
// Three kernels follow one another: scores, gradients, updates. All rows are read
// before one is written. Entries of a row are summed in segments of up to 32, a warp each, and the
// segments in their order: the result does not depend on how warps run.
//
// A dense minibatch updates every row of both tables: it moves at least 12 V N values between the
// chip and its memory. Rows that it does not hold have a gradient of zero.
//
// Words that a network composes are the rows of W that a minibatch has, numbered in their order. Their gradient goes to the network,
// and to words' own vectors, if there are some, which are then tables[0] of the update.
//
// A kernel may be launched while the one before it ends (launch.cuh). Each lets the next one begin only
// after all that came before itself has ended; so updates read their rows before they wait.
#include "launch.cuh"
#include "../subword/subword.cuh"
#include "methods.cuh"

struct Segment {
	uint32_t row, first, count; // of entries; count's upper bit: a row of C
	uint32_t parts;             // segments of the row, if this is the first of them, else 0
};

// A Place says where the gradient of a row is, if it has one in that minibatch.
struct Place {
	uint32_t minibatch, segment, parts, unused;
};

struct Minibatch {
	Table tables[2]; // W and C
	StepNumbers step;
	const uint32_t *lefts, *contexts, *entries;
	const Segment *segments;
	float *coefficients; // (entries)
	float4 *gradients;   // (segments, quads)
	Place *places;       // (2, V)
	float *losses;       // (thread blocks of scores)
	uint32_t leftCount, width, segmentCount, number, dense, own; // own: composed words have vectors of their own
	Narrow composed;                                             // their gradient, times units; null: W is a table
	const uint32_t *slots;                                       // (segments), numbers of composed words
	float units;
};

constexpr int warpsOfBlock = 8;
constexpr uint32_t ofContexts = 1u << 31;

__device__ __forceinline__ size_t warpNumber() { return uniform(blockIdx.x * warpsOfBlock + threadIdx.x / 32); }

// storeLoss stores the sum of a thread block's losses, one a warp.
__device__ __forceinline__ void storeLoss(float loss, float *losses) {
	__shared__ float lossOf[warpsOfBlock];
	if (laneNumber() == 0) lossOf[threadIdx.x / 32] = loss;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int n = 1; n < warpsOfBlock; n++) loss += lossOf[n];
		losses[blockIdx.x] = loss;
	}
}

// scores has a warp a left word. G rows of C are under way at a time.
template <int F, int G> __device__ __forceinline__ void scores(const Minibatch &a) {
	constexpr int slots = G <= 2 ? 2 : 8; // of sums
	awaitPrevious();
	startNext();
	size_t b = warpNumber();
	float loss = 0;
	if (b < a.leftCount) {
		const Table &t = a.tables[0];
		int l = laneNumber();
		Row<F> w = load<F>(t.values + size_t(a.lefts[b]) * t.quads, t.quads);
		for (uint32_t k0 = 0; k0 < a.width; k0 += G) {
			uint32_t k = k0 + l % slots;
			bool mine = l % slots < G && k < a.width;
			uint32_t row = mine ? a.contexts[b * a.width + k] : 0;
			Row<F> r[G];
			float x[slots];
#pragma unroll
			for (int n = 0; n < slots; n++) {
				x[n] = 0;
				if (n >= G) continue;
				uint32_t of = __shfl_sync(warp, row, n);
				r[n] = k0 + n < a.width ? load<F>(a.tables[1].values + size_t(of) * t.quads, t.quads) : zeros<F>();
			}
#pragma unroll
			for (int n = 0; n < G; n++) x[n] = partial(w, r[n]);
			float score = sums<slots>(x);
			Logistic y = logistic(k == 0 ? -score : score);
			if (mine && l < slots) {
				a.coefficients[b * a.width + k] = k == 0 ? -y.sigmoid : y.sigmoid;
				loss += logf(y.factor);
			}
		}
		loss = sum(loss);
	}
	storeLoss(loss, a.losses);
}

// gradients has a warp a segment.
template <int F, int G> __device__ __forceinline__ void gradients(const Minibatch &a) {
	awaitPrevious();
	startNext();
	size_t i = warpNumber();
	if (i >= a.segmentCount) return;
	Segment s = a.segments[i];
	int table = s.count >= ofContexts, count = s.count & ~ofContexts, l = laneNumber();
	const Table &other = a.tables[1 - table];
	if (l == 0 && s.parts > 0) a.places[size_t(table) * other.rows + s.row] = {a.number, uint32_t(i), s.parts, 0};
	Row<F> g = zeros<F>();
	for (int j0 = 0; j0 < count; j0 += 32) {
		uint32_t row = 0;
		float c = 0;
		if (j0 + l < count) {
			uint32_t e = a.entries[s.first + j0 + l];
			row = table == 0 ? a.contexts[e] : a.lefts[e / a.width];
			c = a.coefficients[e];
		}
		for (int j = 0; j < min(32, count - j0); j += G) {
			Row<F> r[G];
#pragma unroll
			for (int n = 0; n < G; n++) {
				uint32_t of = __shfl_sync(warp, row, (j + n) % 32);
				r[n] = j0 + j + n < count ? load<F>(other.values + size_t(of) * other.quads, other.quads) : zeros<F>();
			}
#pragma unroll
			for (int n = 0; n < G; n++) add(g, __shfl_sync(warp, c, (j + n) % 32), r[n]);
		}
	}
	store(a.gradients + i * other.quads, other.quads, g);
}

// update has a warp a row of W, then of C, or, not dense, a segment: the first of a
// row updates it.
template <int F, class method> __device__ __forceinline__ void update(const Minibatch &a) {
	size_t i = warpNumber();
	uint32_t rows = a.tables[0].rows, row, segment = 0, parts = 0;
	int table;
	if (a.dense) {
		if (i >= 2 * size_t(rows)) return;
		table = i >= rows;
		row = i - size_t(table) * rows;
	} else {
		if (i >= a.segmentCount) return;
		Segment s = a.segments[i];
		if (s.parts == 0) return;
		table = s.count >= ofContexts, row = s.row, segment = i, parts = s.parts;
	}
	const Table &t = a.tables[table];
	size_t at = size_t(row) * t.quads;
	Row<F> w = load<F>(t.values + at, t.quads), m, v, g = zeros<F>();
	if constexpr (method::first) m = load<F>(t.first + at, t.quads);
	if constexpr (method::second) v = load<F>(t.second + at, t.quads);
	awaitPrevious();
	startNext();
	if (a.dense) {
		Place p = a.places[i];
		if (p.minibatch == a.number) segment = p.segment, parts = p.parts;
	}
	for (uint32_t p = 0; p < parts; p++) add(g, 1, load<F>(a.gradients + size_t(segment + p) * t.quads, t.quads));
	if (table == 0 && a.composed.values) {
#pragma unroll
		for (int f = 0; f < F; f++)
			if (int n = laneNumber() + 32 * f; parts > 0 && n < t.quads) put(a.composed, a.slots[segment], 4 * n, g.v[f], a.units);
		if (!a.own) return;
	}
	optimize<method>(t, a.step, row, w, m, v, g);
	if constexpr (method::first) store(t.first + at, t.quads, m);
	if constexpr (method::second) store(t.second + at, t.quads, v);
	store(t.values + at, t.quads, w);
}

// vanilla_gather copies words' own vectors to where they are composed. A thread has four values.
extern "C" __global__ void __launch_bounds__(256) vanilla_gather(const float4 *own, const uint32_t *words, float4 *rows, uint64_t values, uint64_t quads) {
	size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
	if (i < values) rows[i] = own[words[i / quads] * quads + i % quads];
}

#define KERNEL(name, call) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) name(const __grid_constant__ Minibatch a) { call(a); }
#define UPDATE(method, F) KERNEL(vanilla_update_##method##_##F, (update<F, method>))
#define VANILLA(F, G) \
	KERNEL(vanilla_scores_##F, (scores<F, G>)) \
	KERNEL(vanilla_gradients_##F, (gradients<F, (G > 4 ? 4 : G)>)) \
	METHODS(UPDATE, F)

// For N up to 128 F. Five negatives need six rows.
VANILLA(1, 6)
VANILLA(2, 6)
VANILLA(3, 6)
VANILLA(4, 6)
VANILLA(8, 2)
