// word2vec's skip-gram: every pair of a context word and a word has negatives of its own, and
// pairs are trained one after the other (sequential/word2vec.go has the same for the CPU). A
// warp, or a team of warps, trains a sentence, as BlazingText has a thread block do it.
//
//	words: (V, N)  contexts: (V, N)
//	for each word t of the sentence:
//		word t+W enters the ring, word t-W-1 leaves it
//		for each context word c of the window of word t:
//			outputs: word t and K negatives
//			S = W_c R^T, G = rate (positive - sigmoid(S)), W_c += G R, R += G^T W_c
//
// Rows of context words are in the ring of windows.cuh, the row of word t is in registers for
// the window. So a pair reads K rows and adds to K.
#include "windows.cuh"

// Pairs draws the negatives of up to 32/K pairs at once, lane l negative l % K of pair l / K.
// See Outputs.
struct Pairs {
	int atOnce, pair, k; // pair and k of this lane
	uint32_t target, low;
	uint4 alias;
	uint64_t number;

	__device__ __forceinline__ Pairs(const SentenceArgs &a) : atOnce(32 / a.negatives), pair(laneNumber() / a.negatives), k(laneNumber() % a.negatives) {}

	// begin draws for the pairs from number p on of the window of word t.
	__device__ __forceinline__ void begin(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int t, int n, int p) {
		t = min(t, n - 1);
		target = kept[t];
		number = (first + t) * a.perWindow + (p + pair) * a.negatives + k;
		uint32_t bits = randomBits(a.seed, streamNegatives, epoch, number);
		low = bits * a.vocabulary;
		alias = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
	}

	// end returns the negatives of count pairs.
	__device__ __forceinline__ uint32_t end(const SentenceArgs &a, uint32_t epoch, int count) const {
		uint32_t drawn = low < alias.x ? alias.y : alias.z;
		bool again = drawn == target && pair < count;
		if (__ballot_sync(warp, again))
			if (again) drawn = redraw(a, epoch, number, target);
		return drawn;
	}
};

// trainPair trains the context word of a slot with a word, whose row was old, and the negatives that lanes from first on have
// drawn. It adds to the change of the word and returns this lane's part of the loss.
template <int F, int T, bool many, class Contexts>
__device__ __forceinline__ float trainPair(Team<F, 0, T, 1, many> &team, Lifetime<F, 0> &rows, int slot, const Contexts &contexts, uint32_t drawn, int first, int negatives,
	const Row<F> &old, Row<F> &change, float rate, Dither &dither) {
	using P = Products<T, 1>;
	int l = laneNumber();
	uint32_t outputs[T];
	Row<F> r[T], left = rows.load(slot), updated = left;
#pragma unroll
	for (int k = 1; k < T; k++) {
		outputs[k] = __shfl_sync(warp, drawn, (first + k - 1) & 31);
		r[k] = loadCurrent(contexts, outputs[k], k <= negatives);
	}
	r[0] = old;
	add(r[0], 1, change);
	float x[P::G];
#pragma unroll
	for (int k = 0; k < P::G; k++) x[k] = k < T ? partial(left, r[k < T ? k : 0]) : 0;
	float score = sums<P::G>(x), none = 0;
	if constexpr (many) team.sum(score, none);
	float part = pair(score, l % P::G, 1 + negatives, 1, rate);
#pragma unroll
	for (int k = 0; k < T; k++) {
		float g = __shfl_sync(warp, score, k);
		add(updated, g, r[k]);
		if (k == 0) {
			add(change, g, left);
			continue;
		}
		Row<F> step = zeros<F>();
		add(step, g, left);
		addChange(contexts, outputs[k], r[k], step, k <= negatives, dither);
	}
	rows.update(slot, left, updated);
	return l < P::G ? part : 0;
}

// sentence is that of windows.cuh, for K below T.
template <int F, int T, bool many, class Contexts>
__device__ __forceinline__ float skipGram(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, const Kept &extent, float rate) {
	int negatives = a.negatives, n = extent.n, from = extent.from, end = extent.end;
	Team<F, 0, T, 1, many> team(Lifetime<F, 0>::rowsOf(a.radius));
	int chunk = team.number * 4 * F; // first of this warp
	Lifetime<F, 0> rows(a, kept, n, team.memory, chunk, 1, from);
	Contexts contexts(a.contexts, a.layout, chunk);
	Dither dither = {randomBits(a.seed, streamNegatives, epoch, first + threadIdx.x) ^ threadIdx.x};
	Windows windows(a, kept, n, from);
	Pairs draw(a);
	draw.begin(a, epoch, first, kept, from, n, 0);
	float loss = 0;
#pragma unroll 1
	for (int t = from; t < end; t++) {
		int width = __reduce_max_sync(warp, unsigned(windows.next(t)));
		int before = min(width, t), pairs = before + min(width, n - 1 - t);
		uint32_t target = kept[t];
		Row<F> old = loadCurrent(contexts, target, true), change = zeros<F>();
		rows.begin(t, width);
#pragma unroll 1
		for (int p = 0; p < pairs; p += draw.atOnce) {
			uint32_t drawn = draw.end(a, epoch, pairs - p);
			if (p + draw.atOnce < pairs)
				draw.begin(a, epoch, first, kept, t, n, p + draw.atOnce);
			else
				draw.begin(a, epoch, first, kept, t + 1, n, 0);
#pragma unroll 1
			for (int i = 0; i < draw.atOnce && p + i < pairs; i++) {
				int slot = rows.slot(t - before + p + i + (p + i >= before));
				loss += trainPair(team, rows, slot, contexts, drawn, i * negatives, negatives, old, change, rate, dither);
			}
		}
		addChange(contexts, target, old, change, true, dither);
		rows.end();
	}
	rows.finish(end);
	return loss;
}

// For K below T and N up to 128 F, or 128 F for each warp of a team.
#define WORD2VEC(kind, name, F, T, warps, Contexts) \
	kind(name##_##F##_0_##T##_1, warps, Trained{skipGram<F, T, many##kind, Contexts>(a, epoch, first, kept, k, rate), contexts(a, kept, k) * (1 + a.negatives)})
#define WORD2VECS(name, Contexts) \
	WORD2VEC(ALONE, name, 1, 6, 12, Contexts<1>) \
	WORD2VEC(ALONE, name, 2, 6, 12, Contexts<2>) \
	WORD2VEC(ALONE, name, 3, 6, 8, Contexts<3>) \
	WORD2VEC(ALONE, name, 1, 16, 12, Contexts<1>) \
	WORD2VEC(TEAM, name##_team, 2, 6, 4, Contexts<2>) \
	WORD2VEC(TEAM, name##_team, 1, 16, 8, Contexts<1>)

WORD2VECS(word2vec, Chunks)
#ifndef PIECES
WORD2VECS(word2vec_half, HalfChunks) // the table of contexts in float16
#endif
