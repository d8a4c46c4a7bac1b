// Products of matrices that are split (see subword.cuh), on tensor cores; or of float16 numbers, those that have
// one part:
//
//	a: (m, k)  b: (k, n)  c: (m, n) = a b + bias + add
//
// Either factor may lie in memory with its rows or its columns one after the other. A thread
// block computes a tile of c, 128 x 128 or 128 x 64, over a chunk of k; the reader of c adds
// the sums of several chunks. Asynchronous copies bring the parts of both factors into shared
// memory, three stages of 32 values of k deep. Groups of 8 values are permuted there, so that
// the 8 rows that ldmatrix reads at a time lie in different banks.
#include "subword.cuh"

constexpr int tileM = 128, tileK = 32, stages = 3;

struct Product {
	Split a, b;
	float *c;          // (chunks, m, strideC)
	const float *bias; // (n), or null
	const float *add;  // (m, strideC), or null
	uint32_t m, n, k, strideC;
	uint32_t chunk; // of k, a multiple of 32
	float unit;     // of narrow products: what 1 in c is of a product of the factors
};

__device__ __forceinline__ void copy16(uint32_t to, const uint16_t *from, bool wanted) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "r"(wanted ? 16 : 0) : "memory");
}

// place is where group g of line l lies, in bytes. If values of k are contiguous in memory, a
// line of a tile holds 32 of them (4 groups), otherwise all rows of the tile at one k.
template <bool contiguous, int size> __device__ __forceinline__ uint32_t place(int l, int g) {
	if constexpr (contiguous) return l * 64 + ((g ^ (l >> 1 & 3)) << 4);
	return l * size * 2 + ((g ^ (l & 7)) << 4);
}

// fetch asks for a tile of size rows from row first on, and k from k0 to end.
// Values beyond the matrix are zero.
template <int planes, bool contiguous, int size, int threads>
__device__ __forceinline__ void fetch(uint32_t to, const Split &x, uint32_t first, uint32_t rows, uint32_t k0, uint32_t end) {
	constexpr int part = size * tileK * 2, groups = contiguous ? tileK / 8 : size / 8;
#pragma unroll
	for (int i = threadIdx.x; i < size * tileK / 8; i += threads) {
		int l = i / groups, g = i % groups;
		uint32_t row = contiguous ? first + l : first + 8 * g, k = contiguous ? k0 + 8 * g : k0 + l;
		bool wanted = row < rows && k < end;
		size_t from = !wanted ? 0 : contiguous ? row * x.stride + k : k * x.stride + row;
		uint32_t at = to + place<contiguous, size>(l, g);
		copy16(at, x.high + from, wanted);
		if constexpr (planes == 2) copy16(at + part, x.low + from, wanted);
	}
}

