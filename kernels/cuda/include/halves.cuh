// Rows of a table of float16, which changes as Chunks of rows.cuh do.
#pragma once
#include <cuda_fp16.h>

#include "rows.cuh"

__device__ __forceinline__ uint32_t bits(__half2 x) { return *reinterpret_cast<uint32_t *>(&x); }
__device__ __forceinline__ __half2 halves(uint32_t x) { return *reinterpret_cast<__half2 *>(&x); }

// Dither rounds sums to float16. At the end of training changes are far below the last digit,
// and would vanish. So a sum is rounded at random to one of its two neighbours, with the
// probabilities that keep the mean, and L2 adds the difference. The random numbers need not
// equal those of the CPU: two runs differ anyway.
struct Dither {
	uint32_t state;

	// step returns the difference between old and old + x, rounded at random: a random
	// number of 13 binary digits is added, then as many are cut off.
	__device__ __forceinline__ uint32_t step(uint32_t old, float x, float y) {
		state = state * 1664525u + 1013904223u;
		float2 from = __half22float2(halves(old));
		float u = __uint_as_float(__float_as_uint(from.x + x) + (state >> 19));
		float v = __uint_as_float(__float_as_uint(from.y + y) + (state >> 6 & 0x1fff));
		uint32_t to;
		asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(v), "f"(u));
		return bits(__hsub2(halves(to), halves(old)));
	}
};

// HalfChunks are Chunks of float16, where a quad has 8 bytes.
template <int F> struct HalfChunks : ChunksOf<uint2> {
	using ChunksOf<uint2>::ChunksOf;
};

template <int F> __device__ __forceinline__ Row<F> loadCurrent(const HalfChunks<F> &table, uint32_t row, bool wanted) {
	Row<F> r;
#pragma unroll
	for (int f = 0; f < F; f++) {
		uint2 x;
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
			"@p ld.global.cg.v2.b32 {%0, %1}, [%2];\n}"
			: "=&r"(x.x), "=&r"(x.y)
			: "l"(table.at(row, f)), "r"(wanted & table.has(f)));
		float2 low = __half22float2(halves(x.x)), high = __half22float2(halves(x.y));
		r.v[f] = make_float4(low.x, low.y, high.x, high.y);
	}
	return r;
}

// addChange adds to a row that was old, if wanted; see addCurrent.
template <int F> __device__ __forceinline__ void addChange(const HalfChunks<F> &table, uint32_t row, const Row<F> &old, const Row<F> &change, bool wanted, Dither &dither) {
#pragma unroll
	for (int f = 0; f < F; f++) {
		float4 o = old.v[f], c = change.v[f];
		uint32_t x = dither.step(bits(__floats2half2_rn(o.x, o.y)), c.x, c.y), y = dither.step(bits(__floats2half2_rn(o.z, o.w)), c.z, c.w);
#if __CUDA_ARCH__ >= 900
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p red.relaxed.gpu.global.add.noftz.v2.f16x2 [%0], {%1, %2};\n}" ::
			"l"(table.at(row, f)), "r"(x), "r"(y), "r"(wanted & table.has(f)));
#else
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;\n"
			"@p red.relaxed.gpu.global.add.noftz.f16x2 [%0+4], %2;\n}" ::
			"l"(table.at(row, f)), "r"(x), "r"(y), "r"(wanted & table.has(f)));
#endif
	}
}

// addChange of a float32 table needs neither the old row nor random numbers.
template <int F, int E> __device__ __forceinline__ void addChange(const Chunks<F, E> &table, uint32_t row, const Row<F, E> &, const Row<F, E> &change, bool wanted, Dither &) {
	addCurrent(table, row, change, wanted);
}
