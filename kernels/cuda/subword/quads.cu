// The features of the CNN and the gradient of its tables, as cnn_convolve and cnn_scatter have them, for maxima over words
// of up to 32 symbols, filters that come in fours and span up to 4 symbols, of up to 255, and tables that fit into shared
// memory: the default.
//
// A lane has four filters, so that a symbol is looked up, and its row found, once for all of them. Symbols are bytes, four
// in a number. In the place of a maximum it keeps the four symbols from there on: the gradient needs no word again.
#include "cnn.cuh"

constexpr uint32_t noSymbols = 0xffffffffu; // nowhere, packed: no symbol is 255

// convolveQuads writes the features of four filters of width W for words number i, i + stride, ... of c.places, and adds them
// and their squares up. column is where the filters' quad of the first offset and symbol is in tables, of which each symbol
// has so many.
template <int W>
__device__ __forceinline__ void convolveQuads(const Cnn &c, const float4 *column, uint32_t columns, uint32_t d, uint32_t i, uint32_t stride, double (&sums)[8]) {
	if (i >= c.v) return;
	const char *table[W]; // of each offset
#pragma unroll
	for (int o = 0; o < W; o++) table[o] = (const char *)(column + o * c.a * columns);
	const uint32_t pitch = 16 * columns;
	const float least = c.activation == relu ? 0 : -INFINITY;
	uint2 place = __ldg(c.places + i), text = __ldg((const uint2 *)(c.packedWords + 8 * size_t(i)));
	for (; i < c.v; i += stride) {
		const uint32_t *word = c.packedWords + 8 * size_t(i), v = place.x, positions = place.y - (W - 1);
		uint32_t low = text.x, high = text.y, next = min(i + stride, c.v - 1);
		place = __ldg(c.places + next), text = __ldg((const uint2 *)(c.packedWords + 8 * size_t(next)));
		float best[4] = {least, least, least, least};
		uint32_t at[4] = {noSymbols, noSymbols, noSymbols, noSymbols}, row[W];
#pragma unroll
		for (int o = 0; o < W - 1; o++) row[o + 1] = (low >> 8 * o & 255) * pitch;
		for (uint32_t t = 0; t < positions; t += 4) {
			uint32_t after = __ldg(word + t / 4 + 2); // of the next word if this one ends
#pragma unroll
			for (int j = 0; j < 4; j++) {
				if (t + j >= positions) break;
				uint32_t symbols = __funnelshift_r(low, high, 8 * j);
#pragma unroll
				for (int o = 0; o < W - 1; o++) row[o] = row[o + 1];
				row[W - 1] = (symbols >> 8 * (W - 1) & 255) * pitch;
				float4 x = *(const float4 *)(table[0] + row[0]);
#pragma unroll
				for (int o = 1; o < W; o++) {
					float4 y = *(const float4 *)(table[o] + row[o]);
					x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
				}
				if (x.x > best[0]) best[0] = x.x, at[0] = symbols;
				if (x.y > best[1]) best[1] = x.y, at[1] = symbols;
				if (x.z > best[2]) best[2] = x.z, at[2] = symbols;
				if (x.w > best[3]) best[3] = x.w, at[3] = symbols;
			}
			low = high, high = after;
		}
#pragma unroll
		for (int n = 0; n < 4; n++) {
			best[n] = activate(c, best[n]);
			sums[n] += best[n];
			sums[4 + n] += double(best[n]) * best[n];
		}
		size_t to = size_t(v) * c.d + d;
		*(float4 *)(c.features + to) = make_float4(best[0], best[1], best[2], best[3]);
		*(uint4 *)((uint32_t *)c.where + to) = make_uint4(at[0], at[1], at[2], at[3]);
	}
}

// A Group is up to 32 quads of filters of one width, and the warps of a thread block that have them.
struct Group {
	uint32_t width, quad, quads; // the first quad of all, and their number
	uint32_t begin, end;         // warps
};

// find returns the group that is wanted. Warps are shared out by about how long a word takes.
template <class Wanted> __device__ __forceinline__ Group find(const Cnn &c, Wanted wanted) {
	auto cost = [&](uint32_t b, uint32_t quads) { return (c.width[b] + 8) * 32 / (32 / quads); };
	uint32_t groups = 0, all = 0, before = 0, number = 0, warps = blockDim.x / 32;
	for (uint32_t b = 0; b < c.widths; b++)
		for (uint32_t first = 0, of = c.count[b] / 4; first < of; first += 32, groups++) all += cost(b, min(32u, of - first));
	Group g = {};
	for (uint32_t b = 0; b < c.widths; b++) {
		for (uint32_t first = 0, of = c.count[b] / 4; first < of; first += 32, number++) {
			uint32_t quads = min(32u, of - first), begin = number + (warps - groups) * before / all;
			before += cost(b, quads);
			g = {c.width[b], c.column[b] / 4 + first, quads, begin, number + 1 + (warps - groups) * before / all};
			if (wanted(g)) return g;
		}
	}
	return g;
}

