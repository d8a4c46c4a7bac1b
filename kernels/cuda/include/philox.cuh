// The project's random numbers and the alias table, as package corpus has them:
// the same seed, stream and counter give the same bits there and here.
#pragma once
#include <cstdint>

// The streams in use here; see corpus.Stream.
constexpr uint32_t streamSubsample = 3, streamWindow = 4, streamNegatives = 7, streamRedraws = 9, streamRounding = 12;

// philox returns the 128 bits of a counter of the stream whose upper 32 bits are stream
// and whose lower ones are sub: Philox4x32-10 (Salmon et al. 2011).
__device__ __forceinline__ uint4 philox(uint64_t seed, uint32_t stream, uint32_t sub, uint64_t counter) {
	uint32_t c0 = uint32_t(counter), c1 = uint32_t(counter >> 32), c2 = sub, c3 = stream;
	uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
#pragma unroll
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = uint64_t(0xD2511F53u) * c0, p1 = uint64_t(0xCD9E8D57u) * c2;
		c0 = uint32_t(p1 >> 32) ^ c1 ^ k0;
		c1 = uint32_t(p1);
		c2 = uint32_t(p0 >> 32) ^ c3 ^ k1;
		c3 = uint32_t(p0);
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return make_uint4(c0, c1, c2, c3);
}

// quarter returns 32 of the 128 bits: 0 <= i < 4.
__device__ __forceinline__ uint32_t quarter(uint4 bits, uint32_t i) {
	uint32_t low = i & 1 ? bits.y : bits.x, high = i & 1 ? bits.w : bits.z;
	return i & 2 ? high : low;
}

// randomBits returns bits number i of a stream, 32 of them: quarter i mod 4 of counter i/4.
__device__ __forceinline__ uint32_t randomBits(uint64_t seed, uint32_t stream, uint32_t sub, uint64_t i) {
	return quarter(philox(seed, stream, sub, i / 4), uint32_t(i) & 3);
}

// aliasDraw maps 32 random bits to a number; see corpus.Alias. columns: (n) of
// {accept, other}.
__device__ __forceinline__ uint32_t aliasDraw(const uint2 *columns, uint32_t n, uint32_t bits) {
	uint32_t column = __umulhi(bits, n), low = bits * n;
	uint2 c = __ldg(&columns[column]);
	return low < c.x ? column : c.y;
}
