// The negatives that all rows share, for a tile of rows: two products of matrices by tensor
// cores.
//
//	right: (H, N)  left: (W, N), a row a warp
//	scores = left . right^T, (W, H)
//	coefficients = weight sigmoid(scores)
//	gradient = coefficients . right, (W, N)
//
// Factors are bfloat16, sums float32. With two planes a factor is the sum of two bfloat16
// numbers, and a product that of three: this gives 16 bits of a float32's 24.
//
// A fragment of mma.m16n8k16 has 16 negatives (of scores) or 16 columns (of the gradient)
// by 8 rows of the tile. Rows in shared memory are 16 bytes longer than a multiple of 32:
// so ldmatrix, which reads 16 bytes of eight rows, meets all banks.
#pragma once
#include "rows.cuh"

__device__ __forceinline__ uint32_t sharedAt(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void matrices(uint32_t (&r)[4], const uint16_t *p) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sharedAt(p)) : "memory");
}

__device__ __forceinline__ void matrices(uint32_t (&r)[2], const uint16_t *p) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(sharedAt(p)) : "memory");
}

__device__ __forceinline__ void transposed(uint32_t (&r)[4], const uint16_t *p) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sharedAt(p)) : "memory");
}

// multiply adds to d the product of a, 16 by 16, and b, 16 by 8.
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// copyShared starts to copy 16 bytes, or zeros, to shared memory; arrivedShared waits for all
// copies of the thread.
__device__ __forceinline__ void copyShared(void *to, const void *from, bool wanted) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAt(to)), "l"(__cvta_generic_to_global(from)), "r"(wanted ? 16 : 0) : "memory");
}
__device__ __forceinline__ void arrivedShared() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// splitPair rounds two values to bfloat16, and in low what is left of them.
__device__ __forceinline__ void splitPair(float a, float b, uint32_t &high, uint32_t &low) {
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(b), "f"(a));
	float restA = a - __uint_as_float(high << 16), restB = b - __uint_as_float(high & 0xffff0000u);
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(low) : "f"(restB), "f"(restA));
}

