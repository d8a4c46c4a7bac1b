// The kernels of the subword encoders share this file.
//
// Sums and products read float16, which has 11 bits of mantissa, and add up in float32. Gradients are there times
// gradientUnits, so that the small ones keep theirs; over 255 they overflow.
#pragma once
#include "../cl/cl.cuh"

constexpr float gradientUnits = 256;

// A Narrow is a matrix of float16 numbers. Its rows are padded with zeros to whole groups of 8, which are copied at a time.
// cl.Narrow is the same.
struct Narrow {
	uint16_t *values;
	uint64_t stride; // from row to row
};

// put writes values from a column on.
__device__ __forceinline__ void put(const Narrow &to, size_t row, uint32_t column, float4 x, float units) {
	*(uint2 *)(to.values + row * to.stride + column) = narrow(x, units);
}

// Gradients are those of composed rows, for what they are composed of: keep writes that of a row to a place, and a row has one in a
// step if it has the step's number. cl.Gradients is the same.
struct Gradients {
	Narrow rows;          // (V, N), times weights and gradientUnits
	const float *weights; // (V), of parts in the mean that a row is
	uint32_t *trained;    // (V), the step that wrote a row's gradient

	template <int F> __device__ __forceinline__ void keep(uint32_t row, uint32_t place, const Row<F> &g, float weight, uint32_t step) const {
#pragma unroll
		for (int f = 0; f < F; f++)
			if (uint32_t i = 4 * (laneNumber() + 32 * f); i < rows.stride) put(rows, place, i, g.v[f], gradientUnits * weight);
		if (laneNumber() == 0) trained[row] = step;
	}
};

// get reads one value.
__device__ __forceinline__ float get(const Narrow &from, size_t row, uint32_t column) {
	return widen(make_uint2(from.values[row * from.stride + column], 0)).x;
}

// A Parameter is a matrix with the state of its optimizer.
struct Parameter {
	float *value, *first, *second, *secondOfRow; // (rows, stride) each, but (rows)
	const float *gradient;                       // as value
	uint32_t rows, columns, stride;
	float rate; // its learning rate divided by that of the step
};

// sumOfBlock returns the sum over the threads of a thread block to all of them; part is for
// one value a warp.
template <class T> __device__ __forceinline__ T sumOfBlock(T x, T *part) {
#pragma unroll
	for (int d = 16; d; d /= 2) x += __shfl_xor_sync(warp, x, d);
	__syncthreads(); // part may be in use
	if (laneNumber() == 0) part[threadIdx.x / 32] = x;
	__syncthreads();
	x = 0;
	for (int w = 0; w < blockDim.x / 32; w++) x += part[w];
	return x;
}

// An Updater updates values of one row of a parameter.
template <class method> struct Updater {
	const Decays &c;
	StepNumbers s;
	float scale; // of row-wise Adam

	// All threads of a thread block call it together, each with the squares of its gradients.
	__device__ __forceinline__ Updater(const Decays &c, const StepNumbers &step, const Parameter &p, uint32_t row, float squares, float *part) : c(c), s(step), scale(0) {
		s.keep = 1 - p.rate * (1 - s.keep); // 1 leaves it as it is
		s.scale *= p.rate;
		s.rate *= p.rate;
		if constexpr (method::ofRow) {
			float second = p.secondOfRow[row];
			scale = method::scaleOf(second, sumOfBlock(squares, part) / p.columns, c, s);
			__syncthreads();
			if (threadIdx.x == 0) p.secondOfRow[row] = second;
		}
	}

	// advance updates a value w with its moments, which is all that it reads of them.
	__device__ __forceinline__ void advance(float &w, float &first, float &second, float g) const {
		method::template update<Exact>(w, first, second, g, c, s, scale);
	}

	// update updates the value at a place.
	__device__ __forceinline__ void update(const Parameter &p, size_t at, float g) const {
		float w = p.value[at], first = 0, second = 0;
		if constexpr (method::first) first = p.first[at];
		if constexpr (method::second) second = p.second[at];
		advance(w, first, second, g);
		if constexpr (method::first) p.first[at] = first;
		if constexpr (method::second) p.second[at] = second;
		p.value[at] = w;
	}
};
