// Products of matrices of float16 numbers, on tensor cores:
//
//	a: (m, k)  b: (k, n)  c: (m, n) = a b unit + bias + add
//
// Either factor may lie in memory with its rows or its columns one after the other. A thread
// block computes a tile of c, 128 x 128 or 128 x 64, over a chunk of k; the reader of c adds
// the sums of several chunks, each of every sums-th k. Asynchronous copies bring both factors into shared
// memory, three stages of 64 values of k deep. Groups of 8 values are permuted there, so that
// the 8 rows that ldmatrix reads at a time lie in different banks. Where they fit rows have strips
// instead of tiles: see the end.
#include "product.cuh"

constexpr int tileM = 128, tileK = 64, stages = 3;

__device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp has 64 rows and 32 columns of the tile.
template <bool aContiguous, bool bContiguous, int tileN> struct Tile {
	static constexpr int warpsN = tileN / 32, threads = 64 * warpsN;
	static constexpr int partA = tileM * tileK * 2, partB = tileN * tileK * 2, stage = partA + partB;
	float sum[4][4][4];
	int rowOfWarp, columnOfWarp;

	// step adds 16 values of k of a stage.
	__device__ __forceinline__ void step(uint32_t a, int k) {
		int l = laneNumber();
		uint32_t b = a + partA, y[2][4];
#pragma unroll
		for (int n = 0; n < 2; n++) { // 16 columns each: {columns 0-7, k 0-7}, {0-7, 8-15}, {8-15, 0-7}, {8-15, 8-15}
			int column = columnOfWarp + 16 * n, upper = l >> 4, later = l >> 3 & 1;
			uint32_t at = b + (bContiguous ? place<true, tileN, tileK>(column + 8 * upper + (l & 7), k / 8 + later)
				: place<false, tileN, tileK>(k + 8 * later + (l & 7), column / 8 + upper));
			loadMatrices<!bContiguous>(y[n], at);
		}
#pragma unroll
		for (int m = 0; m < 4; m++) { // 16 rows each: {rows 0-7, k 0-7}, {8-15, 0-7}, {0-7, 8-15}, {8-15, 8-15}
			int row = rowOfWarp + 16 * m, upper = l >> 3 & 1, later = l >> 4;
			uint32_t at = a + (aContiguous ? place<true, tileM, tileK>(row + 8 * upper + (l & 7), k / 8 + later)
				: place<false, tileM, tileK>(k + 8 * later + (l & 7), row / 8 + upper));
			uint32_t x[4];
			loadMatrices<!aContiguous>(x, at);
#pragma unroll
			for (int n = 0; n < 4; n++) multiply(sum[m][n], x, y[n / 2][n % 2 * 2], y[n / 2][n % 2 * 2 + 1]);
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
			x *= p.unit, y *= p.unit;
			if (both) *(float2 *)(c + at) = make_float2(x, y);
			else c[at] = x;
		});
	}
};

