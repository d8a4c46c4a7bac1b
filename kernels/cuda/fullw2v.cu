// FULL-W2V: one warp trains a sentence, window by window in order (section 3.1),
// with what sequential/fullw2v.go says:
//
//	words: (V, N)  contexts: (V, N)
//	for each word t of the sentence:
//		word t+W_f enters the ring, word t-W_f-1 leaves it
//		outputs: word t and K negatives
//		S = L R^T, G = rate (positive - sigmoid(S)), L += G R, R += G^T L
//
// The rows of context words live in a ring in shared memory from the window they
// enter to the window they leave (section 3.2). The rows of outputs are in
// registers for the window; what is added to them goes to memory by reductions
// that L2 carries out, so none is lost and none waits.
//
// The published code has a block of N threads for a sentence, which needs block
// barriers for its dots; a warp needs none, and many more sentences fit the chip.
// What a warp waits for is memory, so everything is asked for early: numbers of
// outputs eight windows before they are used, their rows one window before.
//
// All branches are uniform: what they depend on comes from votes and reductions,
// which the compiler knows to be the same in all lanes.
#include "philox.cuh"
#include "rows.cuh"

struct FullW2VArgs {
	float4 *words, *contexts;  // (vocabulary, quads), in chunks: see Chunks
	const uint32_t *tokens;    // of the text
	const uint64_t *sentences; // first token of each, and the end
	const uint32_t *keep;      // (vocabulary) thresholds of subsampling
	const uint4 *alias;        // (vocabulary) {accept, a word, the other word}
	const uint32_t *unitOf;    // (sentences) unit of a sentence in its epoch
	const float *rates;        // (epochs, units)
	uint32_t *kept;            // (warps, longest) words that subsampling leaves
	uint32_t *next;            // sentences that warps have taken
	double *loss;              // added to
	unsigned long long *pairs; // added to
	uint64_t first;            // number of the first sentence, counted over the epochs
	uint64_t seed;
	uint32_t all;              // sentences to train
	uint32_t count, units;     // of an epoch
	uint32_t vocabulary, quads, negatives, half, longest;
	uint32_t successor; // how far word w+1 is from word w
};

// Words have other numbers here than in the vocabulary, so that frequent ones are
// not neighbours in memory; what is drawn by the vocabulary's order, the alias
// table, holds both numbers.

// subsample writes the words that subsampling leaves of a sentence and returns
// their number.
__device__ __forceinline__ int subsample(const FullW2VArgs &a, uint32_t epoch, uint64_t first, int count, uint32_t *kept) {
	int n = 0;
	for (int i0 = 0; i0 < count; i0 += 32) {
		int i = i0 + laneNumber();
		uint32_t token = i < count ? a.tokens[first + i] : 0;
		bool stays = i < count && word(a.seed, streamSubsample, epoch, first + i) <= a.keep[token];
		unsigned stay = __ballot_sync(warp, stays);
		if (stays) kept[n + __popc(stay & ((1u << laneNumber()) - 1))] = token;
		n += __popc(stay);
	}
	__syncwarp();
	return n;
}

// redraw draws negative number j of a target again; see sequential/negatives.go.
__device__ __forceinline__ uint32_t redraw(const FullW2VArgs &a, uint32_t epoch, uint64_t j, uint32_t target) {
#pragma unroll 1
	for (uint64_t attempt = 0; attempt < 256; attempt++) {
		uint4 block = philox(a.seed, streamRedraws, epoch, j | (attempt / 4) << 56);
		uint32_t bits = lane(block, attempt % 4);
		uint4 of = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
		uint32_t n = bits * a.vocabulary < of.x ? of.y : of.z;
		if (n != target) return n;
	}
	return (target + uint64_t(a.successor)) % a.vocabulary;
}