template <bool transposed> __device__ __forceinline__ void loadMatrices(uint32_t (&r)[4], uint32_t from) {
	if constexpr (transposed)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiplyNarrow(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp has 64 rows and 32 columns of the tile.
template <int planes, bool aContiguous, bool bContiguous, int tileN> struct Tile {
	static constexpr int warpsN = tileN / 32, threads = 64 * warpsN;
	static constexpr int partA = tileM * tileK * 2, partB = tileN * tileK * 2, stage = planes * (partA + partB);
	float sum[4][4][4];
	int rowOfWarp, columnOfWarp;

	// step adds 16 values of k of a stage.
	__device__ __forceinline__ void step(uint32_t a, int k) {
		int l = laneNumber();
		uint32_t b = a + planes * partA, high[2][4], low[2][4];
#pragma unroll
		for (int n = 0; n < 2; n++) { // 16 columns each: {columns 0-7, k 0-7}, {0-7, 8-15}, {8-15, 0-7}, {8-15, 8-15}
			int column = columnOfWarp + 16 * n, upper = l >> 4, later = l >> 3 & 1;
			uint32_t at = b + (bContiguous ? place<true, tileN>(column + 8 * upper + (l & 7), k / 8 + later)
				: place<false, tileN>(k + 8 * later + (l & 7), column / 8 + upper));
			loadMatrices<!bContiguous>(high[n], at);
			if constexpr (planes == 2) loadMatrices<!bContiguous>(low[n], at + partB);
		}
#pragma unroll
		for (int m = 0; m < 4; m++) { // 16 rows each: {rows 0-7, k 0-7}, {8-15, 0-7}, {0-7, 8-15}, {8-15, 8-15}
			int row = rowOfWarp + 16 * m, upper = l >> 3 & 1, later = l >> 4;
			uint32_t at = a + (aContiguous ? place<true, tileM>(row + 8 * upper + (l & 7), k / 8 + later)
				: place<false, tileM>(k + 8 * later + (l & 7), row / 8 + upper));
			uint32_t x[4], y[4];
			loadMatrices<!aContiguous>(x, at);
			if constexpr (planes == 1) {
#pragma unroll
				for (int n = 0; n < 4; n++) multiplyNarrow(sum[m][n], x, high[n / 2][n % 2 * 2], high[n / 2][n % 2 * 2 + 1]);
				continue;
			}
			loadMatrices<!aContiguous>(y, at + partA);
#pragma unroll
			for (int n = 0; n < 4; n++) multiply(sum[m][n], x, high[n / 2][n % 2 * 2], high[n / 2][n % 2 * 2 + 1]);
#pragma unroll
			for (int n = 0; n < 4; n++) multiply(sum[m][n], x, low[n / 2][n % 2 * 2], low[n / 2][n % 2 * 2 + 1]);
#pragma unroll
			for (int n = 0; n < 4; n++) multiply(sum[m][n], y, high[n / 2][n % 2 * 2], high[n / 2][n % 2 * 2 + 1]);
		}
	}

	// each calls f with a pair of sums that are side by side, and their place in c,
	// for all pairs that are in the matrix; both says if the second is.
	template <class Function> __device__ __forceinline__ void each(const Product &p, uint32_t row0, uint32_t column0, Function f) {
		int l = laneNumber();
#pragma unroll
		for (int m = 0; m < 4; m++) {
#pragma unroll
			for (int lower = 0; lower < 2; lower++) {
				uint32_t row = row0 + rowOfWarp + 16 * m + 8 * lower + l / 4;
#pragma unroll
				for (int n = 0; n < 4; n++) {
					uint32_t column = column0 + columnOfWarp + 8 * n + 2 * (l % 4);
					if (row < p.m && column < p.n)
						f(sum[m][n][2 * lower], sum[m][n][2 * lower + 1], size_t(row) * p.strideC + column, column, column + 1 < p.n);
				}
			}
		}
	}

	// begin starts from bias + add.
	__device__ __forceinline__ void begin(const Product &p, uint32_t row0, uint32_t column0) {
#pragma unroll
		for (int i = 0; i < 64; i++) sum[i / 16][i / 4 % 4][i % 4] = 0;
		if (p.add)
			each(p, row0, column0, [&](float &x, float &y, size_t at, uint32_t, bool) {
				float2 a = *(const float2 *)(p.add + at); // strides are even
				x = a.x;
				y = a.y;
			});
		if (p.bias)
			each(p, row0, column0, [&](float &x, float &y, size_t, uint32_t column, bool both) {
				x += __ldg(p.bias + column);
				if (both) y += __ldg(p.bias + column + 1);
			});
	}

	__device__ __forceinline__ void write(const Product &p, float *c, uint32_t row0, uint32_t column0) {
		each(p, row0, column0, [&](float &x, float &y, size_t at, uint32_t, bool both) {
			if constexpr (planes == 1) x *= p.unit, y *= p.unit;
			if (both) *(float2 *)(c + at) = make_float2(x, y);
			else c[at] = x;
		});
	}
};

template <int planes, bool aContiguous, bool bContiguous, int tileN> __device__ __forceinline__ void product(const Product &p) {
	extern __shared__ uint4 memory[];
	using T = Tile<planes, aContiguous, bContiguous, tileN>;
	T tile;
	int w = threadIdx.x / 32;
	tile.rowOfWarp = w / T::warpsN * 64;
	tile.columnOfWarp = w % T::warpsN * 32;
	uint32_t across = (p.n + tileN - 1) / tileN, down = (p.m + tileM - 1) / tileM;
	uint32_t column0 = blockIdx.x % across * tileN, row0 = blockIdx.x / across % down * tileM, chunk = blockIdx.x / across / down;
	uint32_t first = chunk * p.chunk, end = min(p.k, first + p.chunk), count = (end - first + tileK - 1) / tileK;
	uint32_t shared = uint32_t(__cvta_generic_to_shared(memory));
	auto ask = [&](uint32_t i) {
		if (i < count) {
			uint32_t to = shared + i % stages * T::stage, k0 = first + i * tileK;
			fetch<planes, aContiguous, tileM, T::threads>(to, p.a, row0, p.m, k0, end);
			fetch<planes, bContiguous, tileN, T::threads>(to + planes * T::partA, p.b, column0, p.n, k0, end);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
#pragma unroll
	for (int i = 0; i < stages - 1; i++) ask(i);
	tile.begin(p, row0, column0);
	for (uint32_t i = 0; i < count; i++) {
		asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
		__syncthreads();
		ask(i + stages - 1);
		uint32_t stage = shared + i % stages * T::stage;
#pragma unroll
		for (int k = 0; k < tileK; k += 16) tile.step(stage, k);
	}
	tile.write(p, p.c + size_t(chunk) * p.m * p.strideC, row0, column0);
}

#define PRODUCT(name, aContiguous, bContiguous, tileN, blocks) \
	extern "C" __global__ void __launch_bounds__(2 * tileN, blocks) product_##name##_##tileN(const __grid_constant__ Product p) { \
		product<2, aContiguous, bContiguous, tileN>(p); \
	} \
	extern "C" __global__ void __launch_bounds__(2 * tileN, blocks) product_narrow_##name##_##tileN(const __grid_constant__ Product p) { \
		product<1, aContiguous, bContiguous, tileN>(p); \
	}
#define PRODUCTS(name, aContiguous, bContiguous) PRODUCT(name, aContiguous, bContiguous, 128, 2) PRODUCT(name, aContiguous, bContiguous, 64, 3)

PRODUCTS(rows, true, false)     // a and b in row-major order
PRODUCTS(features, true, true)  // b transposed
PRODUCTS(weights, false, false) // a transposed
