// What the kernels of large-batch CBOW share: stretch.cu has an iteration on a stretch of the text, stretch_parts.cu rows
// of W that are composed of parts. Package graph defines an iteration (graph.CBOW), package wordcontext a stretch.
#pragma once
#include "../subword/subword.cuh"
#include "step.cuh"

// A Stretch has P places and A words that occur; see wordcontext.Stretch.
struct Stretch {
	const uint32_t *words, *from, *to;     // (P)
	const uint32_t *rows, *slots, *places; // (A), (A+1), (P)
	const uint32_t *windows, *targets;     // (H) each
	const uint2 *order;                    // (tiles, 8): numbers of rows in the order of their jobs, or none; part and 2^16 parts
	uint32_t count, rowCount, tiles, window;
};

struct StretchArgs {
	Stretch stretch;
	Table contexts, words;      // C, and W or words' own rows
	const float4 *composed;     // X, (V, quads), the rows that windows are means of: W itself if it is not composed
	float4 *means, *sums;       // (T, quads) h; s, see stretch.cu
	float *scores, *errors;     // (V, stride) and (T, stride), stride: H, rounded up to whole chunks
	uint32_t *inside;           // (T) in how many windows a place is
	float *updates;             // (V) of the words' rows of both tables
	const StepNumbers *steps;   // of tables, of parts
	Loss *loss;
	Job *jobs;                  // (tiles, 8)
	uint32_t *tiles, *next;     // as step.cuh has them
	uint2 *gradient;            // (V, quads) float16, of composed rows over the number of their parts; null: they are not composed
	uint32_t *trained;          // (V), the last iteration that trained a word
	const float *weights;       // (V), 1 over the number of a word's rows
	uint32_t shared, stride;    // H
	uint32_t iteration, ownRows; // there are some
	float weight, decay, epsilon, unused; // K/H; of the optimizer
	float logBeta1, logBeta2;             // logarithms of Adam's betas
};

constexpr int chunk = 32; // negatives that the lanes of a warp have
constexpr int blockWarps = 8, blockPlaces = 64; // of a thread block

__device__ __forceinline__ int warpOfBlock() { return threadIdx.x / 32; }

// corrections returns by what the bias correction of update number n changes Adam's learning rate and epsilon.
__device__ __forceinline__ float2 corrections(const StretchArgs &a, float n) {
	float left1 = -expm1f(a.logBeta1 * n), left2 = sqrtf(-expm1f(a.logBeta2 * n));
	return make_float2(left2 / left1, left2);
}

// numbersOf returns the numbers of an update of a row by the mean of so many samples.
template <class method> __device__ __forceinline__ StepNumbers numbersOf(const StretchArgs &a, const StepNumbers &step, float2 corrections, float samples) {
	StepNumbers s = {0, step.keep, step.rate, a.epsilon, step.rate};
	if constexpr (method::corrected) s.scale *= corrections.x, s.epsilon *= corrections.y;
	if constexpr (!method::adaptive) { // as in step.cuh
		s.rate *= root(samples);
		s.keep = 1 - s.rate * a.decay;
	}
	return s;
}

// updateRow updates a row of a table by its gradient.
template <class method, int F> __device__ __forceinline__ Row<F> updateRow(const Table &t, const StepNumbers &s, size_t row, const Row<F> &g) {
	size_t at = row * t.quads;
	Row<F> w = load<F>(t.values + at, t.quads), m, v;
	if constexpr (method::first) m = load<F>(t.first + at, t.quads);
	if constexpr (method::second) v = load<F>(t.second + at, t.quads);
	optimize<method>(t, s, row, w, m, v, g);
	if constexpr (method::first) store(t.first + at, t.quads, m);
	if constexpr (method::second) store(t.second + at, t.quads, v);
	store(t.values + at, t.quads, w);
	return w;
}

// A Wide table has float32 values, a Slim one float16.
struct Wide {
	const float4 *values;
	__device__ __forceinline__ float4 operator[](size_t i) const { return values[i]; }
};
struct Slim {
	const uint2 *values;
	__device__ __forceinline__ float4 operator[](size_t i) const { return widen(values[i]); }
};

// addRows adds rows of a table to x, in the order of the lanes that want one: those have its number and its weight.
template <int F, class Values> __device__ __forceinline__ void addRows(Row<F> &x, Values table, int quads, uint32_t number, float weight, uint32_t wanted) {
	constexpr int ahead = F <= 2 ? 8 : F <= 4 ? 4 : 2; // rows on their way together
	while (wanted) {
		Row<F> r[ahead];
		float c[ahead];
#pragma unroll
		for (int n = 0; n < ahead; n++) {
			int lane = wanted ? __ffs(wanted) - 1 : 0;
			c[n] = __shfl_sync(warp, weight, lane);
			if (!wanted) c[n] = 0;
			size_t row = size_t(__shfl_sync(warp, number, lane)) * quads;
#pragma unroll
			for (int f = 0; f < F; f++) {
				int i = laneNumber() + 32 * f;
				r[n].v[f] = wanted && i < quads ? table[row + i] : make_float4(0, 0, 0, 0);
			}
			wanted &= wanted - 1;
		}
#pragma unroll
		for (int n = 0; n < ahead; n++) add(x, c[n], r[n]);
	}
}

#define SIZES(KERNEL, ...) KERNEL(1, __VA_ARGS__) KERNEL(2, __VA_ARGS__) KERNEL(3, __VA_ARGS__) KERNEL(4, __VA_ARGS__) KERNEL(8, __VA_ARGS__)
