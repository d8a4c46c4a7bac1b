// The products of product.cu, of up to 192 features, by instructions that only GPUs of compute capability 9.0
// have: four warps multiply 64 rows by all columns of a tile, from shared memory, while the next stages arrive.
//
// A stage has 64 values of k. In shared memory lines are 128 bytes; groups of 8 values are permuted in them as Fetcher does.
#include "product.cuh"

constexpr int depth = 64, line = 128; // values of k of a stage, bytes

// describe describes lines to the instruction: eight after the other are 1,024 bytes; wide is the way to the next 64 columns, if
// a line has columns.
__device__ __forceinline__ uint64_t describe(uint32_t at, uint32_t wide) {
	return uint64_t(1) << 62 | uint64_t(8 * line >> 4) << 32 | uint64_t(wide >> 4) << 16 | (at >> 4 & 0x3fff);
}

// An instruction names its sums one by one. TEN are ten sums of c, NAMES the names of ten from tens on.
#define TEN(i) \
	"+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7]), "+f"(c[i + 8]), "+f"(c[i + 9])
#define SIXTY TEN(0), TEN(10), TEN(20), TEN(30), TEN(40), TEN(50)
#define NAMES(tens) \
	" %" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens "7, %" #tens "8, %" #tens "9,"
#define NAMES_OF_SIXTY "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9," NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(5)

// Each adds a product of 64 rows by 144, 200 or 128 columns over 16 values of k. A line has values of k in both factors, rows or
// columns in both, or values of k in a and columns in b.
__device__ __forceinline__ void multiplyLines(float (&c)[72], uint64_t a, uint64_t b) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n144k16.f32.f16.f16 {" NAMES_OF_SIXTY NAMES(6) " %70, %71}, %72, %73, 1, 1, 1, 0, 0;"
		: SIXTY, TEN(60), "+f"(c[70]), "+f"(c[71])
		: "l"(a), "l"(b));
}

__device__ __forceinline__ void multiplyColumns(float (&c)[100], uint64_t a, uint64_t b) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n200k16.f32.f16.f16 {" NAMES_OF_SIXTY NAMES(6) NAMES(7) NAMES(8)
		" %90, %91, %92, %93, %94, %95, %96, %97, %98, %99}, %100, %101, 1, 1, 1, 1, 1;"
		: SIXTY, TEN(60), TEN(70), TEN(80), TEN(90)
		: "l"(a), "l"(b));
}

__device__ __forceinline__ void multiplyStrip(float (&c)[64], uint64_t a, uint64_t b) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_OF_SIXTY " %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 1;"
		: SIXTY, "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
		: "l"(a), "l"(b));
}

__device__ __forceinline__ uint32_t aligned(const void *memory) { return (uint32_t(__cvta_generic_to_shared(memory)) + 1023) & ~1023u; }

