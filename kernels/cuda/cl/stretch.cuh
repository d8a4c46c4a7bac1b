// What the kernels of large-batch CBOW share: stretch.cu has an iteration on a stretch of the text, parts.cu rows
// of W that are composed of parts, in skip-gram too. Package graph defines an iteration (graph.CBOW), package wordcontext a stretch.
#pragma once
#include "../subword/subword.cuh"
#include "composed.cuh"
#include "single.cuh"

// A Stretch is all that comes with an iteration, beside the one before: P places and A words that occur (wordcontext.Stretch), and
// what stretch_jobs makes of them. arrivals.go brings it; stretchOfArgs of cbow_kernels.go is
// the same.
struct Stretch {
	const uint32_t *words, *from, *to;     // (P)
	const uint32_t *rows, *slots, *places; // (A), (A+1), (P)
	const uint32_t *negativePlaces, *negativeWords; // (H)
	const uint2 *order;                    // (tiles, 8): numbers of rows in the order of their jobs, or none; piece and 2^16 pieces
	const StepNumbers *steps;              // of tables, parts, positions; the second's stream is the iteration's number, from 1
	Job *jobs;                             // (tiles, 8)
	uint32_t *tileCount, *next;            // tiles and next of StepLaunch
	uint32_t count, rowCount, tiles, window;
};

// stretchArgs of cbow_kernels.go is the same.
struct StretchArgs {
	Stretch stretch;
	Table contexts, words;      // C, and W or words' own rows, or no values
	Table positions;            // (2W, N) d, or no values: windows have plain means
	const float4 *composed;     // X, (V, quads), the rows that windows are means of: W itself if it is not composed
	float4 *means, *sums;       // (T, quads) h, then e; s, see stretch.cu
	float4 *ofPositions;        // (runs, 2W, quads) the gradient of d
	uint32_t *inside;           // (T) in how many windows a place is
	float *updates;             // (V) of the words' rows of both tables. stretch_jobs of the next iteration may have counted already: see Job
	Loss *loss;
	Gradients ofParts;          // of words that are composed, else none
	float weight, bias;         // K/H; added to every score
	Rule rule;
	uint32_t slice, unused;     // log2 of the quads that a thread block of windows has
	DenseShape ofErrors;
};

constexpr int blockWarps = 8; // of a thread block: as in cbow_kernels.go

__device__ __forceinline__ int warpOfBlock() { return uniform(threadIdx.x / 32); }

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
