// The features of the CNN, standardized, and the gradient of its tables, as cnn.cu has them, for maxima over words
// of up to 32 symbols, filters that come in fours and span up to 4 symbols, of up to 255, and tables that fit into shared
// memory: the default.
//
// A lane has four filters, so that a symbol is looked up, and its row found, once for all of them. Symbols are bytes, four
// in a number. In the place of a maximum it keeps the four symbols from there on: the gradient needs no word again.
#include <cuda_fp16.h>
#include "cnn.cuh"

constexpr uint32_t noSymbols = 0xffffffffu; // nowhere, packed: no symbol is 255

__device__ __forceinline__ uint32_t byteOf(uint32_t x, int number) { return __byte_perm(x, 0, 0x4440 + number); }

// convolveQuads computes the features of four filters of width W for words number i, i + stride, ... of c.places, and adds them
// and their squares up. The lane keeps those of its first c.kept words. column is where the filters' quad of the first offset
// and symbol is in tables, of which each symbol has so many.
template <int W>
__device__ __forceinline__ void convolveQuads(const Cnn &c, const float4 *column, uint32_t columns, uint32_t d, uint32_t i, uint32_t stride, float4 *kept,
	double (&sums)[8]) {
	if (i >= c.v) return;
	const uint32_t pitch = 16 * columns, own = uint32_t(__cvta_generic_to_shared(column)), step = c.a * pitch; // from offset to offset
	const float least = c.activation == relu ? 0 : -INFINITY;
	uint2 place = __ldg(c.places + i), text = __ldg((const uint2 *)(c.packedWords + 8 * size_t(i)));
	for (uint32_t number = 0; i < c.v; i += stride, number++) {
		const uint32_t *word = c.packedWords + 8 * size_t(i), v = place.x;
		int left = int(place.y) - (W - 1); // positions
		uint32_t low = text.x, high = text.y, next = min(i + stride, c.v - 1);
		place = __ldg(c.places + next), text = __ldg((const uint2 *)(c.packedWords + 8 * size_t(next)));
		float best[4] = {least, least, least, least};
		uint32_t at[4] = {noSymbols, noSymbols, noSymbols, noSymbols}, row[W + 3]; // of symbols from a position on
		auto rowOf = [&](int o) { return byteOf(o < 4 ? low : high, o % 4) * pitch + own; };
#pragma unroll
		for (int o = 0; o < W - 1; o++) row[o] = rowOf(o);
		for (word += 2; left > 0; left -= 4, word++) {
			uint32_t after = __ldg(word); // of the next word if this one ends
#pragma unroll
			for (int o = W - 1; o < W + 3; o++) row[o] = rowOf(o);
#pragma unroll
			for (int j = 0; j < 4; j++) {
				if (j >= left) break;
				uint32_t symbols = __funnelshift_r(low, high, 8 * j);
				float4 x, y;
				auto load = [&](float4 &x, int o) {
					asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(row[j + o] + o * step));
				};
				load(x, 0);
#pragma unroll
				for (int o = 1; o < W; o++) {
					load(y, o);
					x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
				}
				if (x.x > best[0]) best[0] = x.x, at[0] = symbols;
				if (x.y > best[1]) best[1] = x.y, at[1] = symbols;
				if (x.z > best[2]) best[2] = x.z, at[2] = symbols;
				if (x.w > best[3]) best[3] = x.w, at[3] = symbols;
			}
#pragma unroll
			for (int o = 0; o < W - 1; o++) row[o] = row[o + 4];
			low = high, high = after;
		}
		if (c.activation == hyperbolic)
#pragma unroll
			for (int n = 0; n < 4; n++) best[n] = tanhf(best[n]);
#pragma unroll
		for (int n = 0; n < 4; n++) {
			sums[n] += exact(best[n]);
			sums[4 + n] += exact(double(best[n]) * best[n]);
		}
		size_t to = size_t(v) * c.d + d;
		float4 all = make_float4(best[0], best[1], best[2], best[3]);
		if (number < c.kept) kept[number * blockDim.x] = all;
		if (number >= c.kept) *(float4 *)(c.features + to) = all;
		*(uint4 *)((uint32_t *)c.where + to) = make_uint4(at[0], at[1], at[2], at[3]);
	}
}

// together waits until all thread blocks have come here, which run at the same time.
__device__ __forceinline__ void together(uint64_t *counter) {
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		uint64_t n = atomicAdd((unsigned long long *)counter, 1ull), all = n - n % gridDim.x + gridDim.x, come;
		do asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(come) : "l"(counter) : "memory");
		while (come < all);
	}
	__syncthreads();
}

