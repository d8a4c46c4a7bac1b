// The features of the CNN and the gradient of its tables, as cnn_convolve and cnn_scatter have them, for maxima over words,
// filters that come in fours and span up to 4 symbols, of up to 255, and tables that fit into shared memory: the default.
//
// A lane has four filters, so that a symbol is looked up, and its row found, once for all of them. In the place
// of a maximum it keeps the symbols there, packed into 32 bits: the gradient needs no word again.
#include "cnn.cuh"

constexpr uint32_t noSymbols = 0xffffffffu; // nowhere, packed

// convolveQuads writes the features of four filters of width W for words v, v + stride, ..., and adds them and their squares
// up. column is where the filters' quad of the first offset and symbol is in tables, of which each symbol has so many.
template <int W>
__device__ __forceinline__ void convolveQuads(const Cnn &c, const float4 *column, uint32_t columns, uint32_t d, uint32_t v, uint32_t stride, double (&sums)[8]) {
	const uint32_t offset = c.a * columns;
	for (; v < c.v; v += stride) {
		uint32_t first = __ldg(c.starts + v), count = __ldg(c.starts + v + 1) - first, symbols = 0;
		const uint32_t *word = c.symbols + first;
		const float least = c.activation == relu ? 0 : -INFINITY;
		float best[4] = {least, least, least, least};
		uint32_t at[4] = {noSymbols, noSymbols, noSymbols, noSymbols}, row[W];
#pragma unroll
		for (int o = 0; o < W - 1; o++) {
			uint32_t symbol = __ldg(word + o);
			symbols = symbols >> 8 | symbol << 8 * (W - 1);
			row[o + 1] = symbol * columns;
		}
#pragma unroll 2
		for (uint32_t t = W - 1; t < count; t++) {
			uint32_t symbol = __ldg(word + t);
			symbols = symbols >> 8 | symbol << 8 * (W - 1);
#pragma unroll
			for (int o = 0; o < W - 1; o++) row[o] = row[o + 1];
			row[W - 1] = symbol * columns;
			float4 x = column[row[0]];
#pragma unroll
			for (int o = 1; o < W; o++) {
				float4 y = column[o * offset + row[o]];
				x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
			}
			if (x.x > best[0]) best[0] = x.x, at[0] = symbols;
			if (x.y > best[1]) best[1] = x.y, at[1] = symbols;
			if (x.z > best[2]) best[2] = x.z, at[2] = symbols;
			if (x.w > best[3]) best[3] = x.w, at[3] = symbols;
		}
#pragma unroll
		for (int i = 0; i < 4; i++) {
			best[i] = activate(c, best[i]);
			sums[i] += best[i];
			sums[4 + i] += double(best[i]) * best[i];
		}
		size_t to = size_t(v) * c.d + d;
		*(float4 *)(c.features + to) = make_float4(best[0], best[1], best[2], best[3]);
		*(uint4 *)((uint32_t *)c.where + to) = make_uint4(at[0], at[1], at[2], at[3]);
	}
}

// quads_convolve is cnn_convolve with the tables in shared memory. A lane has four filters of a word, a warp up to 32
// such quads of one width: of a narrow one those of several words.
extern "C" __global__ void __launch_bounds__(1024, 1) quads_convolve(const __grid_constant__ Cnn c) {
	extern __shared__ float4 tables[]; // (W, A, C / 4); behind them double (warps, 32, 8): sums of each warp
	const uint32_t columns = c.columns / 4, size = c.widest * c.a * columns, warps = blockDim.x / 32, w = threadIdx.x / 32, l = laneNumber();
	double *parts = (double *)(tables + size);
	for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) tables[i] = ((const float4 *)c.tables)[i];
	__syncthreads();
	for (uint32_t b = 0; b < c.widths; b++) {
		for (uint32_t first = 0, all = c.count[b] / 4; first < all; first += 32) {
			uint32_t quads = min(32u, all - first), words = 32 / quads, quad = l % quads, of = l / quads, d = c.column[b] + 4 * (first + quad);
			uint32_t v = of < words ? (w * gridDim.x + blockIdx.x) * words + of : c.v, stride = warps * gridDim.x * words;
			double sums[8] = {};
			const float4 *column = tables + d / 4;
			switch (c.width[b]) {
			case 1: convolveQuads<1>(c, column, columns, d, v, stride, sums); break;
			case 2: convolveQuads<2>(c, column, columns, d, v, stride, sums); break;
			case 3: convolveQuads<3>(c, column, columns, d, v, stride, sums); break;
			case 4: convolveQuads<4>(c, column, columns, d, v, stride, sums); break;
			}
			__syncwarp();
#pragma unroll
			for (int i = 0; i < 8; i++) {
				double x = sums[i];
				for (uint32_t other = 1; other < words; other++) x += __shfl_sync(warp, sums[i], quad + other * quads);
				if (of == 0) parts[(w * 32 + quad) * 8 + i] = x;
			}
			__syncthreads();
			if (threadIdx.x < 8 * quads) { // value i of a quad: sums of four features, then squares
				uint32_t q = threadIdx.x / 8, i = threadIdx.x % 8;
				double x = 0;
				for (uint32_t other = 0; other < warps; other++) x += parts[(other * 32 + q) * 8 + i];
				c.sums[(2 * size_t(blockIdx.x) + i / 4) * c.d + c.column[b] + 4 * (first + q) + i % 4] = x;
			}
			__syncthreads();
		}
	}
}

