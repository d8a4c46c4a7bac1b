// Rows of a table as a warp holds them: float4 number i of a row is with lane
// i mod 32. A table's rows are padded with zeros to whole float4s ("quads"),
// which no kernel changes: their dots and gradients are zero.
#pragma once
#include <cstdint>

constexpr unsigned warp = 0xffffffffu; // lanes of a warp

__device__ __forceinline__ int laneNumber() { return threadIdx.x & 31; }

// A Row is up to 128 F values of a row.
template <int F> struct Row {
	float4 v[F];
};

template <int F> __device__ __forceinline__ Row<F> zeros() {
	Row<F> r;
#pragma unroll
	for (int f = 0; f < F; f++) r.v[f] = make_float4(0, 0, 0, 0);
	return r;
}

// load reads a row of quads float4s that does not change while the kernel runs,
// or that this warp alone changes.
template <int F> __device__ __forceinline__ Row<F> load(const float4 *row, int quads) {
	Row<F> r = zeros<F>();
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) r.v[f] = row[i];
	return r;
}

template <int F> __device__ __forceinline__ void store(float4 *row, int quads, const Row<F> &r) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) row[i] = r.v[f];
}

// loadCurrent reads a row that other warps change: from L2, for the copy in L1
// may be old. Volatile, so that it stays behind what this warp has added before.
template <int F> __device__ __forceinline__ Row<F> loadCurrent(const float4 *row, int quads) {
	Row<F> r = zeros<F>();
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads)
			asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
				: "=f"(r.v[f].x), "=f"(r.v[f].y), "=f"(r.v[f].z), "=f"(r.v[f].w)
				: "l"(__cvta_generic_to_global(row + i)) : "memory");
	return r;
}

// storeCurrent writes a row that other warps read.
template <int F> __device__ __forceinline__ void storeCurrent(float4 *row, int quads, const Row<F> &r) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads)
			asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::
				"l"(__cvta_generic_to_global(row + i)),
				"f"(r.v[f].x), "f"(r.v[f].y), "f"(r.v[f].z), "f"(r.v[f].w) : "memory");
}

// addCurrent adds to a row that other warps change. No addition is lost, and
// none waits for the line: L2 does it. Before sm_90 it takes four instructions.
template <int F> __device__ __forceinline__ void addCurrent(float4 *row, int quads, const Row<F> &r) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) {
			size_t at = __cvta_generic_to_global(row + i);
			float4 x = r.v[f];
#if __CUDA_ARCH__ >= 900
			asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::
				"l"(at), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w) : "memory");
#else
			asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(at), "f"(x.x) : "memory");
			asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(at + 4), "f"(x.y) : "memory");
			asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(at + 8), "f"(x.z) : "memory");
			asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(at + 12), "f"(x.w) : "memory");
#endif
		}
}

// partial is this lane's part of a dot product.
template <int F> __device__ __forceinline__ float partial(const Row<F> &a, const Row<F> &b) {
	float s = 0;
#pragma unroll
	for (int f = 0; f < F; f++) {
		s = fmaf(a.v[f].x, b.v[f].x, s);
		s = fmaf(a.v[f].y, b.v[f].y, s);
		s = fmaf(a.v[f].z, b.v[f].z, s);
		s = fmaf(a.v[f].w, b.v[f].w, s);
	}
	return s;
}

// add adds c x to y.
template <int F> __device__ __forceinline__ void add(Row<F> &y, float c, const Row<F> &x) {
#pragma unroll
	for (int f = 0; f < F; f++) {
		y.v[f].x = fmaf(c, x.v[f].x, y.v[f].x);
		y.v[f].y = fmaf(c, x.v[f].y, y.v[f].y);
		y.v[f].z = fmaf(c, x.v[f].z, y.v[f].z);
		y.v[f].w = fmaf(c, x.v[f].w, y.v[f].w);
	}
}

// sum returns the sum over the warp to every lane.
__device__ __forceinline__ float sum(float x) {
#pragma unroll
	for (int d = 16; d; d /= 2) x += __shfl_xor_sync(warp, x, d);
	return x;
}

// sums sums G numbers of each lane over the warp at once: lane i gets the sum of
// number i mod G. G is a power of two. In each step a lane gives away half of
// its numbers, so G numbers take G-1 shuffles and log(32/G), not 5 G.
template <int G> __device__ __forceinline__ float sums(float (&x)[G]) {
#pragma unroll
	for (int half = G / 2; half; half /= 2) {
		bool upper = laneNumber() & half;
#pragma unroll
		for (int i = 0; i < half; i++) {
			float give = upper ? x[i] : x[i + half], keep = upper ? x[i + half] : x[i];
			x[i] = keep + __shfl_xor_sync(warp, give, half);
		}
	}
#pragma unroll
	for (int d = G; d < 32; d *= 2) x[0] += __shfl_xor_sync(warp, x[0], d);
	return x[0];
}

// A logistic is the sigmoid of a score and the factor whose logarithm is the
// loss, with the limits that kernels/simd has.
struct Logistic {
	float sigmoid, factor;
};

__device__ __forceinline__ Logistic logistic(float score) {
	// NaN stays NaN: fminf would give the limit.
	float e = expf(score != score ? score : fminf(fmaxf(score, -87.0f), 80.0f));
	return {e / (1 + e), 1 + e};
}
