// The arguments of the CNN's kernels, and what they share: cnn.cu says what they compute.
#pragma once
#include "subword.cuh"

constexpr int maxWidths = 16;
constexpr uint16_t nowhere = 0xffff;
constexpr float leastVariance = 1e-3f;

// A Group is up to 32 quads of filters of one width, and the warps of a thread block that have them.
struct Group {
	uint32_t width, quad, quads; // the first quad of all, and their number
	uint32_t begin, end;         // warps
};

constexpr int maxGroups = 24;

struct Cnn {
	const uint32_t *starts, *symbols; // word v is symbols[starts[v]] to symbols[starts[v+1] - 1]; with G spellings, word v G + g is spelling g of v
	const uint32_t *packedWords;      // (V, 8) of four symbols each, the first in the lowest byte, of words in the order of places; packed only
	const uint2 *places;              // (V), a word and its symbols, the longest first
	const float *embeddings;          // (A, E)
	const float *filters;             // for each width w, (wE + 1, F): the last row is the bias
	float *tables;                    // (W, A, C), or (A, T), see lists.cu
	float *features;                  // (V G, D)
	float *summed;                    // (V, D), sums of features over the spellings; features if there is one
	void *where;                      // (V G, D) of 16 bits, the place of the maximum; packed, of 32, the symbols there, the first in the lowest byte
	double *sums;                     // (thread blocks of the convolution, 2, D)
	float *mean, *scale;              // (D)
	Narrow y;                          // (V, D + 1), the last column 1
	const float *parts;               // of the gradient of weights, (chunks, D + 1, strideN)
	float *meanGradient;              // (D), mean over the words of the gradient of y
	float *meanProduct;               // (D), the same of y times its gradient
	Narrow weights;                    // (D + 1, N)
	const float *dy;                  // (V, strideD)
	float *dparts;                    // (pieces, W, A, C), or dtables itself
	float *dtables;                   // (W, A, C)
	float *dembeddings, *dfilters;    // as embeddings and filters
	Parameter layer;                  // weights, (D + 1, N)
	uint64_t *together;               // how often thread blocks of the convolution have met, see quads.cu
	const StepNumbers *step;
	Decays decays;
	uint32_t v, a, e, columns, d, n; // columns: C
	uint32_t widest, widths, chunks, strideD, pieces, blocks;
	uint32_t raw, activation, packed;
	uint32_t kept; // features of so many words of a lane stay in shared memory; packed only
	uint32_t spellings, pitch, lists; // G; from symbol to symbol in tables; whether these are those of lists.cu
	// Of each width: w, F, where its filters begin, its first of C columns, and in tables where its values of a symbol begin, and
	// how far they are from offset to offset.
	uint32_t width[maxWidths], count[maxWidths], first[maxWidths], column[maxWidths], begin[maxWidths], offset[maxWidths];
	Group groups[maxGroups]; // of quads.cu
};

enum Activation { relu, hyperbolic, linear };

__device__ __forceinline__ float activate(const Cnn &c, float x) {
	return c.activation == relu ? fmaxf(x, 0) : c.activation == hyperbolic ? tanhf(x) : x;
}

// derivative of the activation where its result is y.
__device__ __forceinline__ float derivative(const Cnn &c, float y) {
	return c.activation == relu ? float(y > 0) : c.activation == hyperbolic ? 1 - y * y : 1;
}

// keepMoments notes the mean of feature d over the words and its scale, from its sum and that of its squares.
__device__ __forceinline__ void keepMoments(const Cnn &c, uint32_t d, double sum, double squares) {
	double mean = sum / c.v, square = squares / c.v;
	c.mean[d] = c.raw ? 0 : float(mean);
	c.scale[d] = c.raw ? 1 : float(1 / sqrt(fmax(square - mean * mean, 0.0) + leastVariance));
	// fmax would hide NaN.
	if (square != square) c.scale[d] = float(square);
}

// widthOf returns the width that i belongs to, by where the widths begin.
__device__ __forceinline__ uint32_t widthOf(const Cnn &c, const uint32_t (&begin)[maxWidths], uint32_t i) {
	uint32_t b = 0;
	while (b + 1 < c.widths && i >= begin[b + 1]) b++;
	return b;
}

// inBatches gives add what load returns for 0 to n - 1, in this order; so many are loaded together.
template <int batch, class Load, class Add> __device__ __forceinline__ void inBatches(uint32_t n, Load load, Add add) {
	for (uint32_t i = 0; i < n; i += batch) {
		decltype(load(0)) x[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) x[j] = load(min(i + j, n - 1));
#pragma unroll
		for (int j = 0; j < batch; j++)
			if (i + j < n) add(x[j]);
	}
}

// addToRows adds the gradient of a feature to W rows of a warp's own tables, of different offsets. A lane adds to its column
// only, so no two lanes add at the same place.
template <int W> __device__ __forceinline__ void addToRows(float *column, const uint32_t (&rows)[W], float g) {
	float x[W]; // the rows are of different offsets: none comes twice
#pragma unroll
	for (int o = 0; o < W; o++) x[o] = column[32 * rows[o]];
#pragma unroll
	for (int o = 0; o < W; o++) column[32 * rows[o]] = x[o] + g;
}