// Outputs draws the outputs of some windows at once, lane l output l % S of
// window l / S of them, in two halves: what memory answers to the first is
// needed in the second only.
template <int S> struct Outputs {
	static constexpr int windows = 32 / S;
	uint32_t target, low;
	uint4 alias;
	uint64_t number;

	__device__ __forceinline__ void begin(const FullW2VArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int t, int n) {
		int k = laneNumber() % S;
		t = min(t + laneNumber() / S, n - 1);
		target = kept[t];
		number = (first + t) * ((a.negatives + 3) & ~3u) + k - 1;
		uint32_t bits = word(a.seed, streamNegatives, epoch, number);
		low = bits * a.vocabulary;
		alias = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
	}

	__device__ __forceinline__ uint32_t end(const FullW2VArgs &a, uint32_t epoch) const {
		int k = laneNumber() % S;
		uint32_t drawn = low < alias.x ? alias.y : alias.z;
		bool again = drawn == target && k > 0 && k <= a.negatives;
		if (__ballot_sync(warp, again))
			if (again) drawn = redraw(a, epoch, number, target);
		return k == 0 ? target : drawn;
	}
};

extern __shared__ float4 shared[]; // ring (slots + 1, 32 F), then coefficients

// A Ring holds the rows of a window, padded with zeros to 32 F quads. Lane s knows
// slot s; lane p knows the slot of the word at the places of the sentence that are
// p modulo 32. Behind the last slot is one that stays zero.
template <int F> struct Ring {
	Chunks<F> words;
	int slots;
	uint32_t word; // of this lane's slot
	int places;    // in the window that have it; 0: free
	int slotOf;

	__device__ __forceinline__ Row<F> load(int slot) const {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = shared[(slot * F + f) * 32 + laneNumber()];
		return r;
	}

	__device__ __forceinline__ void store(int slot, const Row<F> &r) {
#pragma unroll
		for (int f = 0; f < F; f++) shared[(slot * F + f) * 32 + laneNumber()] = r.v[f];
	}

	__device__ __forceinline__ void clear() {
		word = places = slotOf = 0;
		store(slots, zeros<F>());
	}

	__device__ __forceinline__ unsigned has(uint32_t w) const { return __ballot_sync(warp, places > 0 && word == w); }

	// fetch begins to load a word's row, unless it is here.
	__device__ __forceinline__ Row<F> fetch(uint32_t w) const {
		return loadCurrent(words, w, !has(w));
	}

	// enter brings word i of the sentence in, with the row that fetch gave.
	__device__ __forceinline__ void enter(uint32_t w, const Row<F> &row, int i) {
		unsigned here = has(w);
		int slot = __ffs(here ? here : __ballot_sync(warp, laneNumber() < slots && places == 0)) - 1;
		if (!here) store(slot, row);
		if (laneNumber() == slot) {
			word = w;
			places++;
		}
		if (laneNumber() == (i & 31)) slotOf = slot;
	}

	__device__ __forceinline__ int slot(int i) const { return __shfl_sync(warp, slotOf, i & 31); }

	// leave takes word i out. Its row goes back with the last place that has it.
	__device__ __forceinline__ void leave(int i) {
		bool mine = laneNumber() == slot(i);
		if (mine) places--;
		unsigned gone = __ballot_sync(warp, mine && places == 0);
		if (gone) {
			int s = __ffs(gone) - 1;
			storeCurrent(words, __shfl_sync(warp, word, s), load(s));
		}
	}
};

// What a window is computed with: C context words meet T outputs at once, which
// gives C T dot products. The lanes' parts of them are summed together; lane l
// gets number l mod G, and number 32 + l mod R of those above 32. Number n is
// context n / T with output n % T.
constexpr int powerOfTwo(int n) { return n <= 1 ? 1 : 2 * powerOfTwo((n + 1) / 2); }

template <int T, int C> struct Products {
	static constexpr int G = C * T >= 32 ? 32 : powerOfTwo(C * T), R = C * T > 32 ? powerOfTwo(C * T - 32) : 0;
	static constexpr int stride = T <= 8 ? 8 : 16; // of coefficients in memory, and of outputs
};

// pair makes a pair's score its coefficient and returns its loss. times is how
// often the context word is in the window.
__device__ __forceinline__ float pair(float &score, int k, int width, float times, float rate) {
	Logistic y = fastLogistic(k == 0 ? -score : score);
	float step = k < width ? times * rate * y.sigmoid : 0;
	score = k == 0 ? step : -step;
	return k < width ? times * __logf(y.factor) : 0;
}

