// The highway layers of a CNN, between the maxima of a word and its vector: see Highway of package subword. U = V G are the
// spellings of all words. A layer, from its features x (U, D) and weights (D + 1, 2D):
//
//	narrow     (x, 1) and weights, of float16 numbers
//	product    changes and gates (U, 2D) = (x, 1) weights
//	forward    gates = sigmoid(gates); result (U, D) = x + gates (max(changes, 0) - x), which the next layer has as its x
//	sum        after the last layer: the features of a word, (V, D), over its spellings
//
// The way back, from the last layer to the first:
//
//	backward   the gradient of changes and gates, and what of the result's gradient the gates pass on
//	products   the gradient of weights, in chunks, and that of x through the weights
//	collect    the gradient of weights, from its chunks
//	finish     the gradient of the first layer's x; cnn.cu, quads.cu and lists.cu go on with it
//
// A thread has a value, and the order of all sums follows from the shapes.
#include "cnn.cuh"

constexpr float largest = 65504; // of float16 numbers

struct Highway {
	Cnn cnn;
	Narrow x, weights, gradient; // (U, D + 1), the last column 1; (D + 1, 2D); of changes and gates, (U, 2D)
	const float *in;             // x, (U, D)
	float *layer;                // changes and gates, (U, strideL)
	float *out;                  // the result, (U, D)
	float *passed;               // (U, strideD), what the gates pass on
	const float *through;        // (U, strideD), what comes through the weights
	const float *parts;          // of the gradient of weights, (chunks, D + 1, strideL)
	Parameter parameter;         // weights
	uint32_t rows, strideL, chunks, last; // U; whether it is the last layer
};

// A Place is the value of a thread in a matrix of so many columns, of which 256 at a time have a thread block.
struct Place {
	uint32_t row, column;

	__device__ __forceinline__ explicit Place(uint32_t columns) {
		uint32_t groups = (columns + 255) / 256;
		row = blockIdx.x / groups, column = blockIdx.x % groups * 256 + threadIdx.x;
	}
};

// highway_narrow writes the factors of the product. A thread has four values: of weights in the first thread blocks, then of x.
extern "C" __global__ void __launch_bounds__(256) highway_narrow(const __grid_constant__ Highway h) {
	const Cnn &c = h.cnn;
	uint32_t quads = uint32_t(h.weights.stride) / 4, before = ((c.d + 1) * quads + 255) / 256;
	if (blockIdx.x < before) {
		uint32_t i = blockIdx.x * 256 + threadIdx.x, d = i / quads, n = i % quads * 4;
		if (d <= c.d) put(h.weights, d, n, *(const float4 *)(h.parameter.value + size_t(d) * h.strideL + n), 1); // behind a row are zeros
		return;
	}
	quads = uint32_t(h.x.stride) / 4;
	uint32_t groups = (quads + 255) / 256, u = (blockIdx.x - before) / groups, d = ((blockIdx.x - before) % groups * 256 + threadIdx.x) * 4;
	if (d >= h.x.stride) return;
	float x[4];
#pragma unroll
	for (int j = 0; j < 4; j++) x[j] = d + j < c.d ? h.in[size_t(u) * c.d + d + j] : d + j == c.d ? 1 : 0;
	put(h.x, u, d, make_float4(x[0], x[1], x[2], x[3]), 1);
}

// rectify leaves NaN as it is.
__device__ __forceinline__ float rectify(float x) { return x < 0 ? 0 : x; }

extern "C" __global__ void __launch_bounds__(256) highway_forward(const __grid_constant__ Highway h) {
	const uint32_t d = h.cnn.d;
	Place p(d);
	if (p.column >= d) return;
	size_t at = size_t(p.row) * d + p.column;
	float *layer = h.layer + size_t(p.row) * h.strideL + p.column, x = h.in[at], gate = 1 / (1 + expf(-layer[d]));
	layer[d] = gate;
	h.out[at] = x + gate * (rectify(layer[0]) - x);
}

// highway_sum is the end of cnn_convolve: a thread has a feature of every c.blocks-th word.
extern "C" __global__ void __launch_bounds__(1024) highway_sum(const __grid_constant__ Highway h) {
	const Cnn &c = h.cnn;
	for (uint32_t d = threadIdx.x; d < c.d; d += blockDim.x) {
		double sum = 0, squares = 0;
		for (uint32_t v = blockIdx.x; v < c.v; v += c.blocks) {
			float value = 0;
			for (uint32_t spelling = 0; spelling < c.spellings; spelling++) value += h.out[(size_t(v) * c.spellings + spelling) * c.d + d];
			c.summed[size_t(v) * c.d + d] = value;
			sum += value;
			squares += double(value) * value;
		}
		c.sums[(2 * size_t(blockIdx.x)) * c.d + d] = sum;
		c.sums[(2 * size_t(blockIdx.x) + 1) * c.d + d] = squares;
	}
}

// putGradient writes one value. Too large ones are the largest; NaN stays.
__device__ __forceinline__ void putGradient(const Narrow &to, uint32_t row, uint32_t column, float x) {
	x *= gradientUnits;
	x = x > largest ? largest : x < -largest ? -largest : x;
	to.values[row * to.stride + column] = uint16_t(narrow(make_float4(x, 0, 0, 0), 1).x);
}

extern "C" __global__ void __launch_bounds__(256) highway_backward(const __grid_constant__ Highway h) {
	const Cnn &c = h.cnn;
	Place p(c.d);
	const uint32_t d = p.column;
	if (d >= c.d) return;
	const float *layer = h.layer + size_t(p.row) * h.strideL + d;
	float change = layer[0], gate = layer[c.d], x = h.in[size_t(p.row) * c.d + d], g;
	size_t passed = size_t(p.row) * c.strideD + d;
	if (h.last) { // of the word's features, before they were standardized
		uint32_t v = p.row / c.spellings;
		float scale = c.scale[d], y = (c.summed[size_t(v) * c.d + d] - c.mean[d]) * scale;
		g = scale * (c.dy[size_t(v) * c.strideD + d] - c.meanGradient[d] - y * c.meanProduct[d]);
	} else
		g = h.passed[passed] + h.through[passed];
	putGradient(h.gradient, p.row, d, change > 0 ? g * gate : 0);
	putGradient(h.gradient, p.row, c.d + d, g * (rectify(change) - x) * gate * (1 - gate));
	h.passed[passed] = g * (1 - gate);
}

extern "C" __global__ void __launch_bounds__(256) highway_collect(const __grid_constant__ Highway h) {
	const uint32_t columns = 2 * h.cnn.d;
	Place p(columns);
	if (p.column >= columns) return;
	size_t at = size_t(p.row) * h.strideL + p.column, size = size_t(h.cnn.d + 1) * h.strideL;
	float sum = 0;
	inBatches<16>(h.chunks, [&](uint32_t k) { return h.parts[k * size + at]; }, [&](float x) { sum += x; });
	((float *)h.parameter.gradient)[at] = sum;
}

extern "C" __global__ void __launch_bounds__(256) highway_finish(const __grid_constant__ Highway h) {
	Place p(h.cnn.d);
	size_t at = size_t(p.row) * h.cnn.strideD + p.column;
	if (p.column < h.cnn.d) h.passed[at] += h.through[at];
}