template <int planes, int W> struct Dense {
	static constexpr int tileRows = (W + 7) / 8 * 8, eights = tileRows / 8;
	static constexpr int sumsOf = planes == 1 ? 1 : 3; // independent sums of a product

	uint32_t chunk, wide;            // of negatives; of columns, both multiples of 16
	uint32_t length, lengthOfChunk;  // of rows in shared memory, in values
	uint32_t parts;                  // of a score's sum
	uint16_t *right, *left, *factors; // (planes, chunk, length), (planes, tileRows, length), (planes, tileRows, lengthOfChunk)
	float *sumsOfParts, *gradients;   // (parts, tileRows, chunk + 4), (tileRows, wide + 4)
	uint32_t *numbers;                // of the negatives, (H)

	// Kernels.tileShared of Go has the same sizes.
	__device__ __forceinline__ Dense(uint4 *memory, uint32_t shared, uint32_t chunk, uint32_t stride) : chunk(chunk) {
		wide = (stride + 15) / 16 * 16;
		length = wide + 8, lengthOfChunk = chunk + 8;
		parts = min(max(16 * W / max(chunk, 16), 1), wide / 16);
		gradients = (float *)memory;
		uint16_t *next = (uint16_t *)(gradients + tileRows * (wide + 4));
		right = next, next += planes * chunk * length;
		left = next, next += planes * tileRows * length;
		factors = next, next += planes * tileRows * lengthOfChunk;
		sumsOfParts = (float *)next;
		numbers = (uint32_t *)(sumsOfParts + parts * tileRows * (chunk + 4));
	}

	__device__ __forceinline__ float *gradientOf(int row) const { return gradients + row * (wide + 4); }

	// draw draws the negatives.
	template <class Table> __device__ __forceinline__ void draw(const Table &t, uint32_t stream) {
		for (uint32_t h = threadIdx.x; h < t.shared; h += 32 * W)
			numbers[h] = aliasDraw(t.alias, t.rows, randomBits(t.seed, streamNegatives, stream, h));
	}

	// rowsOfTile loads 16 columns or negatives of the rows of a tile from step number k on: for the rows
	// 8e ... 8e+7 into b[e].
	__device__ __forceinline__ static void rowsOfTile(uint32_t (&b)[eights][2], const uint16_t *from, uint32_t length, uint32_t k) {
		int l = laneNumber();
		if constexpr (eights == 1) {
			matrices(b[0], from + l % 8 * length + 16 * k + l / 8 % 2 * 8);
		} else {
#pragma unroll
			for (int e = 0; e < eights; e += 2) {
				uint32_t r[4];
				matrices(r, from + (8 * e + l % 8 + l / 16 * 8) * length + 16 * k + l / 8 % 2 * 8);
				b[e][0] = r[0], b[e][1] = r[1], b[e + 1][0] = r[2], b[e + 1][1] = r[3];
			}
		}
	}

	// add adds a product of 16 by 16 and 16 by all rows of the tile.
	__device__ __forceinline__ static void add(float (&x)[eights][sumsOf][4], const uint32_t (&a)[planes][4], const uint32_t (&b)[planes][eights][2]) {
#pragma unroll
		for (int e = 0; e < eights; e++) {
			multiply(x[e][0], a[0], b[0][e][0], b[0][e][1]);
			if constexpr (planes == 2) {
				multiply(x[e][1], a[1], b[0][e][0], b[0][e][1]);
				multiply(x[e][2], a[0], b[1][e][0], b[1][e][1]);
			}
		}
	}

	__device__ __forceinline__ static float total(const float (&x)[sumsOf][4], int i) {
		if constexpr (planes == 1) return x[0][i];
		else return x[0][i] + (x[1][i] + x[2][i]);
	}

	// scores sums the parts of the scores.
	__device__ __forceinline__ void scores() const {
		int l = laneNumber();
		uint32_t sixteens = chunk / 16, steps = wide / 16;
		for (uint32_t item = threadIdx.x / 32; item < sixteens * parts; item += W) {
			uint32_t m = item % sixteens, part = item / sixteens;
			float x[eights][sumsOf][4] = {};
			const uint16_t *mine = right + (16 * m + l % 16) * length + l / 16 * 8;
#pragma unroll 2
			for (uint32_t k = steps * part / parts; k < steps * (part + 1) / parts; k++) {
				uint32_t a[planes][4], b[planes][eights][2];
#pragma unroll
				for (int p = 0; p < planes; p++) {
					matrices(a[p], mine + p * chunk * length + 16 * k);
					rowsOfTile(b[p], left + p * tileRows * length, length, k);
				}
				add(x, a, b);
			}
#pragma unroll
			for (int e = 0; e < eights; e++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					sumsOfParts[(part * tileRows + 8 * e + l % 4 * 2 + i % 2) * (chunk + 4) + 16 * m + l / 4 + i / 2 * 8] = total(x[e], i);
		}
	}

	// coefficients makes those of this warp's row, of the first count negatives, and zeros
	// behind. It returns this lane's part of the sum of the losses.
	__device__ __forceinline__ float coefficients(uint32_t count, float weight) const {
		int row = threadIdx.x / 32;
		float loss = 0;
		for (uint32_t h = laneNumber(); h < chunk && weight; h += 32) {
			float score = 0, c = 0;
			for (uint32_t p = 0; p < parts; p++) score += sumsOfParts[(p * tileRows + row) * (chunk + 4) + h];
			if (h < count) {
				Logistic y = fastLogistic(score);
				c = weight * y.sigmoid;
				loss += __logf(y.factor);
			}
			uint32_t high, low;
			splitPair(c, 0, high, low);
			factors[row * lengthOfChunk + h] = uint16_t(high);
			if constexpr (planes == 2) factors[(tileRows + row) * lengthOfChunk + h] = uint16_t(low);
		}
		return loss;
	}

	// gradient computes the gradients of all rows of the tile, or adds to them.
	__device__ __forceinline__ void gradient(bool more) const {
		int l = laneNumber();
		for (uint32_t m = threadIdx.x / 32; m < wide / 16; m += W) {
			float x[eights][sumsOf][4] = {};
			const uint16_t *mine = right + (l % 8 + l / 16 * 8) * length + 16 * m + l / 8 % 2 * 8;
#pragma unroll 2
			for (uint32_t h = 0; h < chunk / 16; h++) {
				uint32_t a[planes][4], b[planes][eights][2];
#pragma unroll
				for (int p = 0; p < planes; p++) {
					transposed(a[p], mine + (p * chunk + 16 * h) * length);
					rowsOfTile(b[p], factors + p * tileRows * lengthOfChunk, lengthOfChunk, h);
				}
				add(x, a, b);
			}
#pragma unroll
			for (int e = 0; e < eights; e++)
#pragma unroll
				for (int i = 0; i < 4; i++) {
					float &to = gradientOf(8 * e + l % 4 * 2 + i % 2)[16 * m + l / 4 + i / 2 * 8];
					to = total(x[e], i) + (more ? to : 0);
				}
		}
	}
};
