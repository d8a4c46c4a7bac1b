// The negatives that all rows share, for a tile of rows: two products of matrices by tensor
// cores.
//
//	right: (H, N)  left: (W, N), a row a warp
//	scores = left . right^T, (W, H)
//	coefficients = weight sigmoid(scores + bias)
//	gradient = coefficients . right, (W, N)
//
// Factors are bfloat16, sums float32. With two planes a factor is the sum of two bfloat16
// numbers, and a product that of three: this gives 16 bits of a float32's 24.
//
// A fragment of mma.m16n8k16 has 16 negatives (of scores) or 16 columns (of the gradient)
// by the eight rows of a tile. Rows in shared memory are 16 bytes longer than a multiple of
// 32: so ldmatrix, which reads 16 bytes of eight rows, meets all banks.
#pragma once
#include "rows.cuh"

// The same sources make the kernels for GPUs with little shared memory, whose chunks are small; SMALL says which. There are some only where all
// rows share negatives.
#ifndef SMALL
#define SMALL false
#endif
constexpr bool small = SMALL;

__device__ __forceinline__ void matrices(uint32_t (&r)[4], const uint16_t *p) { loadMatrices<false>(r, sharedAt(p)); }
__device__ __forceinline__ void transposed(uint32_t (&r)[4], const uint16_t *p) { loadMatrices<true>(r, sharedAt(p)); }

// multiply adds to d the product of a, 16 by 16, and b, 16 by 8.
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// splitPair rounds two values to bfloat16, and in low what is left of them.
__device__ __forceinline__ void splitPair(float a, float b, uint32_t &high, uint32_t &low) {
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(b), "f"(a));
	float restA = a - __uint_as_float(high << 16), restB = b - __uint_as_float(high & 0xffff0000u);
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(low) : "f"(restB), "f"(restA));
}

constexpr int tileRows = 8, groupThreads = 32 * tileRows; // a warp has a row; tiles.go has the number, too

// A DenseShape is how a thread block keeps the shared negatives, in chunks. denseShape of shape.go is the same.
struct DenseShape {
	uint32_t shared; // H
	uint32_t kept;   // chunks in shared memory: all, or one at a time
	uint32_t end;    // bytes of these, and of what else comes behind the tiles of groups
	uint32_t unused;
};

extern __shared__ uint4 denseMemory[];

// A DenseKernel is how a kernel is made whose groups have tiles of Dense. The host reads it, as name_dense, and chooses the
// thread blocks: see fit in shape.go, whose denseKernel is the same.
struct DenseKernel {
	uint32_t groups, chunk;             // of a thread block, at most; negatives of a chunk
	uint32_t ofGroup, ofChunk, ofEnd;   // bytes of shared memory of a group and of a chunk, and of a group behind the chunks
};

// awaitGroup is __syncthreads for the warps of a tile.
__device__ __forceinline__ void awaitGroup() { asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / groupThreads), "n"(groupThreads) : "memory"); }