template <bool aContiguous, bool bContiguous, int tileN> __device__ __forceinline__ void product(const Product &p) {
	extern __shared__ uint4 memory[];
	constexpr bool ofFeatures = aContiguous && bContiguous; // launched early behind cnn_weights: reads nothing that that kernel or the product before it writes
	if (!ofFeatures) awaitPrevious();
	startNext();
	using T = Tile<aContiguous, bContiguous, tileN>;
	T tile;
	int w = threadIdx.x / 32;
	tile.rowOfWarp = w / T::warpsN * 64;
	tile.columnOfWarp = w % T::warpsN * 32;
	uint32_t across = (p.n + tileN - 1) / tileN, down = (p.m + tileM - 1) / tileM;
	uint32_t column0 = blockIdx.x % across * tileN, row0 = blockIdx.x / across % down * tileM, chunk = blockIdx.x / across / down;
	uint32_t sum = chunk % p.sums, first = chunk / p.sums * p.chunk, end = max(first, min((p.k + p.sums - 1 - sum) / p.sums, first + p.chunk));
	uint32_t count = (end - first + tileK - 1) / tileK;
	uint32_t shared = uint32_t(__cvta_generic_to_shared(memory));
	auto every = [&](const Narrow &x) { return Narrow{x.values + sum * x.stride, p.sums * x.stride}; };
	Fetcher<aContiguous, tileM, tileK, T::threads> a(every(p.a), row0, p.m, first, end);
	Fetcher<bContiguous, tileN, tileK, T::threads> b(every(p.b), column0, p.n, first, end);
	auto ask = [&](uint32_t i) {
		if (i < count) {
			uint32_t to = shared + i % stages * T::stage;
			a.ask(to);
			b.ask(to + T::partA);
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
	tile.write(p, p.c + size_t(chunk) * p.lines * p.m * p.strideC, row0, column0);
	if (ofFeatures) awaitPrevious(); // the next kernel reads what both wrote
}

#define PRODUCT(name, aContiguous, bContiguous, tileN, blocks) \
	extern "C" __global__ void __launch_bounds__(2 * tileN, blocks) product_##name##_##tileN(const __grid_constant__ Product p) { \
		product<aContiguous, bContiguous, tileN>(p); \
	}
#define PRODUCTS(name, aContiguous, bContiguous) PRODUCT(name, aContiguous, bContiguous, 128, 2) PRODUCT(name, aContiguous, bContiguous, 64, 3)

PRODUCTS(rows, true, false)     // a and b in row-major order
PRODUCTS(features, true, true)  // b transposed
PRODUCTS(weights, false, false) // a transposed

// Rows are much more memory than arithmetic: add comes in, c goes out. So a thread block keeps a strip of b of at most 128
// columns in shared memory and goes down the rows, 48 at a time, of which a and add arrive two tiles ahead. p.chunk is
// the width of a strip.
//
//	shared memory: b (depth, 128 + 8) float16, then three stages of a (48, depth + 8) float16 and add (48, 128 + 8)
//
// depth is k, rounded up to 16. The 8 values behind each row bring the next one into other banks.
constexpr int stripM = 48, stripN = 128, stripStages = 3, stripThreads = 8 * stripM;
constexpr uint32_t stripPitch = 2 * (stripN + 8); // from row to row of b in shared memory

// biasOf is what this lane adds to the columns of a warp, which begin at one.
__device__ __forceinline__ void biasOf(float (&bias)[4][2], const Product &p, uint32_t column0, uint32_t end) {
#pragma unroll
	for (int n = 0; n < 4; n++)
		for (int i = 0; i < 2; i++) {
			uint32_t column = column0 + 8 * n + 2 * (laneNumber() % 4) + i;
			bias[n][i] = p.bias && column < end ? p.bias[column] : 0;
		}
}

// writeStrip writes the sums of a warp: add, if there is some, is in shared memory.
__device__ __forceinline__ void writeStrip(const float (&sum)[4][4], const float (&bias)[4][2], const Product &p, uint32_t row0, uint32_t rowOfWarp, uint32_t column0, uint32_t columnOfWarp,
	uint32_t end, uint32_t add, uint32_t pitch) {
	const int l = laneNumber();
#pragma unroll
	for (int lower = 0; lower < 2; lower++) {
		uint32_t row = rowOfWarp + 8 * lower + l / 4;
		if (row0 + row >= p.m) continue;
#pragma unroll
		for (int n = 0; n < 4; n++) {
			uint32_t column = columnOfWarp + 8 * n + 2 * (l % 4);
			if (column0 + column >= end) continue;
			float2 r = make_float2(sum[n][2 * lower] + bias[n][0], sum[n][2 * lower + 1] + bias[n][1]);
			if (p.add) {
				float2 x;
				asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(add + row * pitch + 4 * column));
				r.x += x.x, r.y += x.y;
			}
			float *to = p.c + size_t(row0 + row) * p.strideC + column0 + column;
			if (column0 + column + 1 < p.n) *(float2 *)to = r;
			else *to = r.x;
		}
	}
}

// bringStrip starts to bring a strip of b.
__device__ __forceinline__ void bringStrip(const Product &p, uint32_t to, uint32_t depth, uint32_t column0, uint32_t end) {
	for (uint32_t i = threadIdx.x; i < depth * (stripN / 8); i += stripThreads) {
		uint32_t k = i / (stripN / 8), column = column0 + i % (stripN / 8) * 8;
		bool wanted = k < p.k && column < end;
		copyShared(to + k * stripPitch + i % (stripN / 8) * 16, p.b.values + (wanted ? k * p.b.stride + column : 0), wanted ? 16 : 0);
	}
}

