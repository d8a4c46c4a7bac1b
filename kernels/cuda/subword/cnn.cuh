// The arguments of the CNN's kernels, and what they share: cnn.cu says what they compute.
#pragma once
#include "subword.cuh"

constexpr int maxWidths = 16;
constexpr uint16_t nowhere = 0xffff;
constexpr float leastVariance = 1e-3f;

// Sums over words are of words v, v + classes, ... each, so that they do not depend on the number of GPUs: GPU g of G has the words
// g, g + G, ..., which are whole classes.
constexpr uint32_t classes = 8;

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
	double *sums;                     // (thread blocks of the convolution on all GPUs, 2, D)
	float *mean, *scale;              // (D)
	Narrow y;                          // (V, D + 1), the last column 1
	const float *parts;               // of the gradient of weights, (chunks, D + 1, strideN)
	float *meanGradient;              // (D), mean over the words of the gradient of y
	float *meanProduct;               // (D), the same of y times its gradient
	Narrow weights;                    // (D + 1, N)
	const float *dy;                  // (V, strideD)
	float *dparts;                    // (pieces, W, A, C)
	float *dtables;                   // (W, A, C)
	float *dembeddings, *dfilters;    // as embeddings and filters
	Parameter layer;                  // weights, (D + 1, N)
	uint64_t *together;               // how often thread blocks of the convolution have met, see quads.cu
	const StepNumbers *step;
	Decays decays;
	uint32_t v, a, e, columns, d, n; // V of this GPU; columns: C
	uint32_t all, gpu, gpus;         // words of all GPUs; what this one has of them
	uint32_t widest, widths, chunks, strideD, pieces, blocks;
	uint32_t raw, activation, packed;
	uint32_t apart, fixed, sparse; // features are standardized by a kernel of its own; by other words' numbers; rows without a gradient are left alone
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

// exact rounds to multiples of 2^-24, as all numbers near 3 * 2^27 are: a sum of them is not rounded, so any order gives its bits.
__device__ __forceinline__ double exact(double x) { return (x + (3 << 27)) - (3 << 27); }
// sizeOf is how many values of dparts a piece has: whole quads.
__device__ __forceinline__ size_t sizeOf(const Cnn &c) { return (c.widest * c.a * c.columns + 3) / 4 * 4; }
// lineOf is the number of a thread block's sums among those of all GPUs.
__device__ __forceinline__ uint32_t lineOf(const Cnn &c, uint32_t block) { return c.gpu + c.gpus * block; }

// Words are some of this GPU's: first, first + step, ..., count of them.
struct Words { uint32_t first, step, count; };

// wordsOf returns the words of a warp of a piece: a piece has a part of a class.
__device__ __forceinline__ Words wordsOf(const Cnn &c, uint32_t piece, uint32_t w, uint32_t warps) {
	uint32_t line = lineOf(c, piece), of = (c.all + classes - 1 - line % classes) / classes, step = classes / c.gpus;
	uint64_t part = line / classes * warps + w, parts = c.pieces / classes * warps;
	uint32_t first = uint32_t(of * part / parts), last = uint32_t(of * (part + 1) / parts);
	return {piece % step + first * step, step, last - first};
}

// derivative of the activation where its result is y.
__device__ __forceinline__ float derivative(const Cnn &c, float y) {
	return c.activation == relu ? float(y > 0) : c.activation == hyperbolic ? 1 - y * y : 1;
}

// keepMoments notes the mean of feature d over the words and its scale, from its sum and that of its squares.
__device__ __forceinline__ void keepMoments(const Cnn &c, uint32_t d, double sum, double squares) {
	double mean = sum / c.all, square = squares / c.all;
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

// moments computes mean and scale of features from the sums of all thread blocks: a warp has a feature.
__device__ __forceinline__ void moments(const Cnn &c) {
	for (uint32_t f = blockIdx.x + gridDim.x * (threadIdx.x / 32); f < c.d; f += gridDim.x * (blockDim.x / 32)) {
		double x = 0, squares = 0;
		uint32_t l = laneNumber();
		inBatches<5>(c.blocks > l ? (c.blocks - l + 31) / 32 : 0, [&](uint32_t i) {
			const double *from = c.sums + 2 * size_t(l + 32 * i) * c.d + f;
			return make_double2(__ldcg(from), __ldcg(from + c.d));
		}, [&](double2 y) { x += y.x, squares += y.y; });
#pragma unroll
		for (int other = 16; other; other /= 2) x += __shfl_xor_sync(warp, x, other), squares += __shfl_xor_sync(warp, squares, other);
		if (laneNumber() == 0) keepMoments(c, f, x, squares);
	}
}
