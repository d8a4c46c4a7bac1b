// The arguments of all kernels of sentence-ordered modes, and what they take from the text: subsampling,
// windows, and the drawing of outputs.
#pragma once
#include "philox.cuh"
#include "rows.cuh"

struct SentenceArgs {
	float4 *words;             // (vocabulary, N)
	void *contexts;            // the same, or in the kernel's own form
	const uint32_t *tokens;    // of the text
	const uint64_t *sentences; // first token of each, and the end
	const uint32_t *keep;      // (vocabulary) thresholds of subsampling
	const uint4 *alias;        // (vocabulary) {accept, a word, the other word}
	const float *shares;       // (vocabulary) part of a change of W that is added: see shares.go
	const float *contextShares; // (vocabulary) the same of C, for bounded kernels
	const uint32_t *unitOf;    // (sentences) unit of a sentence in its epoch
	const float *rates;        // (epochs, units)
	uint32_t *kept;            // (thread blocks, 2, longest) words that subsampling leaves, and the widths of their windows
	uint32_t *next;            // sentences that thread blocks have taken
	double *losses;            // (epochs, units), added to
	unsigned long long *pairs; // the same
	uint64_t first;            // number of the first sentence, counted over the epochs
	uint64_t seed;
	uint32_t all;              // sentences to train
	uint32_t count, units;     // of an epoch
	uint32_t vocabulary, negatives;
	Layout layout;
	uint32_t radius;    // words on either side of a window's middle, at most
	uint32_t dynamic;   // whether each window has a width of its own, 1 ... radius
	uint32_t perWindow; // numbers of the stream of negatives that a window has
	uint32_t batch;     // words that share negatives: PAR-Word2Vec
	uint32_t longest;
	uint32_t successor; // how far word w+1 is from word w
	uint32_t apart;     // stretches of the text that are trained side by side
	float soundRate;    // learning rate that shares are for; a higher one leaves less
};

// For kernels of pieces a piece of a sentence stands for a sentence.
struct PieceArgs : SentenceArgs {
	const uint2 *around; // (pieces) tokens of its sentence before and behind it
	uint32_t reach;      // words behind a piece that its training reads
};

// Words have other numbers here than in the vocabulary, so that frequent ones are not
// neighbours in memory. The alias table, which is in the vocabulary's order, holds both
// numbers.

// subsample writes the words that subsampling leaves of a sentence and, behind them, the widths
// of their windows if these are dynamic. It returns the number of words.
__device__ __forceinline__ int subsample(const SentenceArgs &a, uint32_t epoch, uint64_t first, int count, uint32_t *kept) {
	int n = 0;
	for (int i0 = 0; i0 < count; i0 += 32) {
		int i = i0 + laneNumber();
		uint32_t token = i < count ? a.tokens[first + i] : 0;
		bool stays = i < count && randomBits(a.seed, streamSubsample, epoch, first + i) <= a.keep[token];
		unsigned stay = __ballot_sync(warp, stays);
		uint32_t *to = kept + n + __popc(stay & ((1u << laneNumber()) - 1));
		if (stays) *to = token;
		if (stays && a.dynamic) to[a.longest] = 1 + __umulhi(randomBits(a.seed, streamWindow, epoch, first + i), a.radius);
		n += __popc(stay);
	}
	__syncwarp();
	return n;
}

// A Kept is the words of a part of a sentence. Those from word number from on, but not from end on,
// are the middles of windows; the others are their context words.
struct Kept {
	int n, from, end;
	int before; // words of the sentence before them
};

// lanesBelow has the bits of the first so many lanes.
__device__ __forceinline__ unsigned lanesBelow(int count) { return count <= 0 ? 0 : count < 32 ? (1u << count) - 1 : warp; }

// subsamplePiece is subsample for the words of a piece of a sentence, tokens from ... to-1 of count, and
// those around it. All words before are counted, for the numbers of negatives depend on that.
__device__ __forceinline__ Kept subsamplePiece(const PieceArgs &a, uint32_t epoch, uint64_t first, int from, int to, int count, uint32_t *kept) {
	constexpr int together = 4; // times 32 tokens, whose loads are under way at a time
	Kept k = {0, 0, 0, 0};
	for (int i0 = 0; i0 < count && (i0 < to || k.n < k.end + int(a.reach)); i0 += 32 * together) {
		uint32_t token[together], keep[together];
#pragma unroll
		for (int j = 0; j < together; j++) token[j] = a.tokens[first + min(i0 + 32 * j + laneNumber(), count - 1)];
#pragma unroll
		for (int j = 0; j < together; j++) keep[j] = a.keep[token[j]];
#pragma unroll
		for (int j = 0; j < together; j++) {
			int i = i0 + 32 * j + laneNumber(), begin = i0 + 32 * j;
			bool stays = i < count && randomBits(a.seed, streamSubsample, epoch, first + i) <= keep[j];
			unsigned stay = __ballot_sync(warp, stays);
			uint32_t *place = kept + k.n + __popc(stay & ((1u << laneNumber()) - 1));
			if (stays) *place = token[j];
			if (stays && a.dynamic) place[a.longest] = 1 + __umulhi(randomBits(a.seed, streamWindow, epoch, first + i), a.radius);
			k.n += __popc(stay);
			k.from += __popc(stay & lanesBelow(from - begin));
			k.end += __popc(stay & lanesBelow(to - begin));
		}
	}
	__syncwarp();
	k.before = max(k.from - int(a.radius), 0);
	k.n = min(k.n, k.end + int(a.reach)) - k.before;
	k.from -= k.before;
	k.end -= k.before;
	return k;
}