extern "C" __global__ void __launch_bounds__(stripThreads, 1) product_strips(const __grid_constant__ Product p) {
	extern __shared__ uint4 strip[];
	const int l = laneNumber(), rowOfWarp = threadIdx.x / 32 / 4 * 16, columnOfWarp = threadIdx.x / 32 % 4 * 32;
	const uint32_t depth = (p.k + 15) / 16 * 16, groups = depth / 8;
	constexpr uint32_t pitchB = stripPitch, pitchAdd = 4 * (stripN + 8);
	const uint32_t pitchA = 2 * (depth + 8), stage = stripM * (pitchA + pitchAdd);
	const uint32_t strips = (p.n + p.chunk - 1) / p.chunk, column0 = blockIdx.x % strips * p.chunk, end = min(p.n, column0 + p.chunk);
	const uint32_t tiles = (p.m + stripM - 1) / stripM, first = blockIdx.x / strips, step = gridDim.x / strips;
	const uint32_t b = uint32_t(__cvta_generic_to_shared(strip)), stages = b + depth * pitchB;
	bringStrip(p, b, depth, column0, end); // if launched early, behind quads_convolve, which does not write b
	startNext();
	awaitPrevious(); // for a and add
	// The first rows, of frequent words, come last: the step, which begins with them, finds them in L2.
	auto rowOf = [&](uint32_t i) { return (tiles - 1 - first - i * step) * stripM; };
	// ask asks for tile number i of this thread block; what it asked for before comes with the first.
	auto ask = [&](uint32_t i) {
		if (first + i * step < tiles) {
			uint32_t row0 = rowOf(i);
			uint32_t to = stages + i % stripStages * stage;
			const uint32_t line = threadIdx.x / 8; // eight threads have a row of a, a warp one of add
			const uint16_t *from = p.a.values + (row0 + line) * p.a.stride;
#pragma unroll 4
			for (uint32_t group = threadIdx.x % 8; group < groups; group += 8)
				copyShared(to + line * pitchA + 16 * group, from + 8 * group, row0 + line < p.m && 8 * group < p.a.stride ? 16 : 0);
			if (p.add) {
				const float *add = p.add + size_t(row0 + threadIdx.x / 32) * p.strideC + column0 + 4 * l;
				uint32_t at = to + stripM * pitchA + threadIdx.x / 32 * pitchAdd + 16 * l;
#pragma unroll
				for (uint32_t row = threadIdx.x / 32; row < stripM; row += stripThreads / 32, add += stripThreads / 32 * p.strideC, at += stripThreads / 32 * pitchAdd)
					copyShared(at, (const uint16_t *)add, row0 + row < p.m && column0 + 4 * l < end ? 16 : 0);
			}
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	float bias[4][2];
	biasOf(bias, p, column0 + columnOfWarp, end);
#pragma unroll
	for (int i = 0; i < stripStages - 1; i++) ask(i);
	for (uint32_t i = 0; first + i * step < tiles; i++) {
		asm volatile("cp.async.wait_group %0;" ::"n"(stripStages - 2) : "memory");
		__syncthreads();
		ask(i + stripStages - 1);
		if (column0 + columnOfWarp >= end) continue;
		uint32_t a = stages + i % stripStages * stage, row0 = rowOf(i);
		float sum[4][4] = {};
#pragma unroll 4
		for (uint32_t k = 0; k < depth; k += 16) { // fragments as in Tile
			uint32_t x[4], y[2][4];
			loadMatrices<false>(x, a + (rowOfWarp + 8 * (l >> 3 & 1) + (l & 7)) * pitchA + 16 * (k / 8 + (l >> 4)));
#pragma unroll
			for (int n = 0; n < 2; n++) loadMatrices<true>(y[n], b + (k + 8 * (l >> 3 & 1) + (l & 7)) * pitchB + 2 * (columnOfWarp + 16 * n + 8 * (l >> 4)));
#pragma unroll
			for (int n = 0; n < 4; n++) multiply(sum[n], x, y[n / 2][n % 2 * 2], y[n / 2][n % 2 * 2 + 1]);
		}
		writeStrip(sum, bias, p, row0, rowOfWarp, column0, columnOfWarp, end, a + stripM * pitchA, pitchAdd);
	}
}