// addParts adds up the sums of the warps of each group, of this thread block's words.
__device__ __forceinline__ void addParts(const Cnn &c, const double *parts, uint32_t columns) {
	for (uint32_t n = threadIdx.x; n < 8 * columns; n += blockDim.x) { // value n % 8 of a quad: sums of four features, then squares
		uint32_t q = n / 8, number = 0;
		while (q >= c.groups[number].quad + c.groups[number].quads) number++;
		const Group g = c.groups[number];
		double x = 0;
		for (uint32_t other = g.begin; other < g.end; other++) x += parts[(other * 32 + q - g.quad) * 8 + n % 8];
		c.sums[(2 * size_t(lineOf(c, blockIdx.x)) + n % 8 / 4) * c.d + 4 * q + n % 4] = x;
	}
}

// quads_convolve is cnn_convolve with the tables in shared memory, and cnn_means and cnn_standardize. A lane has four
// filters of a word, a warp the quads of a group: of a small one those of several words.
extern "C" __global__ void __launch_bounds__(768, 1) quads_convolve(const __grid_constant__ Cnn c) {
	extern __shared__ float4 tables[]; // (W, A, C / 4), and later double (warps, 32, 8), sums of each warp; then (kept, threads): features
	const uint32_t columns = c.columns / 4, size = c.widest * c.a * columns, w = threadIdx.x / 32, l = laneNumber();
	double *parts = (double *)tables;
	float4 *kept = tables + max(size, blockDim.x * 4) + threadIdx.x;
	for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
		uint32_t to = uint32_t(__cvta_generic_to_shared(tables + i));
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(c.tables + 4 * i)) : "memory");
	}
	startNext();
	asm volatile("cp.async.wait_all;" ::: "memory");
	__syncthreads();
	uint32_t number = 0;
	while (w >= c.groups[number].end) number++;
	const Group g = c.groups[number];
	uint32_t words = 32 / g.quads, quad = l % g.quads, of = l / g.quads, d = 4 * (g.quad + quad), warps = g.end - g.begin;
	uint32_t i = of < words ? ((w - g.begin) * gridDim.x + blockIdx.x) * words + of : c.v, stride = warps * gridDim.x * words;
	double sums[8] = {};
	const float4 *column = tables + d / 4;
	switch (g.width) {
	case 1: convolveQuads<1>(c, column, columns, d, i, stride, kept, sums); break;
	case 2: convolveQuads<2>(c, column, columns, d, i, stride, kept, sums); break;
	case 3: convolveQuads<3>(c, column, columns, d, i, stride, kept, sums); break;
	case 4: convolveQuads<4>(c, column, columns, d, i, stride, kept, sums); break;
	}
	__syncthreads(); // the tables are done with
#pragma unroll
	for (int n = 0; n < 8; n++) {
		double x = sums[n];
		for (uint32_t other = 1; other < words; other++) x += __shfl_sync(warp, sums[n], quad + other * g.quads);
		if (of == 0) parts[(w * 32 + quad) * 8 + n] = x;
	}
	__syncthreads();
	addParts(c, parts, columns);
	if (c.apart) return; // cnn_means and cnn_standardize follow, with the sums of all GPUs
	together(c.together);
	moments(c);
	together(c.together);
	if (i >= c.v) return; // a lane standardizes what it wrote
	const float4 mean = __ldcg((const float4 *)(c.mean + d)), scale = __ldcg((const float4 *)(c.scale + d));
	constexpr int ahead = 4;
	for (number = 0; i < c.v; i += ahead * stride, number += ahead) {
		uint32_t v[ahead];
		float4 x[ahead];
#pragma unroll
		for (int j = 0; j < ahead; j++) v[j] = __ldg(&c.places[min(i + j * stride, c.v - 1)].x);
#pragma unroll
		for (int j = 0; j < ahead; j++) x[j] = number + j < c.kept ? kept[(number + j) * blockDim.x] : *(const float4 *)(c.features + size_t(v[j]) * c.d + d);
#pragma unroll
		for (int j = 0; j < ahead; j++)
			if (i + j * stride < c.v)
				put(c.y, v[j], d, make_float4((x[j].x - mean.x) * scale.x, (x[j].y - mean.y) * scale.y, (x[j].z - mean.z) * scale.z, (x[j].w - mean.w) * scale.w), 1);
	}
}

constexpr int scatterAhead = 8; // words whose values are asked for together, while those before them are on their way

