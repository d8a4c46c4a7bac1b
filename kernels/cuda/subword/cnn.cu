// The character CNN of package subword, for the whole vocabulary. product.cu has its products
// of large matrices, composed.cu the loss. In the order of a step:
//
//	tables     (W, A, C) = embeddings (A, E) times filters, at each offset in them
//	features   (V, D): activation of the max over positions of the sum of rows of tables, and
//	           where
//	y          = (features - mean) scale, over the words, or the features as they are
//	           vectors = y weights + bias, loss, gradient of vectors: elsewhere
//	weights    their gradient from its parts, means for the standardization, update
//	dtables    the gradient of the features goes to where the maximum was
//	embeddings, filters: gradients from dtables, update
//
// A filter is a column of the tables, those of each width together, and has one feature: D is C. The order of all sums
// follows from the shapes alone, so two runs give the same bits.
//
// With G spellings of a word, the features of all are summed: a word's are (V, D), those of its spellings (V G, D).
//
// quads.cu has faster kernels of y and of dtables. lists.cu has tables that do not fit into shared
// memory, and all that is around them.
#include "cnn.cuh"

// cnn_tables computes the tables, and splits the weights for products: a thread has four values, in the last thread blocks.
extern "C" __global__ void __launch_bounds__(128) cnn_tables(const __grid_constant__ Cnn c) {
	uint32_t i = blockIdx.x * 128 + threadIdx.x, tables = c.lists ? 0 : (c.widest * c.a * c.columns + 127) / 128;
	if (blockIdx.x >= tables) {
		uint32_t quads = uint32_t(c.weights.stride) / 4, d = (i -= 128 * tables) / quads, n = i % quads * 4;
		if (d <= c.d) put(c.weights, d, n, *(const float4 *)(c.layer.value + size_t(d) * c.layer.stride + n), 1); // behind a row are zeros
		return;
	}
	uint32_t column = i % c.columns, s = i / c.columns % c.a, o = i / c.columns / c.a;
	uint32_t b = widthOf(c, c.column, column), f = c.count[b];
	if (o >= c.width[b]) return;
	const float *filter = c.filters + c.first[b] + column - c.column[b];
	float x = o > 0 ? 0 : filter[size_t(c.width[b]) * c.e * f];
	inBatches<16>(c.e, [&](uint32_t e) { return make_float2(c.embeddings[s * c.e + e], filter[size_t(o * c.e + e) * f]); },
		[&](float2 y) { x = fmaf(y.x, y.y, x); });
	c.tables[i] = x;
}

// A Maximum is the largest value of a feature in a word; at is its first place.
struct Maximum {
	float value;
	uint32_t at;
};

// convolve slides a filter of width w, or of width W if that is not 0, over a word.
// table is the feature's column of the first offset, which is so far from the next.
template <int W> __device__ __forceinline__ Maximum convolve(const Cnn &c, const float *table, size_t offset, const uint32_t *word, uint32_t count, uint32_t w) {
	Maximum best = {c.activation == relu ? 0 : -INFINITY, nowhere};
	size_t row[W ? W : 1]; // of the symbols under the filter
#pragma unroll
	for (int o = 0; o < W - 1; o++) row[o + 1] = size_t(__ldg(word + o)) * c.pitch;
#pragma unroll 2
	for (uint32_t t = 0; t + w <= count; t++) {
		float x;
		if constexpr (W > 0) {
#pragma unroll
			for (int o = 0; o < W - 1; o++) row[o] = row[o + 1];
			row[W - 1] = size_t(__ldg(word + t + W - 1)) * c.pitch;
			x = table[row[0]];
#pragma unroll
			for (int o = 1; o < W; o++) x += table[o * offset + row[o]];
		} else {
			x = table[size_t(__ldg(word + t)) * c.pitch];
			for (uint32_t o = 1; o < w; o++) x += table[o * offset + size_t(__ldg(word + t + o)) * c.pitch];
		}
		if (x > best.value) best = {x, t};
	}
	return best;
}