// window trains a window; r are the rows of its outputs. It sets added to what
// they get, and returns this lane's part of the loss.
template <int F, int T, int C>
__device__ __forceinline__ float window(const FullW2VArgs &a, Ring<F> &ring, const Row<F> (&r)[T], Row<F> (&added)[T], int center, float rate) {
	using P = Products<T, C>;
	float *coefficients = reinterpret_cast<float *>(shared + (ring.slots + 1) * 32 * F);
	int width = 1 + a.negatives, l = laneNumber();
#pragma unroll
	for (int k = 0; k < T; k++) added[k] = zeros<F>();
	float loss = 0;
	int times = ring.places - (l == center); // that this lane's slot is a context
	for (unsigned rest = __ballot_sync(warp, times > 0); rest;) {
		Row<F> left[C];
		int slot[C];
#pragma unroll
		for (int c = 0; c < C; c++) {
			slot[c] = rest ? __ffs(rest) - 1 : ring.slots;
			rest &= rest - 1;
			left[c] = ring.load(slot[c]);
		}
		float x[P::G], y[P::R > 0 ? P::R : 1];
#pragma unroll
		for (int n = 0; n < P::G + P::R; n++) {
			float &to = n < P::G ? x[n] : y[n - P::G];
			to = n < C * T ? partial(left[n / T], r[n % T]) : 0;
		}
		int n = l % P::G, mine = slot[0];
#pragma unroll
		for (int c = 1; c < C; c++) mine = n / T == c ? slot[c] : mine;
		float often = __shfl_sync(warp, times, mine & 31);
		if (mine == ring.slots) often = 0;
		float score = sums<P::G>(x);
		float part = pair(score, n % T, width, often, rate);
		if (l < P::G && n < C * T) loss += part;
		__syncwarp();
		if (n < C * T) coefficients[n / T * P::stride + n % T] = score;
		if constexpr (P::R > 0) { // all of the last context word
			n = 32 + l % P::R;
			often = slot[C - 1] < ring.slots ? __shfl_sync(warp, times, slot[C - 1] & 31) : 0;
			score = sums<P::R>(y);
			part = pair(score, n % T, width, often, rate);
			if (l < P::R && n < C * T) loss += part;
			if (n < C * T) coefficients[n / T * P::stride + n % T] = score;
		}
		__syncwarp();
#pragma unroll
		for (int c = 0; c < C; c++) {
			Row<F> updated = left[c];
#pragma unroll
			for (int k = 0; k < T; k++) {
				float x = coefficients[c * P::stride + k];
				add(updated, x, r[k]);
				add(added[k], x, left[c]);
			}
			ring.store(slot[c], updated);
		}
	}
	return loss;
}

// sentence trains n words that subsampling has left of a sentence that begins
// with token first of the text.
template <int F, int T, int C>
__device__ __forceinline__ float sentence(const FullW2VArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	constexpr int S = Products<T, C>::stride;
	using Draw = Outputs<S>;
	int half = a.half, width = 1 + a.negatives, l = laneNumber();
	Ring<F> ring = {Chunks<F>(a.words, a.vocabulary, a.quads), 2 * half + 2};
	Chunks<F> contexts(a.contexts, a.vocabulary, a.quads);
	ring.clear();
	for (int i = 0; i <= half && i < n; i++) ring.enter(kept[i], ring.fetch(kept[i]), i);

	Draw draw;
	draw.begin(a, epoch, first, kept, 0, n);
	uint32_t batch = draw.end(a, epoch); // outputs of this batch of windows
	draw.begin(a, epoch, first, kept, Draw::windows, n);
	uint32_t coming = kept[min(half + 1, n - 1)];
	uint32_t now = __shfl_sync(warp, batch, l % S); // outputs of this window
	Row<F> r[T];
#pragma unroll
	for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, __shfl_sync(warp, now, k), k < width);
	float loss = 0;
	for (int t = 0; t < n;) {
		uint32_t batchNext = draw.end(a, epoch);
		draw.begin(a, epoch, first, kept, t + 2 * Draw::windows, n);
#pragma unroll 1
		for (int j = 0; j < Draw::windows && t < n; j++, t++) {
			uint32_t entering = coming;
			coming = kept[min(t + half + 2, n - 1)];
			Row<F> rowEntering = ring.fetch(entering);
			uint32_t soon = __shfl_sync(warp, j + 1 < Draw::windows ? batch : batchNext, (j + 1) % Draw::windows * S + l % S);
			// Rows that this window changes come later.
			bool again = false;
#pragma unroll
			for (int k = 0; k < T; k++) again |= k < width & __shfl_sync(warp, now, k) == soon;
			unsigned stale = __ballot_sync(warp, again);
			Row<F> added[T];
			Row<F> next[T];
#pragma unroll
			for (int k = 0; k < T; k++) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k), k < width);
			loss += window<F, T, C>(a, ring, r, added, ring.slot(t), rate);