// scatterPacked adds up the gradient of feature d, of width W, over some words, whose symbols
// are packed, in the lane's column of tables. It reads up to scatterAhead words more.
template <int W> __device__ __forceinline__ void scatterPacked(const Cnn &c, float *column, uint32_t d, const Words &words) {
	constexpr int ahead = scatterAhead;
	// With y = (x - mean) scale the gradient of x is scale (dy - meanGradient - y meanProduct), times the derivative of the
	// activation: of a maximum that is anywhere it is 1, or 1 - x^2.
	const float mean = c.mean[d], scale = c.scale[d], ofY = scale * c.meanProduct[d], constant = -scale * c.meanGradient[d], back = 1 / scale;
	const float ofSquare = c.activation == hyperbolic ? -1 : 0;
	const uint32_t *where = (const uint32_t *)c.where + size_t(words.first) * c.d + d;
	const float *gradient = c.dy + size_t(words.first) * c.strideD + d;
	const __half *standardized = (const __half *)c.y.values + size_t(words.first) * c.y.stride + d;
	const size_t nextWhere = size_t(words.step) * c.d, nextGradient = size_t(words.step) * c.strideD, nextStandardized = words.step * c.y.stride;
	uint32_t table[W]; // of each offset, in shared memory
#pragma unroll
	for (int o = 0; o < W; o++) table[o] = uint32_t(__cvta_generic_to_shared(column + o * c.a * 32));
	struct Values { // of so many words
		uint32_t at[ahead];
		__half y[ahead];
		float dy[ahead];
	};
	auto ask = [&](Values &r) {
#pragma unroll
		for (int j = 0; j < ahead; j++, where += nextWhere, gradient += nextGradient, standardized += nextStandardized)
			r.at[j] = *where, r.dy[j] = *gradient, r.y[j] = *standardized;
	};
	// use adds the values of the words from number v on, once it has asked for those after the next ones.
	auto use = [&](Values &r, uint32_t v) {
		float g[ahead];
		uint32_t symbols[ahead];
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			bool none = r.at[j] == noSymbols || v + j >= words.count; // adds nothing, anywhere
			float y = __half2float(r.y[j]), x = fmaf(y, back, mean);
			g[j] = none ? 0 : fmaf(scale, r.dy[j], fmaf(-ofY, y, constant)) * fmaf(ofSquare * x, x, 1);
			symbols[j] = none ? 0 : r.at[j];
		}
		if (v + 2 * ahead < words.count) ask(r);
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			uint32_t row[W];
			float sum[W]; // of different offsets: no row comes twice
#pragma unroll
			for (int o = 0; o < W; o++) {
				row[o] = table[o] + 128 * byteOf(symbols[j], o);
				asm volatile("ld.shared.f32 %0, [%1];" : "=f"(sum[o]) : "r"(row[o]));
			}
#pragma unroll
			for (int o = 0; o < W; o++) asm volatile("st.shared.f32 [%0], %1;" ::"r"(row[o]), "f"(sum[o] + g[j]) : "memory");
		}
	};
	Values even, odd;
	if (words.count > 0) ask(even);
	if (words.count > ahead) ask(odd);
	for (uint32_t v = 0; v < words.count; v += 2 * ahead) {
		use(even, v);
		if (v + ahead < words.count) use(odd, v + ahead);
	}
}

// quads_scatter is cnn_scatter of packed symbols. A thread block has a piece of the words and 32 columns, each of its
// warps a part of the words and its own tables, which are summed last: so there are few pieces to collect.
extern "C" __global__ void __launch_bounds__(128, 3) quads_scatter(const __grid_constant__ Cnn c) {
	extern __shared__ float4 tablesOfWarps[]; // (warps, W of these columns at most, A, 32)
	const uint32_t warps = blockDim.x / 32, w = threadIdx.x / 32, l = laneNumber();
	const uint32_t pieces = c.pieces / c.gpus, piece = blockIdx.x % pieces, group = blockIdx.x / pieces, column = 32 * group + l;
	const uint32_t width = column < c.columns ? c.width[widthOf(c, c.column, column)] : 0, size = 8 * c.a * __reduce_max_sync(warp, width);
	for (uint32_t i = threadIdx.x; i < warps * size; i += blockDim.x) tablesOfWarps[i] = float4{};
	__syncthreads();
	if (column < c.columns) {
		const Words words = wordsOf(c, piece, w, warps);
		float *mine = (float *)(tablesOfWarps + w * size) + l;
		switch (width) {
		case 1: scatterPacked<1>(c, mine, column, words); break;
		case 2: scatterPacked<2>(c, mine, column, words); break;
		case 3: scatterPacked<3>(c, mine, column, words); break;
		case 4: scatterPacked<4>(c, mine, column, words); break;
		}
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
		uint32_t first = 32 * group + i % 8 * 4; // of four columns
		if (first >= c.columns) continue;
		float4 x = {};
		for (uint32_t other = 0; other < warps; other++) {
			float4 y = tablesOfWarps[other * size + i];
			x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
		}
		*(float4 *)(c.dparts + lineOf(c, piece) * sizeOf(c) + i / 8 * c.columns + first) = x;
	}
}
