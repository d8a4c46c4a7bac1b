// Step 1 of W2V-CL with an encoder, from the composed rows to their gradient, and the encoder
// of n-grams. cl.cu has the same for rows of a table, which it updates.
//
//	rows: (V, N), composed  right: (V, N), frozen  column: (V)
//	gradient: (V, N) of the rows, split for products or as it is
//	words: (V, N), words' own vectors, which are part of rows, or null: updated at once
//
// One warp has a row.
#include "subword.cuh"

constexpr int warpsOfBlock = 4; // of many registers each: more thread blocks fit on a multiprocessor

struct Gradient {
	ClTable table;    // left: rows; the moments belong to words
	Split split;      // high null: plain
	float4 *plain;    // (V, quads)
	float4 *words;    // (V, quads), or null
	const ClStep *step;
	const uint32_t *column;
	float *losses; // (thread blocks)
};

template <int F> __device__ __forceinline__ void storeSplit(const Split &to, size_t row, int quads, const Row<F> &g) {
#pragma unroll
	for (int f = 0; f < F; f++) {
		int i = laneNumber() + 32 * f;
		if (i >= quads) continue;
		uint2 high, low;
		split(g.v[f], high, low);
		*(uint2 *)(to.high + row * to.stride + 4 * i) = high;
		*(uint2 *)(to.low + row * to.stride + 4 * i) = low;
	}
}

// updateOwn updates row i of words by the gradient.
template <int F, Method method>
__device__ __forceinline__ void updateOwn(const ClTable &t, const ClStep &s, float4 *words, size_t i, const Row<F> &g) {
	size_t at = i * t.quads;
	Row<F> w = load<F>(words + at, t.quads), m, v;
	if constexpr (hasFirst(method)) m = load<F>(t.first + at, t.quads);
	if constexpr (hasSecond(method)) v = load<F>(t.second + at, t.quads);
	optimize<F, method>(t, s, i, w, m, v, g);
	if constexpr (hasFirst(method)) store(t.first + at, t.quads, m);
	if constexpr (hasSecond(method)) store(t.second + at, t.quads, v);
	store(words + at, t.quads, w);
}

template <int F, int G, Method method> __device__ __forceinline__ void gradient(const Gradient &a) {
	const ClTable &t = a.table;
	size_t i = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	float loss = 0;
	if (i < t.rows) {
		ClStep s = *a.step;
		uint32_t positive = a.column[i];
		Row<F> w = load<F>(t.left + i * t.quads, t.quads), g = zeros<F>();
		if (positive != noContext) loss = sum(addGradient<F, G>(t, s.stream, positive, i, w, g));
		if (a.split.high) storeSplit(a.split, i, t.quads, g);
		else store(a.plain + i * t.quads, t.quads, g);
		if (a.words) updateOwn<F, method>(t, s, a.words, i, g);
	}
	storeLoss<warpsOfBlock>(loss, a.losses);
}

// NGrams are the encoder of n-grams: the vector of a word is the sum of the vectors of its
// n-grams.
struct NGrams {
	ClTable table;                    // left: (U, N), with its optimizer's state
	const uint32_t *starts, *members; // n-grams of word v: members[starts[v]] to members[starts[v+1] - 1]
	const uint32_t *userStarts, *users; // words of n-gram u, as often as they have it
	const uint32_t *order;            // n-grams as they are trained, the frequent ones first
	float4 *rows;                     // (V, quads)
	const float4 *own;                // (V, quads) words' own vectors, or null
	const float4 *gradient;           // (V, quads)
	const ClStep *step;
	uint32_t words, frequent;
};

// sumRows adds up rows of a table in the order of the list.
template <int F> __device__ __forceinline__ Row<F> sumRows(const float4 *table, int quads, const uint32_t *list, uint32_t first, uint32_t end) {
	constexpr int ahead = F <= 2 ? 8 : F <= 4 ? 4 : 2; // rows on their way together
	Row<F> x = zeros<F>();
	for (; first + ahead <= end; first += ahead) {
		Row<F> r[ahead];
#pragma unroll
		for (int n = 0; n < ahead; n++) r[n] = load<F>(table + size_t(__ldg(list + first + n)) * quads, quads);
#pragma unroll
		for (int n = 0; n < ahead; n++) add(x, 1, r[n]);
	}
	for (; first < end; first++) add(x, 1, load<F>(table + size_t(__ldg(list + first)) * quads, quads));
	return x;
}

template <int F> __device__ __forceinline__ void compose(const NGrams &a) {
	size_t v = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	if (v >= a.words) return;
	int quads = a.table.quads;
	Row<F> x = sumRows<F>(a.table.left, quads, a.members, a.starts[v], a.starts[v + 1]);
	if (a.own) add(x, 1, load<F>(a.own + v * quads, quads));
	store(a.rows + v * quads, quads, x);
}

// The gradient of an n-gram is the sum of the gradients of its words. An n-gram of thousands of
// words would keep one warp busy when all others are done: so the frequent ones come first,
// and each warp of a thread block sums a part of the words.
template <int F, Method method> __device__ __forceinline__ void train(const NGrams &a) {
	__shared__ float4 parts[warpsOfBlock][32 * F];
	const ClTable &t = a.table;
	uint32_t w = threadIdx.x / 32;
	bool together = blockIdx.x < a.frequent;
	size_t i = together ? blockIdx.x : a.frequent + size_t(blockIdx.x - a.frequent) * warpsOfBlock + w;
	if (i >= t.rows) return;
	ClStep s = *a.step;
	uint32_t u = a.order[i], first = a.userStarts[u], n = a.userStarts[u + 1] - first;
	uint32_t from = together ? n * w / warpsOfBlock : 0, to = together ? n * (w + 1) / warpsOfBlock : n;
	Row<F> g = sumRows<F>(a.gradient, t.quads, a.users, first + from, first + to);
	if (together) {
		store(parts[w], 32 * F, g);
		__syncthreads();
		if (w > 0) return;
		for (int other = 1; other < warpsOfBlock; other++) add(g, 1, load<F>(parts[other], 32 * F));
	}
	updateOwn<F, method>(t, s, t.left, u, g);
}

#define KERNELS_OF(F, G, method) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) subword_gradient_##method##_##F(const __grid_constant__ Gradient a) { \
		gradient<F, G, method>(a); \
	} \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_train_##method##_##F(const __grid_constant__ NGrams a) { \
		train<F, method>(a); \
	}
#define KERNELS(F, G) \
	KERNELS_OF(F, G, adam) KERNELS_OF(F, G, adamRow) KERNELS_OF(F, G, scaled) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_compose_##F(const __grid_constant__ NGrams a) { compose<F>(a); }

// For N up to 128 F. Five negatives need six rows.
KERNELS(1, 6)
KERNELS(2, 6)
KERNELS(3, 6)
KERNELS(4, 6)
KERNELS(8, 2)