#pragma unroll
			for (int k = 0; k < T; k++) addCurrent(contexts, __shfl_sync(warp, now, k), added[k], k < width);
			if (t + half + 1 < n) ring.enter(entering, rowEntering, t + half + 1);
			if (t >= half) ring.leave(t - half);
#pragma unroll
			for (int k = 0; k < T; k++) {
				if (stale >> k & 1) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k), k < width);
				r[k] = next[k];
			}
			now = soon;
		}
		batch = batchNext;
	}
	for (int i = max(n - half, 0); i < n; i++) ring.leave(i);
	return loss;
}

// contexts counts the context words of all windows of a sentence of n words.
__device__ __forceinline__ unsigned long long contexts(long long n, long long half) {
	long long h = min(half, n - 1); // the farthest
	return n < 2 ? 0 : 2 * (h * n - h * (h + 1) / 2);
}

template <int F, int T, int C> __device__ __forceinline__ void train(const FullW2VArgs &a) {
	uint32_t *kept = a.kept + size_t(blockIdx.x) * a.longest;
	double loss = 0;
	unsigned long long pairs = 0;
	for (;;) {
		uint32_t taken = 0;
		if (laneNumber() == 0) taken = atomicAdd(a.next, 1u);
		taken = __reduce_max_sync(warp, taken);
		if (taken >= a.all) break;
		uint32_t epoch = (a.first + taken) / a.count, s = (a.first + taken) % a.count;
		uint64_t first = a.sentences[s];
		int n = subsample(a, epoch, first, __reduce_max_sync(warp, uint32_t(a.sentences[s + 1] - first)), kept);
		if (n > 1) loss += sentence<F, T, C>(a, epoch, first, kept, n, a.rates[size_t(epoch) * a.units + a.unitOf[s]]);
		pairs += contexts(n, a.half) * (1 + a.negatives);
		__syncwarp();
	}
	for (int d = 16; d; d /= 2) loss += __shfl_xor_sync(warp, loss, d);
	if (laneNumber() == 0) {
		atomicAdd(a.loss, loss);
		atomicAdd(a.pairs, pairs);
	}
}

// fullw2v_renumber gives the words of the text the numbers they have here.
extern "C" __global__ void fullw2v_renumber(uint32_t *tokens, uint64_t count, uint64_t successor, uint64_t vocabulary) {
	for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
		tokens[i] = tokens[i] * successor % vocabulary;
}

#define FULLW2V(F, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) fullw2v_##F##_##T##_##C(const __grid_constant__ FullW2VArgs a) { train<F, T, C>(a); }

// For N up to 128 F and K below T; six rows are what five negatives need. C is as
// many context words as there are registers for; for W_f = 5, half of them. warps
// are those that one multiprocessor must have room for: 12 train 850 million words
// a second where 8, with all the registers they like, train 745.
FULLW2V(1, 6, 6, 12)
FULLW2V(1, 6, 5, 12)
FULLW2V(2, 6, 3, 8)
FULLW2V(3, 6, 2, 8)
FULLW2V(4, 6, 1, 8)
FULLW2V(8, 6, 1, 8)
FULLW2V(1, 16, 2, 8)
FULLW2V(2, 16, 1, 8)
FULLW2V(3, 16, 1, 8)
FULLW2V(4, 16, 1, 8)
FULLW2V(8, 16, 1, 8)