// quads_convolve is cnn_convolve with the tables in shared memory. A lane has four filters of a word, a warp the quads of a
// group: of a small one those of several words.
extern "C" __global__ void __launch_bounds__(768, 1) quads_convolve(const __grid_constant__ Cnn c) {
	extern __shared__ float4 tables[]; // (W, A, C / 4); behind them double (warps, 32, 8): sums of each warp
	const uint32_t columns = c.columns / 4, size = c.widest * c.a * columns, w = threadIdx.x / 32, l = laneNumber();
	double *parts = (double *)(tables + size);
	for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) tables[i] = ((const float4 *)c.tables)[i];
	__syncthreads();
	const Group g = find(c, [&](const Group &g) { return w < g.end; });
	uint32_t words = 32 / g.quads, quad = l % g.quads, of = l / g.quads, d = 4 * (g.quad + quad), warps = g.end - g.begin;
	uint32_t i = of < words ? ((w - g.begin) * gridDim.x + blockIdx.x) * words + of : c.v, stride = warps * gridDim.x * words;
	double sums[8] = {};
	const float4 *column = tables + d / 4;
	switch (g.width) {
	case 1: convolveQuads<1>(c, column, columns, d, i, stride, sums); break;
	case 2: convolveQuads<2>(c, column, columns, d, i, stride, sums); break;
	case 3: convolveQuads<3>(c, column, columns, d, i, stride, sums); break;
	case 4: convolveQuads<4>(c, column, columns, d, i, stride, sums); break;
	}
	__syncwarp();
#pragma unroll
	for (int n = 0; n < 8; n++) {
		double x = sums[n];
		for (uint32_t other = 1; other < words; other++) x += __shfl_sync(warp, sums[n], quad + other * g.quads);
		if (of == 0) parts[(w * 32 + quad) * 8 + n] = x;
	}
	__syncthreads();
	for (uint32_t n = threadIdx.x; n < 8 * columns; n += blockDim.x) { // value n % 8 of a quad: sums of four features, then squares
		uint32_t q = n / 8;
		const Group g = find(c, [&](const Group &g) { return q < g.quad + g.quads; });
		double x = 0;
		for (uint32_t other = g.begin; other < g.end; other++) x += parts[(other * 32 + q - g.quad) * 8 + n % 8];
		c.sums[(2 * size_t(blockIdx.x) + n % 8 / 4) * c.d + 4 * q + n % 4] = x;
	}
}

constexpr int scatterAhead = 8; // words whose values are on their way together, while those before them are added

// scatterPacked adds up the gradient of feature d, of width W, over the words from first to last - 1, whose symbols
// are packed, in the lane's column of tables. It reads up to scatterAhead words more.
template <int W> __device__ __forceinline__ void scatterPacked(const Cnn &c, float *column, uint32_t d, uint32_t first, uint32_t last) {
	constexpr int ahead = scatterAhead;
	// With y = (x - mean) scale the gradient of x is scale (dy - meanGradient - y meanProduct), times the derivative of the
	// activation: of a maximum that is anywhere it is 1, or 1 - x^2.
	const float scale = c.scale[d], ofX = scale * scale * c.meanProduct[d], constant = fmaf(c.mean[d], ofX, -scale * c.meanGradient[d]);
	const float ofSquare = c.activation == hyperbolic ? -1 : 0;
	const uint32_t *where = (const uint32_t *)c.where + size_t(first) * c.d + d;
	const float *features = c.features + size_t(first) * c.d + d, *gradient = c.dy + size_t(first) * c.strideD + d;
	float *table[W]; // of each offset
#pragma unroll
	for (int o = 0; o < W; o++) table[o] = column + o * c.a * 32;
	uint32_t at[ahead];
	float x[ahead], dy[ahead];
	auto ask = [&]() {
#pragma unroll
		for (int j = 0; j < ahead; j++, where += c.d, features += c.d, gradient += c.strideD) at[j] = *where, x[j] = *features, dy[j] = *gradient;
	};
	if (first < last) ask();
	for (uint32_t v = first; v < last; v += ahead) {
		float g[ahead];
		uint32_t symbols[ahead];
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			bool none = at[j] == noSymbols || v + j >= last; // adds nothing, anywhere
			g[j] = none ? 0 : fmaf(scale, dy[j], fmaf(-ofX, x[j], constant)) * fmaf(ofSquare * x[j], x[j], 1);
			symbols[j] = none ? 0 : at[j];
		}
		if (v + ahead < last) ask();
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			float sum[W]; // of different offsets: no row comes twice
#pragma unroll
			for (int o = 0; o < W; o++) sum[o] = table[o][32 * (symbols[j] >> 8 * o & 255)];
#pragma unroll
			for (int o = 0; o < W; o++) table[o][32 * (symbols[j] >> 8 * o & 255)] = sum[o] + g[j];
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
