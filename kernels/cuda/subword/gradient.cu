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
	Split split;      // of the gradient; high null: plain
	float4 *plain;    // (V, quads)
	float4 *words;    // (V, quads), or null
	const ClStep *step;
	const uint32_t *column;
	float *losses; // (thread blocks)
};

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
		if (!a.split.high) store(a.plain + i * t.quads, t.quads, g);
		else
#pragma unroll
			for (int f = 0; f < F; f++)
				if (int q = laneNumber() + 32 * f; q < t.quads) put(a.split, i, 4 * q, g.v[f], gradientUnits);
		if (a.words) updateOwn<F, method>(t, s, a.words, i, g);
	}
	storeLoss<warpsOfBlock>(loss, a.losses);
}

// Met says where the words are whose rows an iteration reads; slots 0: it may read all. See cl.Met.
struct Met {
	const uint32_t *jobs, *tiles, *samples, *shared; // jobs of eight numbers, the first a row
	uint32_t most, slots, negatives, unused;
};

// NGrams are the encoder of n-grams: the vector of a word is the sum of the vectors of its
// n-grams. N-grams that the same words have share a row of the table (classes.go); a word has it
// once here, and the sums hold it as often as there are such n-grams. Of tempered samples sums and
// gradient are float16 (Cell is uint2), otherwise float32 (float4).
struct NGrams {
	ClTable table;                      // left: (U, N), with its optimizer's state
	const uint32_t *starts, *members;   // rows of word v: members[starts[v]] to members[starts[v+1] - 1]
	const uint32_t *userStarts, *users; // words of row u, as often as they have it
	const uint32_t *order;              // rows as they are trained, the frequent ones first
	const float *sizes;                 // (U), n-grams of a row
	void *sums;                         // (U, quads) of Cell, rows times their sizes, which compose reads
	float4 *rows;                       // (V, quads)
	const float4 *own;                  // (V, quads) words' own vectors, or null
	const void *gradient;               // (V, quads) of Cell
	const uint32_t *trained;            // (V), the last step that trained a word; null: all train them
	uint32_t *met;                      // (V), the last step whose iteration reads a word's row
	const ClStep *step;
	Met now;
	uint32_t words, frequent;
};

// ngram_meet finds the words whose rows an iteration reads. A thread has one of the places that name some.
extern "C" __global__ void __launch_bounds__(256) ngram_meet(const __grid_constant__ NGrams a) {
	const Met &m = a.now;
	uint32_t i = blockIdx.x * 256 + threadIdx.x, word;
	if (i < m.slots) word = m.samples[i];
	else if (i -= m.slots; i < m.negatives) word = m.shared[i];
	else if (i -= m.negatives; i < 8 * *m.tiles) word = m.jobs[8 * i];
	else return;
	if (word < a.words) a.met[word] = a.step->stream; // samples may be of no word
}

__device__ __forceinline__ float4 widen(float4 x) { return x; }

// addRows adds the wanted rows of a table to x, those of whose numbers each lane has one, in the
// order of the lanes.
template <int F, class Cell> __device__ __forceinline__ void addRows(Row<F> &x, const Cell *table, int quads, uint32_t numbers, uint32_t wanted) {
	constexpr int ahead = sizeof(Cell) == 8 ? F <= 4 ? 8 : 4 : F <= 2 ? 8 : F <= 4 ? 4 : 2; // rows on their way together
	while (wanted) {
		Cell r[ahead][F];
#pragma unroll
		for (int n = 0; n < ahead; n++) {
			bool has = wanted != 0;
			const Cell *row = table + size_t(__shfl_sync(warp, numbers, has ? __ffs(wanted) - 1 : 0)) * quads;
			wanted &= wanted - 1;
#pragma unroll
			for (int f = 0; f < F; f++) {
				int i = laneNumber() + 32 * f;
				r[n][f] = has && i < quads ? __ldg(row + i) : Cell{};
			}
		}
#pragma unroll
		for (int n = 0; n < ahead; n++)
#pragma unroll
			for (int f = 0; f < F; f++) {
				float4 y = widen(r[n][f]);
				x.v[f].x += y.x, x.v[f].y += y.y, x.v[f].z += y.z, x.v[f].w += y.w;
			}
	}
}

template <int F, class Cell> __device__ __forceinline__ void compose(const NGrams &a) {
	size_t v = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	if (v >= a.words || (a.now.slots && a.met[v] != a.step->stream)) return;
	int quads = a.table.quads;
	Row<F> x = a.own ? load<F>(a.own + v * quads, quads) : zeros<F>();
	for (uint32_t first = a.starts[v], end = a.starts[v + 1]; first < end; first += 32) {
		bool mine = first + laneNumber() < end;
		addRows(x, (const Cell *)a.sums, quads, mine ? __ldg(a.members + first + laneNumber()) : 0, __ballot_sync(warp, mine));
	}
	store(a.rows + v * quads, quads, x);
}