// scatterPacked adds up the gradient of feature d, of width W, over the words from first to last - 1, whose symbols
// are packed, in the lane's column of tables.
template <int W> __device__ __forceinline__ void scatterPacked(const Cnn &c, float *column, uint32_t d, uint32_t first, uint32_t last) {
	constexpr int ahead = 8; // words whose values are on their way together, while those before them are added
	const float mean = c.mean[d], scale = c.scale[d], meanGradient = c.meanGradient[d], meanProduct = c.meanProduct[d];
	const Adder<true> to = {column, 32};
	uint32_t at[ahead];
	float x[ahead], dy[ahead];
	auto ask = [&](uint32_t v0) {
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			uint32_t v = min(v0 + j, last - 1);
			at[j] = ((const uint32_t *)c.where)[size_t(v) * c.d + d];
			x[j] = c.features[size_t(v) * c.d + d];
			dy[j] = c.dy[size_t(v) * c.strideD + d];
		}
	};
	if (first < last) ask(first);
	for (uint32_t v0 = first; v0 < last; v0 += ahead) {
		float g[ahead];
		uint32_t symbols[ahead];
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			bool none = at[j] == noSymbols || v0 + j >= last; // adds nothing, anywhere
			float y = (x[j] - mean) * scale;
			g[j] = none ? 0 : scale * (dy[j] - meanGradient - y * meanProduct) * derivative(c, x[j]);
			symbols[j] = none ? 0 : at[j];
		}
		if (v0 + ahead < last) ask(v0 + ahead);
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			uint32_t rows[W];
#pragma unroll
			for (int o = 0; o < W; o++) rows[o] = o * c.a + (symbols[j] >> 8 * o & 255);
			to.add(rows, g[j]);
		}
	}
}

// quads_scatter is cnn_scatter of packed symbols. A thread block has a piece of the words and 32 columns, each of its
// warps a part of the words and its own tables, which are summed last: so there are few pieces to collect.
extern "C" __global__ void __launch_bounds__(128) quads_scatter(const __grid_constant__ Cnn c) {
	extern __shared__ float tablesOfWarps[]; // (warps, W, A, 32)
	const uint32_t warps = blockDim.x / 32, w = threadIdx.x / 32, l = laneNumber(), rows = c.widest * c.a, size = 32 * rows;
	const uint32_t piece = blockIdx.x % c.pieces, group = blockIdx.x / c.pieces, column = 32 * group + l;
	for (uint32_t i = threadIdx.x; i < warps * size; i += blockDim.x) tablesOfWarps[i] = 0;
	__syncthreads();
	if (column < c.columns) {
		uint64_t part = piece * warps + w, parts = c.pieces * warps;
		uint32_t first = uint32_t(c.v * part / parts), last = uint32_t(c.v * (part + 1) / parts);
		float *mine = tablesOfWarps + w * size + l;
		switch (c.width[widthOf(c, c.column, column)]) {
		case 1: scatterPacked<1>(c, mine, column, first, last); break;
		case 2: scatterPacked<2>(c, mine, column, first, last); break;
		case 3: scatterPacked<3>(c, mine, column, first, last); break;
		case 4: scatterPacked<4>(c, mine, column, first, last); break;
		}
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
		if (32 * group + i % 32 >= c.columns) continue;
		float x = 0;
		for (uint32_t other = 0; other < warps; other++) x += tablesOfWarps[other * size + i];
		c.dparts[(size_t(piece) * rows + i / 32) * c.columns + 32 * group + i % 32] = x;
	}
}
