// What the kernels of large-batch CBOW share: stretch.cu has an iteration on a stretch of the text, parts.cu rows
// of W that are composed of parts, in skip-gram too. Package graph defines an iteration (graph.CBOW), package wordcontext a stretch.
#pragma once
#include "../subword/subword.cuh"
#include "single.cuh"

// A Stretch has P places and A words that occur; see wordcontext.Stretch.
struct Stretch {
	const uint32_t *words, *from, *to;     // (P)
	const uint32_t *rows, *slots, *places; // (A), (A+1), (P)
	const uint32_t *negativePlaces, *negativeWords; // (H)
	const uint2 *order;                    // (tiles, 8): numbers of rows in the order of their jobs, or none; piece and 2^16 pieces
	uint32_t count, rowCount, tiles, window;
};

// A Rule is of an optimizer that corrects updates of a row by their number.
struct Rule {
	float decay, epsilon, logBeta1, logBeta2; // logarithms of Adam's betas
};

struct StretchArgs {
	Stretch stretch;
	Table contexts, words;      // C, and W or words' own rows
	const float4 *composed;     // X, (V, quads), the rows that windows are means of: W itself if it is not composed
	float4 *means, *sums;       // (T, quads) h; s, see stretch.cu
	float4 *scores, *errors;    // (V, chunks, 16) and (T, chunks, 16), of 64 negatives each
	uint32_t *inside;           // (T) in how many windows a place is
	float *updates;             // (V) of the words' rows of both tables
	const StepNumbers *steps;   // of tables, of parts
	Loss *loss;
	Job *jobs;                  // (tiles, 8)
	uint32_t *tiles, *next;     // as in step.cuh
	uint2 *gradient;            // (V, quads) float16, times weights and gradientUnits; null: rows are not composed
	uint32_t *trained;          // (V), the last iteration that trained a word
	const float *weights;       // (V), 1 over the number of a word's rows
	uint32_t shared, chunks;    // H, and how many chunks have all of it
	uint32_t iteration, ownRows; // there are some
	float weight, bias;         // K/H; added to every score
	Rule rule;
	uint32_t first;             // quad of C where the columns begin that this GPU has of W: words.quads of them
	uint32_t places;            // of a thread block
	DenseShape ofWords, ofRows; // of kernels whose thread blocks keep the H rows of C
};

constexpr int chunk = 64, chunkQuads = chunk / 4; // negatives that a half of a warp has, four a lane
constexpr int blockWarps = 8; // of a thread block

__device__ __forceinline__ int warpOfBlock() { return uniform(threadIdx.x / 32); }

// corrections returns by what the bias correction of update number n changes Adam's learning rate and epsilon.
__device__ __forceinline__ float2 corrections(const Rule &a, float n) {
	float left1 = -expm1f(a.logBeta1 * n), left2 = sqrtf(-expm1f(a.logBeta2 * n));
	return make_float2(left2 / left1, left2);
}

// numbersOf returns the numbers of an update of a row by the mean of so many samples.
template <class method> __device__ __forceinline__ StepNumbers numbersOf(const Rule &a, const StepNumbers &step, float2 corrections, float samples) {
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

// inSome calls f for so many things, some at a time.
template <int most, class Function> __device__ __forceinline__ void inSome(int count, Function f) {
	while (count > 0) {
		if (count >= most) f(Count<most>{}), count -= most;
		else if (count >= 2) f(Count<2>{}), count -= 2;
		else f(Count<1>{}), count--;
	}
}

// A Slim table has float16 values.
struct Slim {
	const uint2 *values;
	__device__ __forceinline__ float4 operator[](uint32_t i) const { return widen(values[i]); }
};

// Kernels of a size have rows of more than 32 sure quads. has reports whether a lane has quad f of a row.
template <int F> constexpr int sure = F <= 4 ? F - 1 : 4;
template <int F> __device__ __forceinline__ bool has(int f, int quads) { return f < sure<F> || laneNumber() + 32 * f < quads; }

// addRows adds rows of a table to x, in the order of the lanes that want a row: those have its number and its weight.
template <int F, class Values> __device__ __forceinline__ void addRows(Row<F> &x, Values table, int quads, uint32_t number, float weight, uint32_t wanted) {
	const uint32_t at = number * quads; // of at most 64 GB
	inSome<F <= 3 ? 4 : 2>(__popc(wanted), [&](auto count) {
		constexpr int n = decltype(count)::value;
		Row<F> r[n];
		float c[n];
#pragma unroll
		for (int k = 0; k < n; k++) {
			int lane = __ffs(wanted) - 1;
			wanted &= wanted - 1;
			c[k] = __shfl_sync(warp, weight, lane);
			uint32_t from = __shfl_sync(warp, at, lane) + laneNumber();
#pragma unroll
			for (int f = 0; f < F; f++) r[k].v[f] = has<F>(f, quads) ? table[from + 32 * f] : make_float4(0, 0, 0, 0);
		}
#pragma unroll
		for (int k = 0; k < n; k++) add(x, c[k], r[k]);
	});
}

// prefetch asks for rows of a table and its moments that a warp will update, so that they are in L2 then.
template <class method> __device__ __forceinline__ void prefetch(const Table &t, size_t row) {
	for (int line = 8 * laneNumber(); line < t.quads; line += 256) {
		auto ask = [&](const float4 *table) { asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(table + row * t.quads + line))); };
		ask(t.values);
		if constexpr (method::first) ask(t.first);
		if constexpr (method::second) ask(t.second);
	}
}

// Kernels that call awaitInputs may be launched while the one before them ends. Each lets the
// next one begin only after all that came before itself has ended. So before the call a kernel
// reads what the kernel before it does not write, and no more.
__device__ __forceinline__ void awaitInputs() {
	awaitPrevious();
	startNext();
}

// A multiprocessor has registers for so many thread blocks.
constexpr int residentBlocks(int F) { return F <= 3 ? 4 : F <= 4 ? 3 : 2; }