// toSums writes row u of the sums.
template <int F, class Cell> __device__ __forceinline__ void toSums(const NGrams &a, size_t u, Row<F> w) {
	Cell *to = (Cell *)a.sums + u * a.table.quads;
	scale(w, a.sizes[u]);
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < a.table.quads) {
			if constexpr (sizeof(Cell) == 8) to[i] = narrow(w.v[f], 1);
			else to[i] = w.v[f];
		}
}

// A row of thousands of words would keep one warp busy when all others are done: so the frequent
// ones come first, and each warp of a thread block sums a part of the words.
constexpr int sumWarps = 8;

// train updates a row by the sum of the gradients of its words, those that were trained. One of which
// that is zero is left alone unless all words are trained in all steps.
template <int F, class Cell, Method method> __device__ __forceinline__ void train(const NGrams &a) {
	constexpr int warps = sumWarps;
	__shared__ float4 parts[warps / 2][32 * F];
	const ClTable &t = a.table;
	uint32_t w = threadIdx.x / 32;
	bool together = blockIdx.x < a.frequent;
	size_t i = together ? blockIdx.x : a.frequent + size_t(blockIdx.x - a.frequent) * warps + w;
	if (i >= t.rows) return;
	ClStep s = *a.step;
	uint32_t u = a.order[i], first = a.userStarts[u], n = a.userStarts[u + 1] - first;
	uint32_t from = first + (together ? n * w / warps : 0), end = first + (together ? n * (w + 1) / warps : n);
	Row<F> g = zeros<F>();
	for (; from < end; from += 32) {
		bool mine = from + laneNumber() < end;
		uint32_t word = mine ? __ldg(a.users + from + laneNumber()) : 0;
		if (mine && a.trained) mine = a.trained[word] == s.stream;
		addRows(g, (const Cell *)a.gradient, t.quads, word, __ballot_sync(warp, mine));
	}
	if (together) {
#pragma unroll 1
		for (uint32_t half = warps / 2; half; half /= 2) {
			if (w >= half && w < 2 * half) store(parts[w - half], 32 * F, g);
			__syncthreads();
			if (w < half) add(g, 1, load<F>(parts[w], 32 * F));
			__syncthreads();
		}
		if (w > 0) return;
	}
	if (a.trained) {
		bool some = false;
#pragma unroll
		for (int f = 0; f < F; f++) some |= g.v[f].x != 0 || g.v[f].y != 0 || g.v[f].z != 0 || g.v[f].w != 0;
		if (!__any_sync(warp, some)) return;
	}
	scale(g, a.sizes[u] / (sizeof(Cell) == 8 ? gradientUnits : 1));
	size_t at = u * size_t(t.quads);
	Row<F> x = load<F>(t.left + at, t.quads), m, v;
	if constexpr (hasFirst(method)) m = load<F>(t.first + at, t.quads);
	if constexpr (hasSecond(method)) v = load<F>(t.second + at, t.quads);
	optimize<F, method>(t, s, u, x, m, v, g);
	if constexpr (hasFirst(method)) store(t.first + at, t.quads, m);
	if constexpr (hasSecond(method)) store(t.second + at, t.quads, v);
	store(t.left + at, t.quads, x);
	toSums<F, Cell>(a, u, x);
}

#define TRAIN(name, F, Cell, method) \
	extern "C" __global__ void __launch_bounds__(32 * sumWarps, F <= 4 ? 3 : 2) ngram_##name##train_##method##_##F(const __grid_constant__ NGrams a) { \
		train<F, Cell, method>(a); \
	}
#define KERNELS_OF(F, G, method) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) subword_gradient_##method##_##F(const __grid_constant__ Gradient a) { \
		gradient<F, G, method>(a); \
	} \
	TRAIN(, F, float4, method) TRAIN(narrow_, F, uint2, method)
#define COMPOSE(name, F, Cell) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_##name##compose_##F(const __grid_constant__ NGrams a) { compose<F, Cell>(a); } \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_##name##sums_##F(const __grid_constant__ NGrams a) { \
		size_t u = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32; \
		if (u < a.table.rows) toSums<F, Cell>(a, u, load<F>(a.table.left + u * a.table.quads, a.table.quads)); \
	}
#define KERNELS(F, G) \
	KERNELS_OF(F, G, adam) KERNELS_OF(F, G, adamRow) KERNELS_OF(F, G, scaled) COMPOSE(, F, float4) COMPOSE(narrow_, F, uint2)

// For N up to 128 F. Five negatives need six rows.
KERNELS(1, 6)
KERNELS(2, 6)
KERNELS(3, 6)
KERNELS(4, 6)
KERNELS(8, 2)