__device__ __forceinline__ Maximum convolve(const Cnn &c, const float *table, size_t offset, const uint32_t *word, uint32_t count, uint32_t w) {
	switch (w) {
	case 1: return convolve<1>(c, table, offset, word, count, 1);
	case 2: return convolve<2>(c, table, offset, word, count, 2);
	case 3: return convolve<3>(c, table, offset, word, count, 3);
	case 4: return convolve<4>(c, table, offset, word, count, 4);
	case 5: return convolve<5>(c, table, offset, word, count, 5);
	case 6: return convolve<6>(c, table, offset, word, count, 6);
	case 7: return convolve<7>(c, table, offset, word, count, 7);
	default: return convolve<0>(c, table, offset, word, count, w);
	}
}

// A thread has a feature of some words.
extern "C" __global__ void __launch_bounds__(1024) cnn_convolve(const __grid_constant__ Cnn c) {
	for (uint32_t d = threadIdx.x; d < c.d; d += blockDim.x) {
		double sum = 0, squares = 0;
		uint32_t b = widthOf(c, c.column, d), w = c.width[b];
		const float *table = c.tables + c.begin[b] + d - c.column[b];
		for (uint32_t v = blockIdx.x; v < c.v; v += gridDim.x) {
			float value = 0;
			for (uint32_t spelling = v * c.spellings; spelling < (v + 1) * c.spellings; spelling++) {
				uint32_t first = __ldg(c.starts + spelling), count = __ldg(c.starts + spelling + 1) - first;
				Maximum x = convolve(c, table, c.offset[b], c.symbols + first, count, w);
				float of = activate(c, x.value);
				c.features[size_t(spelling) * c.d + d] = of;
				((uint16_t *)c.where)[size_t(spelling) * c.d + d] = uint16_t(x.at);
				value += of;
			}
			c.summed[size_t(v) * c.d + d] = value;
			sum += exact(value);
			squares += exact(double(value) * value);
		}
		double *to = c.sums + 2 * size_t(lineOf(c, blockIdx.x)) * c.d + d;
		to[0] = sum;
		to[c.d] = squares;
	}
}

extern "C" __global__ void __launch_bounds__(128) cnn_means(const __grid_constant__ Cnn c) { moments(c); }

// A thread has four values of y.
extern "C" __global__ void __launch_bounds__(256) cnn_standardize(const __grid_constant__ Cnn c) {
	uint32_t quads = uint32_t(c.y.stride) / 4, i = blockIdx.x * 256 + threadIdx.x, v = i / quads, d = i % quads * 4;
	if (v >= c.v) return;
	if (c.d % 4 == 0 && d < c.d) {
		float4 x = *(const float4 *)(c.summed + size_t(v) * c.d + d), mean = *(const float4 *)(c.mean + d), scale = *(const float4 *)(c.scale + d);
		put(c.y, v, d, make_float4((x.x - mean.x) * scale.x, (x.y - mean.y) * scale.y, (x.z - mean.z) * scale.z, (x.w - mean.w) * scale.w), 1);
		return;
	}
	float y[4];
#pragma unroll
	for (int j = 0; j < 4; j++)
		y[j] = d + j < c.d ? (c.summed[size_t(v) * c.d + d + j] - c.mean[d + j]) * c.scale[d + j] : d + j == c.d ? 1 : 0;
	put(c.y, v, d, make_float4(y[0], y[1], y[2], y[3]), 1);
}

// A Pair is four values of a row of the weights' gradient, and of the bias'.
struct Pair {
	float4 row, bias;
};

