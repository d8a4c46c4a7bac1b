// Rows of W that are means of the rows of parts and of words' own: see kernels/composed. composed.cu has the gradient of the rows.
#include "subword.cuh"

constexpr int warpsOfBlock = 4; // of many registers each: more thread blocks fit on a multiprocessor

// Met says where the words are whose rows an iteration reads; slots 0: it may read all. See cl.Met.
struct Met {
	const uint32_t *jobs, *tiles, *samples, *shared; // jobs of eight numbers, the first a row
	uint32_t most, slots, negatives, unused;
};

// NGrams are what the kernels take. N-grams that the same words have share a row of the table; a word has it
// once here, and the sums hold it as often as there are such n-grams. Sums and gradient are float16: a uint2 has four.
struct NGrams {
	Table table;                        // (U, N), with its optimizer's state
	const uint32_t *starts, *members;   // rows of word v: members[starts[v]] to members[starts[v+1] - 1]
	const uint32_t *userStarts, *users; // words of row u, as often as they have it
	const uint32_t *order;              // rows as they are trained, the frequent ones first
	const float *sizes;                 // (U), n-grams of a row
	uint2 *sums;                        // (U, quads), rows times their sizes, which compose reads
	const float *weights;               // (V), 1 over the rows that are the mean of a word
	float4 *rows;                       // (V, quads)
	const float4 *own;                  // (V, quads) words' own vectors, or null
	const uint2 *gradient;              // (V, quads)
	const uint32_t *trained;            // (V), the last step that trained a word
	uint32_t *met;                      // (V), the last step whose iteration reads a word's row
	const StepNumbers *step;
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

// addRows adds the wanted rows of a table to x, those of whose numbers each lane has one, in the
// order of the lanes, and each as often as its lane says.
template <int F> __device__ __forceinline__ void addRows(Row<F> &x, const uint2 *table, int quads, uint32_t numbers, uint32_t wanted, float times = 1) {
	constexpr int ahead = F <= 4 ? 8 : 4; // rows on their way together
	while (wanted) {
		uint2 r[ahead][F];
		float c[ahead];
#pragma unroll
		for (int n = 0; n < ahead; n++) {
			bool has = wanted != 0;
			c[n] = __shfl_sync(warp, times, has ? __ffs(wanted) - 1 : 0);
			const uint2 *row = table + size_t(__shfl_sync(warp, numbers, has ? __ffs(wanted) - 1 : 0)) * quads;
			wanted &= wanted - 1;
#pragma unroll
			for (int f = 0; f < F; f++) {
				int i = laneNumber() + 32 * f;
				r[n][f] = has && i < quads ? __ldg(row + i) : uint2{};
			}
		}
#pragma unroll
		for (int n = 0; n < ahead; n++)
#pragma unroll
			for (int f = 0; f < F; f++) {
				float4 y = widen(r[n][f]);
				x.v[f].x = fmaf(c[n], y.x, x.v[f].x);
				x.v[f].y = fmaf(c[n], y.y, x.v[f].y);
				x.v[f].z = fmaf(c[n], y.z, x.v[f].z);
				x.v[f].w = fmaf(c[n], y.w, x.v[f].w);
			}
	}
}

template <int F> __device__ __forceinline__ void compose(const NGrams &a) {
	size_t v = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	if (v >= a.words || (a.now.slots && a.met[v] != a.step->stream)) return;
	int quads = a.table.quads;
	Row<F> x = a.own ? load<F>(a.own + v * quads, quads) : zeros<F>();
	for (uint32_t first = a.starts[v], end = a.starts[v + 1]; first < end; first += 32) {
		bool mine = first + laneNumber() < end;
		addRows(x, a.sums, quads, mine ? __ldg(a.members + first + laneNumber()) : 0, __ballot_sync(warp, mine));
	}
	scale(x, a.weights[v]);
	store(a.rows + v * quads, quads, x);
}

// toSums writes row u of the sums.
template <int F> __device__ __forceinline__ void toSums(const NGrams &a, size_t u, Row<F> w) {
	uint2 *to = a.sums + u * a.table.quads;
	scale(w, a.sizes[u]);
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < a.table.quads) to[i] = narrow(w.v[f], 1);
}

// A row of thousands of words would keep one warp busy when all others are done: so the frequent
// ones come first, and each warp of a thread block sums a part of the words.
constexpr int sumWarps = 8;

// train updates a row by the sum of the gradients of its words, those that were trained. One of which
// that is zero is left alone.
template <int F, class method> __device__ __forceinline__ void train(const NGrams &a) {
	constexpr int warps = sumWarps;
	__shared__ float4 parts[warps / 2][32 * F];
	const Table &t = a.table;
	uint32_t w = threadIdx.x / 32;
	bool together = blockIdx.x < a.frequent;
	size_t i = together ? blockIdx.x : a.frequent + size_t(blockIdx.x - a.frequent) * warps + w;
	if (i >= t.rows) return;
	StepNumbers s = *a.step;
	uint32_t u = a.order[i], first = a.userStarts[u], n = a.userStarts[u + 1] - first;
	uint32_t from = first + (together ? n * w / warps : 0), end = first + (together ? n * (w + 1) / warps : n);
	Row<F> g = zeros<F>();
	for (; from < end; from += 32) {
		bool mine = from + laneNumber() < end;
		uint32_t word = mine ? __ldg(a.users + from + laneNumber()) : 0;
		if (mine) mine = a.trained[word] == s.stream;
		addRows(g, a.gradient, t.quads, word, __ballot_sync(warp, mine), mine ? __ldg(a.weights + word) : 0);
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
	bool some = false;
#pragma unroll
	for (int f = 0; f < F; f++) some |= g.v[f].x != 0 || g.v[f].y != 0 || g.v[f].z != 0 || g.v[f].w != 0;
	if (!__any_sync(warp, some)) return;
	scale(g, 1 / gradientUnits);
	size_t at = u * size_t(t.quads);
	Row<F> x = load<F>(t.values + at, t.quads), m, v;
	if constexpr (method::first) m = load<F>(t.first + at, t.quads);
	if constexpr (method::second) v = load<F>(t.second + at, t.quads);
	optimize<method>(t, s, u, x, m, v, g);
	if constexpr (method::first) store(t.first + at, t.quads, m);
	if constexpr (method::second) store(t.second + at, t.quads, v);
	store(t.values + at, t.quads, x);
	toSums<F>(a, u, x);
}

#define TRAIN(method, F) \
	extern "C" __global__ void __launch_bounds__(32 * sumWarps, F <= 4 ? 3 : 2) ngram_train_##method##_##F(const __grid_constant__ NGrams a) { \
		train<F, method>(a); \
	}
#define KERNELS(F) \
	ADAPTIVE(TRAIN, F) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_compose_##F(const __grid_constant__ NGrams a) { compose<F>(a); } \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) ngram_sums_##F(const __grid_constant__ NGrams a) { \
		size_t u = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32; \
		if (u < a.table.rows) toSums<F>(a, u, load<F>(a.table.values + u * a.table.quads, a.table.quads)); \
	}

// For N up to 128 F.
KERNELS(1)
KERNELS(2)
KERNELS(3)
KERNELS(4)
KERNELS(8)
