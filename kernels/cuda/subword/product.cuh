// What the products of matrices share: product.cu says what they compute.
#pragma once
#include "subword.cuh"

struct Product {
	Narrow a, b;
	float *c;          // (chunks, m, strideC)
	const float *bias; // (n), or null
	const float *add;  // (m, strideC), or null
	uint32_t m, n, k, strideC;
	uint32_t chunk; // of k, a multiple of a stage; of strips, their columns, a multiple of 8
	float unit;     // what 1 in c is of a product of the factors
	uint32_t sums, lines; // so many sums of every sums-th k; c has the chunks as every lines-th of its matrices
};

// place is where group g of line l lies, in bytes. If values of k are contiguous in memory, a
// line of a tile holds 32 of them (4 groups), otherwise all rows of the tile at one k.
template <bool contiguous, int size, int tileK> __device__ __forceinline__ uint32_t place(int l, int g) {
	if constexpr (contiguous && tileK == 64) return l * 128 + ((g ^ (l & 7)) << 4);
	if constexpr (contiguous) return l * 64 + ((g ^ (l >> 1 & 3)) << 4);
	return l * size * 2 + ((g ^ (l & 7)) << 4);
}

// A Fetcher asks for the tiles of a factor one after the other: size rows from row first on, tileK values of k. A thread has
// the same lines and the same group in all of them, so that their places are computed once. Values beyond the matrix are zero.
template <bool contiguous, int size, int tileK, int threads> struct Fetcher {
	static constexpr int groups = contiguous ? tileK / 8 : size / 8, lines = threads / groups, count = size * tileK / 8 / threads;
	static constexpr int pitch = contiguous ? 2 * tileK : 2 * size;
	static_assert(lines % 8 == 0, "the lines of a thread have the same permutation");
	const uint16_t *from;     // of the thread's first line
	ptrdiff_t jump;           // to its next line
	size_t advance;           // to the next tile
	uint32_t to, k, end, has; // has: which lines have rows

	__device__ __forceinline__ Fetcher(const Narrow &x, uint32_t first, uint32_t rows, uint32_t k0, uint32_t end) : k(k0), end(end), has(0) {
		uint32_t line = threadIdx.x / groups, group = threadIdx.x % groups;
		to = place<contiguous, size, tileK>(line, group);
		jump = lines * x.stride;
		if constexpr (contiguous) {
			from = x.values + (first + line) * x.stride + k0 + 8 * group;
			advance = tileK;
			k += 8 * group;
#pragma unroll
			for (int i = 0; i < count; i++) has |= (first + line + i * lines < rows) << i;
		} else {
			from = x.values + (k0 + line) * x.stride + first + 8 * group;
			advance = tileK * x.stride;
			k += line;
			if (first + 8 * group >= rows) this->end = 0;
		}
	}

	// ask asks for the next tile.
	__device__ __forceinline__ void ask(uint32_t stage) {
		const uint16_t *x = from;
#pragma unroll
		for (int i = 0; i < count; i++, x += jump) {
			bool wanted = contiguous ? (has >> i & 1) && k < end : k + i * lines < end;
			copyShared(stage + to + i * lines * pitch, x, wanted ? 16 : 0);
		}
		from += advance;
		k += tileK;
	}
};
