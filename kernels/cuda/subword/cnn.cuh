// The arguments of the CNN's kernels, and what they share: cnn.cu says what they compute.
#pragma once
#include "subword.cuh"

constexpr int maxWidths = 16;
constexpr uint16_t nowhere = 0xffff;
constexpr float leastVariance = 1e-3f;

struct Cnn {
	const uint32_t *starts, *symbols; // word v is symbols[starts[v]] to symbols[starts[v+1] - 1]
	const uint32_t *packedWords;      // (V, 8) of four symbols each, the first in the lowest byte, of words in the order of places; packed only
	const uint2 *places;              // (V), a word and its symbols, the longest first
	const float *embeddings;          // (A, E)
	const float *filters;             // for each width w, (wE + 1, F): the last row is the bias
	float *tables;                    // (W, A, C)
	float *features;                  // (V, D)
	void *where;                      // (V, D) of 16 bits, the place of the maximum; packed, of 32, the symbols there, the first in the lowest byte; flattened, not used
	double *sums;                     // (thread blocks of the convolution, 2, D)
	float *mean, *scale;              // (D)
	Split y;                          // (V, D + 1), the last column 1
	const float *parts;               // of the gradient of weights, (chunks, D + 1, strideN)
	float *meanGradient;              // (D), mean over the words of the gradient of y
	float *meanProduct;               // (D), the same of y times its gradient
	Split weights;                    // (D + 1, N)
	const float *dy;                  // (V, strideD)
	float *dparts;                    // (pieces, W, A, C), or dtables itself
	float *dtables;                   // (W, A, C)
	float *dembeddings, *dfilters;    // as embeddings and filters
	Parameter layer;                  // weights, (D + 1, N)
	const ClStep *step;
	Decays decays;
	uint32_t v, a, e, columns, d, n; // columns: C
	uint32_t widest, widths, chunks, strideD, pieces, blocks;
	uint32_t flatten, raw, activation, packed;
	// Of each width: w, F, where its filters begin, where its columns of tables begin, positions
	// that have features, and where its features begin.
	uint32_t width[maxWidths], count[maxWidths], first[maxWidths], column[maxWidths], positions[maxWidths], feature[maxWidths];
};

enum Activation { relu, hyperbolic, linear };

__device__ __forceinline__ float activate(const Cnn &c, float x) {
	return c.activation == relu ? fmaxf(x, 0) : c.activation == hyperbolic ? tanhf(x) : x;
}

// derivative of the activation where its result is y.
__device__ __forceinline__ float derivative(const Cnn &c, float y) {
	return c.activation == relu ? float(y > 0) : c.activation == hyperbolic ? 1 - y * y : 1;
}

// widthOf returns the width that i belongs to, by where the widths begin.
__device__ __forceinline__ uint32_t widthOf(const Cnn &c, const uint32_t (&begin)[maxWidths], uint32_t i) {
	uint32_t b = 0;
	while (b + 1 < c.widths && i >= begin[b + 1]) b++;
	return b;
}

// An Adder adds gradients of features to rows of the tables that made them: in shared
// memory to the warp's own tables, where a lane adds to its column only, so no two lanes
// add at the same place; or to the one table in memory.
template <bool shared> struct Adder {
	float *column;
	uint32_t stride;

	// add adds g to W rows, of different offsets.
	template <int W> __device__ __forceinline__ void add(const uint32_t (&rows)[W], float g) const {
		if constexpr (!shared) {
			for (int o = 0; o < W; o++) atomicAdd(column + size_t(rows[o]) * stride, g);
		} else {
			float x[W]; // the rows are of different offsets: none comes twice
#pragma unroll
			for (int o = 0; o < W; o++) x[o] = column[rows[o] * stride];
#pragma unroll
			for (int o = 0; o < W; o++) column[rows[o] * stride] = x[o] + g;
		}
	}
};