// A Windows has the words on either side of the middle of each window of a sentence. next is
// asked for all of them in order; it has asked memory for the one after.
struct Windows {
	const uint32_t *widths;
	int last, radius;
	bool dynamic;
	uint32_t coming;

	__device__ __forceinline__ Windows(const SentenceArgs &a, const uint32_t *kept, int n, int from = 0)
		: widths(kept + a.longest), last(n - 1), radius(a.radius), dynamic(a.dynamic), coming(a.radius) {
		if (dynamic) coming = widths[from];
	}
	__device__ __forceinline__ int next(int t) {
		int width = coming;
		if (dynamic) coming = widths[min(t + 1, last)];
		return width;
	}
};

// around has the bits, modulo 32, of the places at most width from t, but not of t.
__device__ __forceinline__ unsigned around(int t, int width) {
	unsigned near = (1u << (2 * width + 1)) - 1 ^ 1u << width;
	return __funnelshift_l(near, near, t - width);
}

// redraw draws negative number j of a target again; see sequential/negatives.go.
__device__ __forceinline__ uint32_t redraw(const SentenceArgs &a, uint32_t epoch, uint64_t j, uint32_t target) {
#pragma unroll 1
	for (uint64_t attempt = 0; attempt < 256; attempt++) {
		uint4 four = philox(a.seed, streamRedraws, epoch, j | (attempt / 4) << 56);
		uint32_t bits = quarter(four, attempt % 4);
		uint4 of = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
		uint32_t n = bits * a.vocabulary < of.x ? of.y : of.z;
		if (n != target) return n;
	}
	return (target + uint64_t(a.successor)) % a.vocabulary;
}

// Outputs draws the outputs of some windows at once, lane l output l % S of window l / S.
// A draw has two parts: begin asks memory for the values that end uses, windows later.
// With S = 1 there is the target alone.
template <int S> struct Outputs {
	static constexpr int windows = 32 / S;
	uint32_t target, low;
	uint4 alias;
	uint64_t number;

	__device__ __forceinline__ void begin(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int t, int n) {
		int k = laneNumber() % S;
		t = min(t + laneNumber() / S, n - 1);
		target = kept[t];
		if constexpr (S == 1) return;
		number = (first + t) * a.perWindow + k - 1;
		uint32_t bits = randomBits(a.seed, streamNegatives, epoch, number);
		low = bits * a.vocabulary;
		alias = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
	}

	__device__ __forceinline__ uint32_t end(const SentenceArgs &a, uint32_t epoch) const {
		if constexpr (S == 1) return target;
		int k = laneNumber() % S;
		uint32_t drawn = low < alias.x ? alias.y : alias.z;
		bool again = drawn == target && k > 0 && k <= a.negatives;
		if (__ballot_sync(warp, again))
			if (again) drawn = redraw(a, epoch, number, target);
		return k == 0 ? target : drawn;
	}
};

// widthOf is the number of a window's outputs.
template <int T> __device__ __forceinline__ int widthOf(const SentenceArgs &a) { return T == 1 ? 1 : 1 + a.negatives; }

// repeated says, bit l for lane l, which outputs of a batch of windows are outputs
// of the window before, too, so that their rows are changed by it. before is the
// batch before.
template <int S> __device__ __forceinline__ unsigned repeated(uint32_t batch, uint32_t before, int width) {
	int l = laneNumber(), k = l % S;
	uint32_t last = __shfl_sync(warp, before, 32 - S + k), previous = __shfl_up_sync(warp, batch, S);
	if (l < S) previous = last;
	bool again = false;
#pragma unroll
	for (int i = 0; i < S; i++) again |= i < width & __shfl_sync(warp, previous, l - k + i) == batch;
	return __ballot_sync(warp, again && k < width);
}