// A thread block has a row of the weights: it sums the parts of its gradient and updates it.
// From the row follows, too, how the standardization changes the gradient of feature d. Let g
// be the gradient of the vectors. Then the gradient of y is g weights^T; its mean over the
// words is (sum of g) . weights_d / V. The gradient of the weights is y^T g; so the mean over
// the words of y times its gradient is (y^T g)_d . weights_d / V. No pass over the words is
// needed.
template <class method> __device__ __forceinline__ void updateWeights(const Cnn &c) {
	__shared__ float part[8];
	startNext(); // first, because the product that follows needs nothing of this kernel, nor of the one before
	awaitPrevious();
	const Parameter &p = c.layer;
	const uint32_t d = blockIdx.x, stride = p.stride, rows = c.d + 1, n = 4 * threadIdx.x; // a thread has four values
	const bool has = n < c.n;
	const size_t at = size_t(d) * stride + (has ? n : 0);
	float4 w = *(const float4 *)(p.value + at), first = {}, second = {}, g = {}, ofBias = {};
	if constexpr (method::first) first = *(const float4 *)(p.first + at);
	if constexpr (method::second) second = *(const float4 *)(p.second + at);
	if (has)
		inBatches<16>(c.chunks, [&](uint32_t k) {
			const float *from = c.parts + size_t(k) * rows * stride + n;
			return Pair{*(const float4 *)(from + size_t(d) * stride), *(const float4 *)(from + size_t(c.d) * stride)};
		}, [&](const Pair &x) {
			g.x += x.row.x, g.y += x.row.y, g.z += x.row.z, g.w += x.row.w;
			ofBias.x += x.bias.x, ofBias.y += x.bias.y, ofBias.z += x.bias.z, ofBias.w += x.bias.w;
		});
	float of[4] = {g.x, g.y, g.z, g.w}, bias[4] = {ofBias.x, ofBias.y, ofBias.z, ofBias.w}, ofGradient = 0, ofProduct = 0, squares = 0;
#pragma unroll
	for (int j = 0; j < 4; j++) {
		if (n + j >= c.n) of[j] = bias[j] = 0; // behind the row
		float x = get(c.weights, d, has ? n + j : 0);
		ofGradient = fmaf(bias[j], x, ofGradient);
		ofProduct = fmaf(of[j], x, ofProduct);
		squares = fmaf(of[j], of[j], squares);
	}
	ofGradient = sumOfBlock(ofGradient, part);
	ofProduct = sumOfBlock(ofProduct, part);
	if (threadIdx.x == 0 && d < c.d) {
		c.meanGradient[d] = c.raw || c.fixed ? 0 : ofGradient / c.all;
		c.meanProduct[d] = c.raw || c.fixed ? 0 : ofProduct / c.all;
	}
	if (c.sparse && sumOfBlock(squares, part) == 0) return;
	StepNumbers s = *c.step;
	Updater<method> u(c.decays, s, p, d, squares, part);
	if (!has) return;
	*(float4 *)((float *)p.gradient + at) = make_float4(of[0], of[1], of[2], of[3]);
	u.advance(w.x, first.x, second.x, of[0]), u.advance(w.y, first.y, second.y, of[1]);
	u.advance(w.z, first.z, second.z, of[2]), u.advance(w.w, first.w, second.w, of[3]);
	if constexpr (method::first) *(float4 *)(p.first + at) = first;
	if constexpr (method::second) *(float4 *)(p.second + at) = second;
	*(float4 *)(p.value + at) = w;
}

#define WEIGHTS(method, ...) \
	extern "C" __global__ void __launch_bounds__(256) cnn_weights_##method(const __grid_constant__ Cnn c) { updateWeights<method>(c); }
ADAPTIVE(WEIGHTS)