// pipeline multiplies count stages: ask(i) asks for stage number i, multiply(i) begins to multiply it.
template <int stages, class Ask, class Multiply> __device__ __forceinline__ void pipeline(uint32_t count, Ask ask, Multiply multiply) {
	auto askFor = [&](uint32_t i) {
		if (i < count) ask(i);
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
#pragma unroll
	for (int i = 0; i < stages - 2; i++) askFor(i);
	for (uint32_t i = 0; i < count; i++) {
		asm volatile("cp.async.wait_group %0;" ::"n"(stages - 3) : "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		__syncthreads();
		askFor(i + stages - 2); // where stage i - 2 was, which all warps have multiplied
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		multiply(i);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
	}
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// hopper_features is product_features. The tile is transposed: 192 features, 64 for each four warps, of 144 words.
constexpr int words = 144, features = 192, featureStages = 5, featureThreads = 2 * features;

extern "C" __global__ void __launch_bounds__(featureThreads, 1) hopper_features(const __grid_constant__ Product p) {
	extern __shared__ uint4 memory[];
	constexpr uint32_t part = features * line, stage = part + words * line, pitch = features + 4;
	const uint32_t shared = aligned(memory), row0 = blockIdx.x * words, w = threadIdx.x / 32, l = laneNumber();
	Fetcher<true, features, depth, featureThreads> weights(p.b, 0, p.n, 0, p.k);
	Fetcher<true, words, depth, featureThreads> gradient(p.a, row0, p.m, 0, p.k);
	float sum[words / 2];
#pragma unroll
	for (int i = 0; i < words / 2; i++) sum[i] = 0;
	pipeline<featureStages>((p.k + depth - 1) / depth, [&](uint32_t i) {
		uint32_t to = shared + i % featureStages * stage;
		weights.ask(to);
		gradient.ask(to + part);
	}, [&](uint32_t i) {
		uint32_t at = shared + i % featureStages * stage;
#pragma unroll
		for (int k = 0; k < depth; k += 16) multiplyLines(sum, describe(at + w / 4 * 64 * line + 2 * k, 0), describe(at + part + 2 * k, 0));
	});
	__syncthreads(); // the stages may be written over
	float *tile = (float *)((char *)memory + (shared - uint32_t(__cvta_generic_to_shared(memory)))); // (words, pitch)
#pragma unroll
	for (int i = 0; i < words / 2; i++)
		tile[(i / 4 * 8 + l % 4 * 2 + i % 2) * pitch + w * 16 + i / 2 % 2 * 8 + l / 4] = sum[i] * p.unit;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < words * (features / 4); i += featureThreads) {
		uint32_t word = i / (features / 4), d = i % (features / 4) * 4;
		if (row0 + word < p.m && d < p.strideC) *(float4 *)(p.c + size_t(row0 + word) * p.strideC + d) = *(const float4 *)(tile + word * pitch + d);
	}
}

// Panels ask for tiles of a matrix, size columns from column first on, depth rows after the other: 64 columns of all rows lie
// together. Rows from end on are zero; columns that the matrix has not are anything.
template <int size, int threads> struct Panels {
	static constexpr int groups = size / 8, lines = threads / groups, count = depth / lines;
	static_assert(lines % 8 == 0, "the lines of a thread have the same permutation");
	const uint16_t *from;
	size_t stride;
	uint32_t to, k, end;
	bool has;

	__device__ __forceinline__ Panels(const Narrow &x, uint32_t first, uint32_t columns, uint32_t k0, uint32_t end) : stride(x.stride), end(end) {
		uint32_t row = threadIdx.x / groups, group = threadIdx.x % groups;
		k = k0 + row;
		from = x.values + k * x.stride + first + 8 * group;
		to = group / 8 * depth * line + row * line + ((group % 8 ^ row % 8) << 4);
		has = first + 8 * group < columns;
	}

	__device__ __forceinline__ void ask(uint32_t stage) {
		if (has)
#pragma unroll
			for (int i = 0; i < count; i++) copy16(stage + to + i * lines * line, from + i * lines * stride, k + i * lines < end);
		from += depth * stride;
		k += depth;
	}
};

// hopper_weights is product_weights. The tile is transposed: 128 columns of c, 64 for each four warps, of 200 rows.
constexpr int dims = 128, rows = 200, weightStages = 4, weightThreads = 2 * dims;

extern "C" __global__ void __launch_bounds__(weightThreads, 1) hopper_weights(const __grid_constant__ Product p) {
	extern __shared__ uint4 memory[];
	constexpr uint32_t panel = depth * line, part = dims / 64 * panel, stage = part + 4 * panel;
	const uint32_t shared = aligned(memory), w = threadIdx.x / 32, l = laneNumber();
	const uint32_t across = (p.n + dims - 1) / dims, column0 = blockIdx.x % across * dims, chunk = blockIdx.x / across;
	const uint32_t first = chunk * p.chunk, end = min(p.k, first + p.chunk);
	Panels<dims, weightThreads> gradient(p.b, column0, p.n, first, end);
	Panels<256, weightThreads> y(p.a, 0, p.m, first, end);
	float sum[rows / 2];
#pragma unroll
	for (int i = 0; i < rows / 2; i++) sum[i] = 0;
	pipeline<weightStages>((end - first + depth - 1) / depth, [&](uint32_t i) {
		uint32_t to = shared + i % weightStages * stage;
		gradient.ask(to);
		y.ask(to + part);
	}, [&](uint32_t i) {
		uint32_t at = shared + i % weightStages * stage;
#pragma unroll
		for (int k = 0; k < depth; k += 16) multiplyColumns(sum, describe(at + w / 4 * panel + k * line, panel), describe(at + part + k * line, panel));
	});
	float *c = p.c + size_t(chunk) * p.m * p.strideC;
#pragma unroll
	for (int i = 0; i < rows / 2; i++) {
		uint32_t row = i / 4 * 8 + l % 4 * 2 + i % 2, column = column0 + w * 16 + i / 2 % 2 * 8 + l / 4;
		if (row < p.m && column < p.n) c[size_t(row) * p.strideC + column] = sum[i] * p.unit;
	}
}

// hopper_rows is product_strips for up to 192 values of k. A thread block keeps a strip of b of p.chunk columns, at most 128; each four
// warps go down the rows by themselves, 64 at a time. The next rows of a, and what a thread adds to its sums, arrive in shared memory
// while these are written. Loads into registers would wait for room in the cache, which is small beside so much shared memory.
constexpr int tileRows = 64, strip = 128, most = 192, rowGroups = 3, rowThreads = 128 * rowGroups;

constexpr int stripLoads = most * (strip / 8) / rowThreads; // of 16 bytes of the strip, of a thread

__device__ __forceinline__ void loadStrip(uint4 (&values)[stripLoads], const Product &p, uint32_t column0, uint32_t end) {
#pragma unroll
	for (int i = 0; i < stripLoads; i++) {
		uint32_t k = (threadIdx.x + i * rowThreads) / (strip / 8), g = threadIdx.x % (strip / 8);
		values[i] = k < p.k && column0 + 8 * g < end ? __ldg((const uint4 *)(p.b.values + k * p.b.stride + column0 + 8 * g)) : uint4{};
	}
}

// storeStrip writes the strip to shared memory. The sums of a thread are of columns 8 j + 2 q and the next one, for all j. So that
// those of two j lie side by side in memory, pairs of columns change places: of 16 columns 4 q + 2 h is in the place of 8 h + 2 q.
__device__ __forceinline__ void storeStrip(const uint4 (&values)[stripLoads], uint32_t shared, uint32_t panel) {
#pragma unroll
	for (int i = 0; i < stripLoads; i++) {
		uint32_t k = (threadIdx.x + i * rowThreads) / (strip / 8), g = threadIdx.x % (strip / 8);
		const uint32_t pairs[4] = {values[i].x, values[i].y, values[i].z, values[i].w};
#pragma unroll
		for (uint32_t j = 0; j < 4; j++) {
			uint32_t to = g / 2 * 2 + j % 2, q = g % 2 * 2 + j / 2;
			asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared + to / 8 * panel + k * line + ((to % 8 ^ k % 8) << 4) + 4 * q), "r"(pairs[j]) : "memory");
		}
	}
}

