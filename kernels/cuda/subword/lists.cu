// The CNN's tables of large alphabets, such as n-grams of several lengths: tables that do not fit into shared memory. They are
// computed by products of matrices, and their gradient is collected from lists of where each symbol stands:
//
//	low        symbols (A, E), filters (E, T) and their biases (T): T = w F + w F + ..., of all offsets of the first width, then
//	           of the next; scaled (A, E + 1) = (symbols, 1) units, with a unit for each symbol
//	tables     (A, T) = symbols filters + biases
//	features, y, vectors, loss, weights: cnn.cu
//	features   (V G, D), written over by their gradients before the activation
//	dtables    (A, T): a symbol collects the gradients of the features that have their maximum where it is under the filter,
//	           divided by its unit
//	dsymbols   (A, E) = dtables filters^T units
//	dfilters   (E + 1, T) = scaled^T dtables, the last row of the biases
//
// Units keep sums in the range of float16 numbers: some symbols stand in all words, some in two.
//
// Each sum has one thread, and an order that follows from the lists, so two runs give the same bits.
#include "cnn.cuh"

constexpr float tableUnits = 4, largest = 65504; // 1 of a gradient is so many in dtables, where no number is larger
constexpr uint32_t whole = 0xffffffffu; // a slot: no parts

// A Piece is some of the uses of a symbol. Those of a frequent symbol are several pieces, each with a slot in parts.
struct Piece {
	uint32_t symbol, first, last, slot; // uses, the last excluded
};

// A Split is a symbol of several pieces.
struct Split {
	uint32_t symbol, first, last, unused; // slots
};

struct Lists {
	Cnn cnn;
	Narrow symbols;      // (A, E)
	Narrow scaled;       // (A, E + 1)
	Narrow filters;      // (E, T)
	Narrow dtables;      // (A, T)
	const float *units;  // (A), powers of 2, about the roots of how often the symbols stand in words
	float *biases;       // (T)
	float *parts;        // (slots, T), of dtables
	const float *ofFilters; // (chunks, E + 1, T), parts of dfilters
	const uint2 *uses;   // of symbol after symbol: a spelling, and the symbol's place in it
	const Piece *pieces; // first those with slots
	const Split *splits;
	uint32_t columns, strideE, chunks, unused; // T; of embeddings
};

// filterOf returns where a value of tables has its filter's: row o E + e of filters, and their column.
__device__ __forceinline__ uint32_t filterOf(const Cnn &c, uint32_t t, uint32_t e, bool &first, uint32_t &bias) {
	uint32_t b = widthOf(c, c.begin, t), f = c.count[b], o = (t - c.begin[b]) / f, column = (t - c.begin[b]) % f;
	first = o == 0;
	bias = c.first[b] + c.width[b] * c.e * f + column;
	return c.first[b] + (o * c.e + e) * f + column;
}

// lists_low writes the factors of tables. A thread has four values: of filters in the first thread blocks, then of symbols.
extern "C" __global__ void __launch_bounds__(128) lists_low(const __grid_constant__ Lists l) {
	const Cnn &c = l.cnn;
	uint32_t i = blockIdx.x * 128 + threadIdx.x, quads = uint32_t(l.filters.stride) / 4, before = (c.e * quads + 127) / 128;
	float x[4] = {};
	if (blockIdx.x < before) {
		uint32_t e = i / quads, t = i % quads * 4, bias;
		if (e >= c.e) return;
		for (int j = 0; j < 4; j++) {
			if (t + j >= l.columns) continue;
			bool first;
			x[j] = c.filters[filterOf(c, t + j, e, first, bias)];
			if (e == 0) l.biases[t + j] = first ? c.filters[bias] : 0;
		}
		put(l.filters, e, t, make_float4(x[0], x[1], x[2], x[3]), 1);
		return;
	}
	i -= 128 * before;
	quads = uint32_t(l.scaled.stride) / 4;
	uint32_t s = i / quads, e = i % quads * 4;
	if (s >= c.a) return;
	for (int j = 0; j < 4; j++) x[j] = e + j < c.e ? c.embeddings[size_t(s) * l.strideE + e + j] : e + j == c.e ? 1 : 0;
	float4 of = make_float4(x[0], x[1], x[2], x[3]);
	put(l.scaled, s, e, of, l.units[s]);
	if (e < l.symbols.stride) put(l.symbols, s, e, of, 1); // no product reads its last column
}