// scatterFeature adds up the gradient of feature d, of width w, over some words. W is w up to 5, or 1: offsets one by one.
template <int W>
__device__ __forceinline__ void scatterFeature(const Cnn &c, float *to, uint32_t d, uint32_t w, const Words &words) {
	constexpr int ahead = 8; // words whose values are on their way together
	float mean = c.mean[d], scale = c.scale[d], meanGradient = c.meanGradient[d], meanProduct = c.meanProduct[d];
	for (uint32_t n = 0; n < words.count; n += ahead) {
		float g[ahead];
		const uint32_t *word[ahead]; // from the first symbol under the filter on
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			uint32_t v = words.first + min(n + j, words.count - 1) * words.step, t = ((const uint16_t *)c.where)[size_t(v) * c.d + d];
			float x = c.features[size_t(v) * c.d + d], y = (x - mean) * scale;
			g[j] = scale * (c.dy[size_t(v) * c.strideD + d] - meanGradient - y * meanProduct) * derivative(c, x);
			bool none = t == nowhere || n + j >= words.count; // adds nothing, anywhere
			word[j] = c.symbols + __ldg(c.starts + v) + (none ? 0 : t);
			if (none) g[j] = 0;
		}
		for (uint32_t o0 = 0; o0 < w; o0 += W) {
			uint32_t rows[ahead][W];
#pragma unroll
			for (int j = 0; j < ahead; j++)
#pragma unroll
				for (int o = 0; o < W; o++) rows[j][o] = (o0 + o) * c.a + __ldg(word[j] + o0 + o);
#pragma unroll
			for (int j = 0; j < ahead; j++) {
				float x[W]; // the rows are of different offsets: none comes twice
#pragma unroll
				for (int o = 0; o < W; o++) x[o] = to[32 * rows[j][o]];
#pragma unroll
				for (int o = 0; o < W; o++) to[32 * rows[j][o]] = x[o] + g[j];
			}
		}
	}
}

// scatter adds the gradient of the features to the tables. A warp has 32 columns
// of a piece of the words, and its own tables in shared memory.
extern "C" __global__ void __launch_bounds__(32) cnn_scatter(const __grid_constant__ Cnn c) {
	extern __shared__ float own[]; // (W, A, 32)
	int l = laneNumber();
	uint32_t groups = (c.columns + 31) / 32, group = blockIdx.x % groups, piece = blockIdx.x / groups, column = 32 * group + l;
	uint32_t rows = c.widest * c.a;
	float *to = own + l;
	for (uint32_t r = 0; r < rows; r++) to[32 * r] = 0;
	if (column >= c.columns) return;
	uint32_t b = widthOf(c, c.column, column), w = c.width[b];
	const Words words = wordsOf(c, piece, 0, 1);
	switch (w) {
	case 2: scatterFeature<2>(c, to, column, w, words); break;
	case 3: scatterFeature<3>(c, to, column, w, words); break;
	case 4: scatterFeature<4>(c, to, column, w, words); break;
	case 5: scatterFeature<5>(c, to, column, w, words); break;
	default: scatterFeature<1>(c, to, column, w, words);
	}
	float *sum = c.dparts + lineOf(c, piece) * sizeOf(c) + column;
	for (uint32_t r = 0; r < rows; r++) sum[size_t(r) * c.columns] = to[32 * r];
}

// cnn_collect sums the pieces of dtables. A thread block has 32 values; for each, 8 threads
// sum a share of the pieces.
extern "C" __global__ void __launch_bounds__(256) cnn_collect(const __grid_constant__ Cnn c) {
	__shared__ float part[8][32];
	uint32_t size = c.widest * c.a * c.columns, line = sizeOf(c), i = blockIdx.x * 32 + threadIdx.x % 32, share = threadIdx.x / 32;
	float sum = 0;
	if (i < size) {
#pragma unroll 4
		for (uint32_t piece = share; piece < c.pieces; piece += 8) sum += c.dparts[size_t(piece) * line + i];
	}
	part[share][threadIdx.x % 32] = sum;
	__syncthreads();
	if (share > 0 || i >= size) return;
	for (int s = 1; s < 8; s++) sum += part[s][threadIdx.x];
	c.dtables[i] = sum;
}