// multiplyTile multiplies the rows of a group of warps, which are at some place, by the strip.
__device__ __forceinline__ void multiplyTile(float (&sum)[strip / 2], uint32_t at, uint32_t block, uint32_t shared, uint32_t panel, uint32_t group) {
#pragma unroll
	for (int i = 0; i < strip / 2; i++) sum[i] = 0;
	asm volatile("cp.async.wait_group 1;" ::: "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
	for (int k = 0; k < most / 16; k++) // beyond k both are zero, or b is
		multiplyStrip(sum, describe(at + k / 4 * block + k % 4 * 32, 0), describe(shared + k * 16 * line, panel));
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// addToStrip adds bias, and what is in shared memory if there is add.
__device__ __forceinline__ void addToStrip(float (&sum)[strip / 2], const float *bias, const float *add, uint32_t added) {
#pragma unroll
	for (int j = 0; j < strip / 16; j++) {
		float4 b = *(const float4 *)(bias + 16 * j + laneNumber() % 4 * 4);
#pragma unroll
		for (int lower = 0; lower < 2; lower++) {
			float4 y = {};
			if (add)
				asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(y.x), "=f"(y.y), "=f"(y.z), "=f"(y.w) : "r"(added + (2 * j + lower) * 16 * 128));
			float *x = sum + 8 * j + 2 * lower;
			x[0] = x[0] + b.x + y.x, x[1] = x[1] + b.y + y.y, x[4] = x[4] + b.z + y.z, x[5] = x[5] + b.w + y.w;
		}
	}
}

extern "C" __global__ void __launch_bounds__(rowThreads, 1) hopper_rows(const __grid_constant__ Product p) {
	extern __shared__ uint4 memory[];
	__shared__ alignas(16) float bias[strip];
	constexpr uint32_t panel = most * line, part = strip / 64 * panel, block = tileRows * line, stage = most / depth * block, sums = 16 * 128 * strip / 8;
	const uint32_t shared = aligned(memory), l = laneNumber(), t = threadIdx.x % 128, group = threadIdx.x / 128;
	const uint32_t strips = (p.n + p.chunk - 1) / p.chunk, column0 = blockIdx.x % strips * p.chunk, end = min(p.n, column0 + p.chunk);
	const uint32_t tiles = (p.m + tileRows - 1) / tileRows, step = gridDim.x / strips * rowGroups;
	const uint32_t at = shared + part + group * stage, added = shared + part + rowGroups * stage + group * sums + 16 * t;
	uint32_t next = blockIdx.x / strips * rowGroups + group;
	uint4 ofStrip[stripLoads];
	loadStrip(ofStrip, p, column0, end);
	// The first rows, of frequent words, come last: the step, which begins with them, finds them in L2.
	auto rowOf = [&](uint32_t tile) { return (tiles - 1 - tile) * tileRows; };
	auto ask = [&](uint32_t tile) {
		if (tile < tiles) {
			uint32_t row = rowOf(tile) + t / 8, to = at + t / 8 * line + ((t % 8 ^ t / 8 % 8) << 4);
			const uint16_t *from = p.a.values + row * p.a.stride + t % 8 * 8;
#pragma unroll
			for (int i = 0; i < tileRows / 16; i++)
#pragma unroll
				for (int c = 0; c < most / depth; c++)
					copy16(to + i * 16 * line + c * block, from + i * 16 * p.a.stride + c * depth, row + i * 16 < p.m && c * depth + t % 8 * 8 < p.a.stride);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	// Of each 16 columns a thread has four, of two rows.
	auto each = [&](uint32_t tile, auto use) {
		uint32_t row = rowOf(tile) + t / 32 * 16 + l / 4, column = column0 + l % 4 * 4;
#pragma unroll
		for (int lower = 0; lower < 2; lower++)
#pragma unroll
			for (int j = 0; j < strip / 16; j++)
				if (row + 8 * lower < p.m && column + 16 * j < end) use(lower, j, size_t(row + 8 * lower) * p.strideC + column + 16 * j);
	};
	auto askToAdd = [&](uint32_t tile) {
		if (p.add && tile < tiles) each(tile, [&](int lower, int j, size_t from) { copy16(added + (2 * j + lower) * 16 * 128, (const uint16_t *)(p.add + from), true); });
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	ask(next);
	if (group == 0) askToAdd(next); // the others later: not all are to wait and to write at the same time
	storeStrip(ofStrip, shared, panel);
	for (uint32_t i = threadIdx.x; i < strip; i += rowThreads) bias[i] = p.bias && column0 + i < end ? p.bias[column0 + i] : 0;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (group > 0) askToAdd(next);
	for (; next < tiles; next += step) {
		float sum[strip / 2];
		multiplyTile(sum, at, block, shared, panel, group);
		ask(next + step);
		asm volatile("cp.async.wait_group 1;" ::: "memory");
		addToStrip(sum, bias, p.add, added);
		askToAdd(next + step);
		each(next, [&](int lower, int j, size_t to) { // behind a row is room
			const float *x = sum + 8 * j + 2 * lower;
			*(float4 *)(p.c + to) = make_float4(x[0], x[1], x[4], x[5]);
		});
	}
}