// lists_differentiate writes the gradients of features before the activation over them. A thread has a feature of a spelling.
extern "C" __global__ void __launch_bounds__(256) lists_differentiate(const __grid_constant__ Lists l) {
	const Cnn &c = l.cnn;
	uint32_t groups = (c.d + 255) / 256, spelling = blockIdx.x / groups, v = spelling / c.spellings, d = blockIdx.x % groups * 256 + threadIdx.x;
	if (d >= c.d) return;
	size_t at = size_t(spelling) * c.d + d;
	float x = c.features[at], scale = c.scale[d], y = (c.summed[size_t(v) * c.d + d] - c.mean[d]) * scale;
	float g = scale * (c.dy[size_t(v) * c.strideD + d] - c.meanGradient[d] - y * c.meanProduct[d]) * derivative(c, x);
	c.features[at] = ((const uint16_t *)c.where)[at] == nowhere ? 0 : g;
}

// putSum writes a value of dtables. Too large ones are the largest; NaN stays.
__device__ __forceinline__ void putSum(const Lists &l, uint32_t symbol, uint32_t t, float sum) {
	float x = sum * (tableUnits / l.units[symbol]);
	x = x > largest ? largest : x < -largest ? -largest : x;
	l.dtables.values[size_t(symbol) * l.dtables.stride + t] = uint16_t(narrow(make_float4(x, 0, 0, 0), 1).x);
}

// lists_gather sums the gradients of a piece. A thread has a column: what the filter's offsets get at the symbol, some at a time.
extern "C" __global__ void __launch_bounds__(128) lists_gather(const __grid_constant__ Lists l) {
	constexpr int offsets = 8;
	struct Gradient {
		float g;
		uint32_t offset;
	};
	const Cnn &c = l.cnn;
	uint32_t groups = (c.columns + 127) / 128, column = blockIdx.x % groups * 128 + threadIdx.x;
	if (column >= c.columns) return;
	const Piece p = l.pieces[blockIdx.x / groups];
	uint32_t b = widthOf(c, c.column, column), w = c.width[b];
	for (uint32_t o0 = 0; o0 < w; o0 += offsets) {
		float sum[offsets] = {};
		inBatches<8>(p.last - p.first, [&](uint32_t i) {
			uint2 use = __ldg(l.uses + p.first + i);
			size_t at = size_t(use.x) * c.d + column;
			return Gradient{c.features[at], use.y - ((const uint16_t *)c.where)[at] - o0};
		}, [&](const Gradient &x) {
#pragma unroll
			for (int o = 0; o < offsets; o++) sum[o] += x.offset == o ? x.g : 0;
		});
#pragma unroll
		for (int o = 0; o < offsets; o++) {
			if (o0 + o >= w) break;
			uint32_t t = c.begin[b] + (o0 + o) * c.offset[b] + column - c.column[b];
			if (p.slot == whole) putSum(l, p.symbol, t, sum[o]);
			else l.parts[size_t(p.slot) * c.pitch + t] = sum[o];
		}
	}
}

// lists_collect sums the parts of a symbol. A thread has a column of tables.
extern "C" __global__ void __launch_bounds__(128) lists_collect(const __grid_constant__ Lists l) {
	uint32_t groups = (l.columns + 127) / 128, t = blockIdx.x % groups * 128 + threadIdx.x;
	if (t >= l.columns) return;
	const Split s = l.splits[blockIdx.x / groups];
	float sum = 0;
	inBatches<16>(s.last - s.first, [&](uint32_t i) { return l.parts[size_t(s.first + i) * l.cnn.pitch + t]; }, [&](float x) { sum += x; });
	putSum(l, s.symbol, t, sum);
}

// lists_finish brings the gradient of filters into their order, and gives that of symbols its units. A thread has a value of
// tables' factor, or of the biases; then, in other thread blocks, of a symbol.
extern "C" __global__ void __launch_bounds__(128) lists_finish(const __grid_constant__ Lists l) {
	const Cnn &c = l.cnn;
	uint32_t i = blockIdx.x * 128 + threadIdx.x, e = i / l.columns, t = i % l.columns, bias, before = ((c.e + 1) * l.columns + 127) / 128;
	bool first;
	if (blockIdx.x >= before) {
		i -= 128 * before;
		if (i / l.strideE < c.a) c.dembeddings[i] *= l.units[i / l.strideE];
		return;
	}
	if (e > c.e) return;
	uint32_t to = filterOf(c, t, e, first, bias);
	if (e == c.e && !first) return;
	float sum = 0;
	inBatches<4>(l.chunks, [&](uint32_t k) { return l.ofFilters[(size_t(k) * (c.e + 1) + e) * c.pitch + t]; }, [&](float x) { sum += x; });
	c.dfilters[e == c.e ? bias : to] = sum;
}