// cnn_gradients turns dtables into the gradients of embeddings, a warp four values of a symbol in the first
// thread blocks, and of filters, a thread a value in the others.
extern "C" __global__ void __launch_bounds__(256) cnn_gradients(const __grid_constant__ Cnn c) {
	uint32_t quads = (c.e + 3) / 4, before = (c.a * quads + 7) / 8, offset = c.a * c.columns;
	if (blockIdx.x < before) {
		uint32_t i = blockIdx.x * 8 + threadIdx.x / 32, s = i / quads, e = 4 * (i % quads), l = laneNumber();
		if (s >= c.a) return;
		float x[4] = {};
		for (uint32_t b = 0; b < c.widths; b++) {
			uint32_t f = c.count[b], all = c.width[b] * f;
			const float *filter = c.filters + c.first[b], *table = c.dtables + size_t(s) * c.columns + c.column[b];
			const float each = 1.0f / f; // n / f by a product: n is small, so rounding never reaches the next quotient
			struct Values { float table, filters[4]; };
			inBatches<4>(all > l ? (all - l + 31) / 32 : 0, [&](uint32_t i) {
				uint32_t n = l + 32 * i, o = uint32_t((n + .5f) * each), column = n - o * f;
				Values y = {table[o * offset + column]};
#pragma unroll
				for (int j = 0; j < 4; j++) y.filters[j] = filter[(o * c.e + min(e + j, c.e - 1)) * f + column];
				return y;
			}, [&](const Values &y) {
#pragma unroll
				for (int j = 0; j < 4; j++) x[j] = fmaf(y.table, y.filters[j], x[j]);
			});
		}
#pragma unroll
		for (int j = 0; j < 4; j++) {
			float all = sum(x[j]);
			if (l == 0 && e + j < c.e) c.dembeddings[s * c.e + e + j] = all;
		}
		return;
	}
	uint32_t i = (blockIdx.x - before) * 256 + threadIdx.x, b = widthOf(c, c.first, i), f = c.count[b];
	uint32_t row = (i - c.first[b]) / f, column = c.column[b] + (i - c.first[b]) % f, o = row / c.e, e = row % c.e;
	if (row > c.width[b] * c.e) return;
	float x = 0;
	if (row == c.width[b] * c.e) { // the bias, which is in the tables of the first offset
		inBatches<16>(c.a, [&](uint32_t s) { return c.dtables[size_t(s) * c.columns + column]; }, [&](float y) { x += y; });
	} else {
		inBatches<16>(c.a, [&](uint32_t s) { return make_float2(c.embeddings[s * c.e + e], c.dtables[o * offset + size_t(s) * c.columns + column]); },
			[&](float2 y) { x = fmaf(y.x, y.y, x); });
	}
	c.dfilters[i] = x;
}

struct Updates {
	const StepNumbers *step;
	Decays decays;
	uint32_t count, sparse;
	Parameter parameters[1 + maxWidths];
};

// cnn_update updates small parameters. A thread block has a row of one of them.
template <class method> __device__ __forceinline__ void updateRows(const Updates &u) {
	__shared__ float part[2];
	uint32_t row = blockIdx.x, p = 0;
	while (row >= u.parameters[p].rows) row -= u.parameters[p++].rows;
	const Parameter &x = u.parameters[p];
	const float *g = x.gradient + size_t(row) * x.stride;
	float squares = 0;
	if (method::ofRow || u.sparse)
		for (uint32_t n = threadIdx.x; n < x.columns; n += blockDim.x) squares = fmaf(g[n], g[n], squares);
	if (u.sparse && sumOfBlock(squares, part) == 0) return;
	StepNumbers s = *u.step;
	Updater<method> updater(u.decays, s, x, row, squares, part);
	for (uint32_t n = threadIdx.x; n < x.columns; n += blockDim.x) updater.update(x, size_t(row) * x.stride + n, g[n]);
}

#define UPDATE(method, ...) \
	extern "C" __global__ void __launch_bounds__(64) cnn_update_##method(const __grid_constant__ Updates u) { updateRows<method>(u); }
ADAPTIVE(UPDATE)