// Dense has the tile of a group of eight warps: rows of up to wide columns, a multiple of 128, and
// chunk negatives at a time, 64 or 32.
template <int planes, int wide, int chunk> struct Dense {
	static constexpr int columns = wide, negatives = chunk;
	static constexpr int length = wide + 8, lengthOfFactors = chunk + 8, lengthOfSums = chunk + 4, lengthOfGradient = wide + 4;
	static constexpr int sixteens = chunk / 16, parts = tileRows / sixteens; // of a score's sum
	static constexpr int gradientBytes = 4 * tileRows * lengthOfGradient, leftBytes = 2 * planes * tileRows * length;
	static constexpr int factorBytes = 2 * planes * tileRows * lengthOfFactors, sumBytes = 4 * parts * tileRows * lengthOfSums;
	static constexpr int groupBytes = gradientBytes + leftBytes + factorBytes + sumBytes, chunkBytes = 2 * planes * chunk * length;
	static constexpr int sums = planes == 1 ? 1 : 3; // independent sums of a product

	static constexpr DenseKernel kernel(uint32_t groups, uint32_t staged = 0) {
		return {groups, chunk, groupBytes, chunkBytes, tileRows * staged};
	}

	const DenseShape &d;
	char *group, *negativesOf; // of this group of warps; of the block

	__device__ __forceinline__ Dense(const DenseShape &d)
		: d(d), group((char *)denseMemory + threadIdx.x / groupThreads * groupBytes), negativesOf((char *)denseMemory + blockDim.x / groupThreads * groupBytes) {}

	__device__ __forceinline__ float *gradientOf(uint32_t row) const { return (float *)group + row * lengthOfGradient; }
	__device__ __forceinline__ uint16_t *left(uint32_t row) const { return (uint16_t *)(group + gradientBytes) + row * length; }
	__device__ __forceinline__ uint16_t *factors(uint32_t row) const { return (uint16_t *)(group + gradientBytes + leftBytes) + row * lengthOfFactors; }
	__device__ __forceinline__ float *sumsOf(uint32_t part, uint32_t row) const {
		return (float *)(group + gradientBytes + leftBytes + factorBytes) + (part * tileRows + row) * lengthOfSums;
	}
	__device__ __forceinline__ uint16_t *right(uint32_t c, uint32_t h) const { return (uint16_t *)(negativesOf + c * chunkBytes) + h * length; }
	__device__ __forceinline__ uint32_t &number(uint32_t h) const { return ((uint32_t *)(negativesOf + d.end))[h]; }

	// draw brings the numbers of the negatives.
	__device__ __forceinline__ void draw(const uint32_t *shared) const {
		for (uint32_t h = threadIdx.x; h < d.shared; h += blockDim.x) number(h) = shared[h];
	}

	// add adds a product of 16 by 16 and 16 by 8 of both planes.
	__device__ __forceinline__ static void add(float (&x)[sums][4], const uint32_t (&a)[planes][4], const uint32_t (&b)[planes][2]) {
		multiply(x[0], a[0], b[0][0], b[0][1]);
		if constexpr (planes == 2) {
			multiply(x[1], a[1], b[0][0], b[0][1]);
			multiply(x[2], a[0], b[1][0], b[1][1]);
		}
	}

	__device__ __forceinline__ static float total(const float (&x)[sums][4], int i) {
		if constexpr (planes == 1) return x[0][i];
		else return x[0][i] + (x[1][i] + x[2][i]);
	}

	// rowsOfTile loads 16 columns or negatives, those from step k on, of the eight rows of the tile; of one plane
	// these of two steps.
	template <int lengthOfRow> __device__ __forceinline__ static void rowsOfTile(uint32_t (&b)[2][planes][2], const uint16_t *from, int k) {
		uint32_t r[4];
		int l = laneNumber();
		if constexpr (planes == 1) {
			matrices(r, from + l % 8 * lengthOfRow + 16 * k + l / 8 * 8);
			b[0][0][0] = r[0], b[0][0][1] = r[1], b[1][0][0] = r[2], b[1][0][1] = r[3];
		} else {
#pragma unroll
			for (int n = 0; n < 2; n++) {
				matrices(r, from + (l % 8 + l / 16 * tileRows) * lengthOfRow + 16 * (k + n) + l / 8 % 2 * 8);
				b[n][0][0] = r[0], b[n][0][1] = r[1], b[n][1][0] = r[2], b[n][1][1] = r[3];
			}
		}
	}

	// scores sums a part of the scores with 16 negatives of chunk c. Four steps read together, so that products need not wait.
	__device__ __forceinline__ void scores(uint32_t c) const {
		constexpr int steps = wide / 16 / parts, batch = planes == 1 ? 4 : 2;
		int l = laneNumber(), w = threadIdx.x / 32 % tileRows, m = w % sixteens, part = w / sixteens;
		float x[2][sums][4] = {};
		const uint16_t *a0 = right(c, 16 * m + l % 16) + l / 16 * 8 + 16 * steps * part, *b0 = left(0) + 16 * steps * part;
#pragma unroll 2
		for (int k = 0; k < steps; k += batch) {
			uint32_t a[batch][planes][4], b[batch / 2][2][planes][2];
#pragma unroll
			for (int n = 0; n < batch; n++) {
				if (n % 2 == 0) rowsOfTile<length>(b[n / 2], b0, k + n);
#pragma unroll
				for (int p = 0; p < planes; p++) matrices(a[n][p], a0 + p * chunk * length + 16 * (k + n));
			}
#pragma unroll
			for (int n = 0; n < batch; n++) add(x[n % 2], a[n], b[n / 2][n % 2]);
		}
		float *to = sumsOf(part, l % 4 * 2) + 16 * m + l / 4;
#pragma unroll
		for (int i = 0; i < 4; i++) to[i % 2 * lengthOfSums + i / 2 * 8] = total(x[0], i) + total(x[1], i);
	}

	// coefficients makes those of this warp's row, of the first count negatives, and zeros
	// behind. It returns this lane's part of the sum of the losses.
	__device__ __forceinline__ float coefficients(int count, float weight, float bias) const {
		int row = threadIdx.x / 32 % tileRows, h = 2 * laneNumber();
		if (h >= chunk) return 0;
		float2 score = make_float2(0, 0);
#pragma unroll
		for (int p = 0; p < parts; p++) {
			float2 x = *(const float2 *)(sumsOf(p, row) + h);
			score.x += x.x, score.y += x.y;
		}
		Logistic x = fastLogistic(score.x + bias), y = fastLogistic(score.y + bias);
		uint32_t high, low;
		splitPair(h < count ? weight * x.sigmoid : 0, h + 1 < count ? weight * y.sigmoid : 0, high, low);
		*(uint32_t *)(factors(row) + h) = high;
		if constexpr (planes == 2) *(uint32_t *)(factors(tileRows + row) + h) = low;
		return (h < count ? __logf(x.factor) : 0) + (h + 1 < count ? __logf(y.factor) : 0);
	}

	// gradient computes the gradients of all rows of the tile from chunk c, or adds to them. By halves, chunks of 64 and of 32 negatives have
	// the same sums.
	template <bool byHalves = false> __device__ __forceinline__ void gradient(uint32_t c, bool more) const {
		constexpr int tiles = wide / 16 / tileRows; // of 16 columns, of a warp
		int l = laneNumber(), w = threadIdx.x / 32 % tileRows;
		uint32_t b[sixteens / 2][2][planes][2];
#pragma unroll
		for (int k = 0; k < sixteens; k += 2) rowsOfTile<lengthOfFactors>(b[k / 2], factors(0), k);
		const uint16_t *a0 = right(c, l % 8 + l / 16 * 8) + 16 * w + l / 8 % 2 * 8;
		float *to = gradientOf(l % 4 * 2) + 16 * w + l / 4;
#pragma unroll(tiles < 4 ? tiles : 4)
		for (int m = 0; m < tiles; m++) {
			float x[2][sums][4] = {};
			constexpr int batch = planes == 1 ? 4 : 2;
			float *mine = to + 16 * tileRows * m;
#pragma unroll
			for (int k = 0; k < sixteens; k += batch) {
				uint32_t a[batch][planes][4];
#pragma unroll
				for (int n = 0; n < batch; n++)
#pragma unroll
					for (int p = 0; p < planes; p++) transposed(a[n][p], a0 + (p * chunk + 16 * (k + n)) * length + 16 * tileRows * m);
#pragma unroll
				for (int n = 0; n < batch; n++) add(x[n % 2], a[n], b[(k + n) / 2][n % 2]);
				if (!byHalves && k + batch < sixteens) continue;
#pragma unroll
				for (int i = 0; i < 4; i++) {
					float &y = mine[i % 2 * lengthOfGradient + i / 2 * 8];
					y = total(x[0], i) + total(x[1], i) + (more || byHalves && k > 0 ? y : 0);
#pragma unroll
					for (int n = 0; byHalves && n < 2 * sums; n++) x[n / sums][n % sums][i] = 0;
				}
			}
		}
	}
};
