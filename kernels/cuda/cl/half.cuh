// Values of 16 bits, as both kernels with half precision read and write them.
#pragma once
#include <cstdint>

// Pairs are P pairs of values that lie side by side, 8 or 16 bytes. The first value of a pair
// is in the lower bits.
template <int P> struct Pairs {
	uint32_t pair[P];
};

// gather reads values that do not change while the kernel runs.
__device__ __forceinline__ void gather(Pairs<4> &u, const uint32_t *p) {
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		: "=r"(u.pair[0]), "=r"(u.pair[1]), "=r"(u.pair[2]), "=r"(u.pair[3]) : "l"(__cvta_generic_to_global(p)));
}

// stream reads values that only this warp changes, once.
__device__ __forceinline__ void stream(Pairs<4> &u, const uint32_t *p) {
	asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		: "=r"(u.pair[0]), "=r"(u.pair[1]), "=r"(u.pair[2]), "=r"(u.pair[3]) : "l"(__cvta_generic_to_global(p)));
}

__device__ __forceinline__ void stream(Pairs<2> &u, const uint32_t *p) {
	asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(u.pair[0]), "=r"(u.pair[1]) : "l"(__cvta_generic_to_global(p)));
}

// put writes values that the next step gathers, putStream those that are not needed soon.
__device__ __forceinline__ void put(uint32_t *p, const Pairs<4> &u) { *(uint4 *)p = make_uint4(u.pair[0], u.pair[1], u.pair[2], u.pair[3]); }
__device__ __forceinline__ void put(uint32_t *p, const Pairs<2> &u) { *(uint2 *)p = make_uint2(u.pair[0], u.pair[1]); }
__device__ __forceinline__ void putStream(uint32_t *p, const Pairs<4> &u) { __stcs((uint4 *)p, make_uint4(u.pair[0], u.pair[1], u.pair[2], u.pair[3])); }
__device__ __forceinline__ void putStream(uint32_t *p, const Pairs<2> &u) { __stcs((uint2 *)p, make_uint2(u.pair[0], u.pair[1])); }

// mix makes bits of a number that look random: enough for rounding.
__device__ __forceinline__ uint32_t mix(uint32_t x) {
	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	return x ^ x >> 12;
}

constexpr uint32_t golden = 0x9e3779b9u;

// value is value number i.
template <int P> __device__ __forceinline__ float value(const Pairs<P> &u, int i) {
	return __uint_as_float(i % 2 ? u.pair[i / 2] & 0xffff0000u : u.pair[i / 2] << 16);
}

// again is value in other instructions: otherwise the compiler would keep the values from
// dots to gradient, for which there are no registers.
template <int P> __device__ __forceinline__ float again(const Pairs<P> &u, int i) {
	return __uint_as_float(__byte_perm(u.pair[i / 2], 0, i % 2 ? 0x3244 : 0x1044));
}

// join gives back every bit: rounding went up if the lower bits begin with a one.
template <int P> __device__ __forceinline__ float join(const Pairs<P> &rounded, const Pairs<P> &low, int i) {
	uint32_t h = rounded.pair[i / 2], l = low.pair[i / 2];
	return __uint_as_float(i % 2 ? __byte_perm(l, h, 0x7632) - ((l & 0x80000000u) >> 15) : __byte_perm(l, h, 0x5410) - ((l & 0x8000u) << 1));
}

// upper makes a pair of the upper bits of two values.
__device__ __forceinline__ uint32_t upper(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }

// nearest rounds to the nearest bfloat16, of two as near the larger one by size.
template <int P> __device__ __forceinline__ void nearest(Pairs<P> &u, const float (&x)[2 * P]) {
#pragma unroll
	for (int i = 0; i < P; i++) u.pair[i] = upper(__float_as_uint(x[2 * i]) + 0x8000u, __float_as_uint(x[2 * i + 1]) + 0x8000u);
}

template <int P> __device__ __forceinline__ void lowerBits(Pairs<P> &u, const float (&x)[2 * P]) {
#pragma unroll
	for (int i = 0; i < P; i++) u.pair[i] = __byte_perm(__float_as_uint(x[2 * i]), __float_as_uint(x[2 * i + 1]), 0x5410);
}

// atRandom rounds up with the probability that keeps the mean: otherwise a change of a
// second moment, a thousandth of it, would be lost. random is the pairs' own number.
template <int P> __device__ __forceinline__ void atRandom(Pairs<P> &u, const float (&x)[2 * P], uint32_t random) {
#pragma unroll
	for (int i = 0; i < P; i++) {
		uint32_t bits = mix(random + i * golden);
		u.pair[i] = upper(__float_as_uint(x[2 * i]) + (bits & 0xffffu), __float_as_uint(x[2 * i + 1]) + (bits >> 16));
	}
}
