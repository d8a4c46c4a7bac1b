// The kernels of the subword encoders share this file.
//
// Tensor cores multiply bf16, which has 8 bits of mantissa. A float is therefore kept as the
// sum of two bf16, high and low, 16 bits together, in two matrices. A product of two such
// floats is three products of bf16, summed in float; it is wrong by about 2^-17 of itself.
#pragma once
#include "../cl/cl.cuh"

// split splits two floats; the first is in the lower bits of each pair.
__device__ __forceinline__ void split(float x, float y, uint32_t &high, uint32_t &low) {
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(y), "f"(x));
	float ofX = __uint_as_float(high << 16), ofY = __uint_as_float(high & 0xffff0000u);
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(low) : "f"(y - ofY), "f"(x - ofX));
}

__device__ __forceinline__ void split(float4 x, uint2 &high, uint2 &low) {
	split(x.x, x.y, high.x, low.x);
	split(x.z, x.w, high.y, low.y);
}

// Sums and products of tempered samples read float16, which has 11 bits of mantissa: gradients times
// gradientUnits, so that the small ones keep theirs.
constexpr float gradientUnits = 256;

__device__ __forceinline__ uint2 narrow(float4 x, float units) {
	uint2 r;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r.x) : "f"(units * x.y), "f"(units * x.x));
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r.y) : "f"(units * x.w), "f"(units * x.z));
	return r;
}

__device__ __forceinline__ float4 widen(uint2 x) {
	float4 r;
	asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(r.x), "=f"(r.y) : "r"(x.x));
	asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(r.z), "=f"(r.w) : "r"(x.y));
	return r;
}

// A Split is a matrix in two parts. Its rows are padded with zeros to whole groups
// of 8 values, which are copied at a time. Without low, high has float16 numbers.
struct Split {
	uint16_t *high, *low;
	uint64_t stride; // values from row to row
};

// put writes values from a column on, or one value.
__device__ __forceinline__ void put(const Split &to, size_t row, uint32_t column, float4 x, float units) {
	uint2 high, low;
	size_t at = row * to.stride + column;
	if (to.low) {
		split(x, high, low);
		*(uint2 *)(to.low + at) = low;
	} else {
		high = narrow(x, units);
	}
	*(uint2 *)(to.high + at) = high;
}

__device__ __forceinline__ void put(const Split &to, size_t row, uint32_t column, float x) {
	uint32_t high, low;
	size_t at = row * to.stride + column;
	if (to.low) {
		split(x, 0, high, low);
		to.low[at] = uint16_t(low);
	} else {
		high = narrow(make_float4(x, 0, 0, 0), 1).x;
	}
	to.high[at] = uint16_t(high);
}

// get reads one value of what put wrote.
__device__ __forceinline__ float get(const Split &from, size_t row, uint32_t column) {
	size_t at = row * from.stride + column;
	uint32_t high = from.high[at];
	if (!from.low) return widen(make_uint2(high, 0)).x;
	return __uint_as_float(high << 16) + __uint_as_float(uint32_t(from.low[at]) << 16);
}

// A Parameter is a matrix with the state of its optimizer.
struct Parameter {
	float *value, *first, *second, *secondOfRow; // (rows, stride) each, but (rows)
	const float *gradient;                       // as value
	uint32_t rows, columns, stride, unused;
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

// Decays are the constants of Adam's moments.
struct Decays {
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;
};

// An Updater updates values of one row of a parameter.
template <Method method> struct Updater {
	const Decays &c;
	const ClStep &s;
	float scale; // of row-wise Adam

	// All threads of a thread block call it together, each with the squares of its gradients.
	__device__ __forceinline__ Updater(const Decays &c, const ClStep &s, const Parameter &p, uint32_t row, float squares, float *part) : c(c), s(s), scale(0) {
		if constexpr (method == adamRow) {
			float second = c.beta2 * p.secondOfRow[row] + c.oneMinusBeta2 * (sumOfBlock(squares, part) / p.columns);
			scale = s.scale / (sqrtf(second) + s.epsilon);
			__syncthreads();
			if (threadIdx.x == 0) p.secondOfRow[row] = second;
		}
	}

	// advance updates a value w with its moments, which is all that it reads of them.
	__device__ __forceinline__ void advance(float &w, float &first, float &second, float g) const {
		float m = g;
		if constexpr (hasFirst(method)) first = m = c.beta1 * first + c.oneMinusBeta1 * g;
		if constexpr (hasSecond(method)) {
			second = c.beta2 * second + c.oneMinusBeta2 * g * g;
			w = s.keep * w - s.scale * m / (sqrtf(second) + s.epsilon);
		} else {
			w = s.keep * w - scale * m;
		}
	}

	// update updates the value at a place.
	__device__ __forceinline__ void update(const Parameter &p, size_t at, float g) const {
		float w = p.value[at], first = 0, second = 0;
		if constexpr (hasFirst(method)) first = p.first[at];
		if constexpr (hasSecond(method)) second = p.second[at];
		advance(w, first, second, g);
		if constexpr (hasFirst(method)) p.first[at] = first;
		if constexpr (hasSecond(method)) p.second[at] = second;
		p.value[at] = w;
	}
};
