// FULL-W2V, first rung: one warp trains a sentence, window by window in order
// (section 3.1), with what sequential/fullw2v.go says:
//
//	words: (V, N)  contexts: (V, N)
//	for each word t of the sentence:
//		word t+W_f enters the ring, word t-W_f-1 leaves it
//		outputs: word t and K negatives
//		S = L R^T, G = rate (positive - sigmoid(S)), L += G R, R += G^T L
//
// The rows of outputs are in registers for the window; what is added to them goes
// to memory by reductions that L2 carries out, so none is lost and none waits.
// The rows of context words live in a ring in shared memory from the window they
// enter to the window they leave (section 3.2) and are stored plainly then. Each
// lane reads and writes its own part of the rows only, so the ring needs no
// barrier.
//
// The published code has a block of N threads for a sentence, which needs block
// barriers for its dots; a warp needs none, and many more sentences fit the chip.
#include "philox.cuh"
#include "rows.cuh"

struct FullW2VArgs {
	float4 *words, *contexts;  // (vocabulary, quads)
	const uint32_t *tokens;    // of the text
	const uint64_t *sentences; // first token of each, and the end
	const uint32_t *keep;      // (vocabulary) thresholds of subsampling
	const uint2 *alias;        // (vocabulary)
	const uint32_t *unitOf;    // (sentences) unit of a sentence in its epoch
	const float *rates;        // (epochs, units)
	uint32_t *kept;            // (warps, longest) words that subsampling leaves
	unsigned long long *next;  // number of the next sentence, counted over the epochs
	double *loss;              // added to
	unsigned long long *pairs; // added to
	uint64_t end;              // number of the sentence after the last
	uint64_t seed;
	uint32_t count, units;     // of an epoch
	uint32_t vocabulary, quads, negatives, half, longest;
};

// subsample writes the words that subsampling leaves of a sentence and returns
// their number.
__device__ int subsample(const FullW2VArgs &a, uint32_t epoch, uint64_t first, uint64_t last, uint32_t *kept) {
	int n = 0;
	for (uint64_t i0 = first; i0 < last; i0 += 32) {
		uint64_t i = i0 + laneNumber();
		uint32_t token = i < last ? a.tokens[i] : 0;
		bool stays = i < last && word(a.seed, streamSubsample, epoch, i) <= a.keep[token];
		unsigned stay = __ballot_sync(warp, stays);
		if (stays) kept[n + __popc(stay & ((1u << laneNumber()) - 1))] = token;
		n += __popc(stay);
	}
	__syncwarp();
	return n;
}

// negative draws negative number j of a target; see sequential/negatives.go.
__device__ __forceinline__ uint32_t negative(const FullW2VArgs &a, uint32_t epoch, uint64_t j, uint32_t target) {
	uint32_t n = aliasDraw(a.alias, a.vocabulary, word(a.seed, streamNegatives, epoch, j));
	for (uint64_t attempt = 0; n == target; attempt++) {
		if (attempt == 256) return (target + 1) % a.vocabulary;
		uint4 block = philox(a.seed, streamRedraws, epoch, j | (attempt / 4) << 56);
		n = aliasDraw(a.alias, a.vocabulary, lane(block, attempt % 4));
	}
	return n;
}

// A Ring holds the rows of a window. Lane s knows slot s; lane p knows the slot of
// the word at the places of the sentence that are p modulo 32.
template <int F> struct Ring {
	float4 *rows; // (slots, quads), shared
	float4 *words;
	int quads, slots;
	uint32_t word; // of this lane's slot
	int places;    // in the window that have it; 0: free
	int slotOf;

	__device__ __forceinline__ void enter(const uint32_t *kept, int i) {
		uint32_t w = kept[i];
		int slot;
		unsigned has = __ballot_sync(warp, places > 0 && word == w);
		if (has) {
			slot = __ffs(has) - 1;
		} else {
			slot = __ffs(__ballot_sync(warp, laneNumber() < slots && places == 0)) - 1;
			store(rows + slot * quads, quads, loadCurrent<F>(words + size_t(w) * quads, quads));
		}
		if (laneNumber() == slot) {
			word = w;
			places++;
		}
		if (laneNumber() == (i & 31)) slotOf = slot;
	}

	__device__ __forceinline__ int slot(int i) { return __shfl_sync(warp, slotOf, i & 31); }

	__device__ __forceinline__ void leave(int i) {
		int s = slot(i);
		if (laneNumber() == s) places--;
		if (__shfl_sync(warp, places, s) > 0) return;
		uint32_t w = __shfl_sync(warp, word, s);
		storeCurrent(words + size_t(w) * quads, quads, load<F>(rows + s * quads, quads));
	}
};

// window trains the window of word t. T is at least 1+K. It returns this lane's
// part of the loss.
template <int F, int T>
__device__ __forceinline__ float window(const FullW2VArgs &a, Ring<F> &ring, uint32_t output, int center, float rate) {
	constexpr int slots = T <= 8 ? 8 : 16;
	int width = 1 + a.negatives, l = laneNumber();
	Row<F> r[T], added[T];
#pragma unroll
	for (int k = 0; k < T; k++) {
		uint32_t row = __shfl_sync(warp, output, k);
		r[k] = k < width ? loadCurrent<F>(a.contexts + size_t(row) * a.quads, a.quads) : zeros<F>();
		added[k] = zeros<F>();
	}
	float loss = 0;
	int times = ring.places - (l == center); // that this lane's slot is a context
	for (unsigned rest = __ballot_sync(warp, times > 0); rest; rest &= rest - 1) {
		int s = __ffs(rest) - 1;
		float n = float(__shfl_sync(warp, times, s));
		Row<F> left = load<F>(ring.rows + s * ring.quads, ring.quads);
		float x[slots];
#pragma unroll
		for (int k = 0; k < slots; k++) x[k] = 0;
#pragma unroll
		for (int k = 0; k < T; k++) x[k] = partial(left, r[k]);
		float score = sums<slots>(x);
		int k = l % slots; // this lane's output
		Logistic y = logistic(k == 0 ? -score : score);
		float step = n * rate * y.sigmoid;
		float c = k == 0 ? step : k < width ? -step : 0;
		if (l < width) loss += n * logf(y.factor);
		Row<F> updated = left;
#pragma unroll
		for (int k = 0; k < T; k++) {
			float ck = __shfl_sync(warp, c, k);
			add(updated, ck, r[k]);
			add(added[k], ck, left);
		}
		store(ring.rows + s * ring.quads, ring.quads, updated);
	}
#pragma unroll
	for (int k = 0; k < T; k++) {
		uint32_t row = __shfl_sync(warp, output, k);
		if (k < width) addCurrent(a.contexts + size_t(row) * a.quads, a.quads, added[k]);
	}
	return loss;
}

// sentence trains n words that subsampling has left of a sentence that begins
// with token first of the text.
template <int F, int T>
__device__ __forceinline__ float sentence(const FullW2VArgs &a, float4 *rows, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	int half = a.half, l = laneNumber(), width = 1 + a.negatives;
	uint64_t perWindow = (a.negatives + 3) & ~3u;
	Ring<F> ring = {rows, a.words, int(a.quads), 2 * half + 2, 0, 0, 0};
	float loss = 0;
	for (int i = 0; i < half && i < n; i++) ring.enter(kept, i);
	for (int t = 0; t < n; t++) {
		if (t + half < n) ring.enter(kept, t + half);
		if (t - half - 1 >= 0) ring.leave(t - half - 1);
		if (n == 1) break; // no contexts
		uint32_t target = kept[t], output = target;
		if (l > 0 && l < width) output = negative(a, epoch, (first + t) * perWindow + l - 1, target);
		loss += window<F, T>(a, ring, output, ring.slot(t), rate);
	}
	for (int i = max(n - 1 - half, 0); i < n; i++) ring.leave(i);
	return loss;
}

// contexts counts the context words of all windows of a sentence of n words.
__device__ __forceinline__ unsigned long long contexts(long long n, long long half) {
	long long h = min(half, n - 1); // the farthest
	return n < 2 ? 0 : 2 * (h * n - h * (h + 1) / 2);
}

template <int F, int T> __device__ __forceinline__ void train(const FullW2VArgs *args) {
	extern __shared__ float4 rows[];
	FullW2VArgs a = *args;
	uint32_t *kept = a.kept + size_t(blockIdx.x) * a.longest;
	double loss = 0;
	unsigned long long pairs = 0;
	for (;;) {
		unsigned long long number = 0;
		if (laneNumber() == 0) number = atomicAdd(a.next, 1ull);
		number = __shfl_sync(warp, number, 0);
		if (number >= a.end) break;
		uint32_t epoch = number / a.count, s = number % a.count;
		uint64_t first = a.sentences[s];
		int n = subsample(a, epoch, first, a.sentences[s + 1], kept);
		float rate = a.rates[size_t(epoch) * a.units + a.unitOf[s]];
		loss += sentence<F, T>(a, rows, epoch, first, kept, n, rate);
		pairs += contexts(n, a.half) * (1 + a.negatives);
		__syncwarp();
	}
	for (int d = 16; d; d /= 2) loss += __shfl_xor_sync(warp, loss, d);
	if (laneNumber() == 0) {
		atomicAdd(a.loss, loss);
		atomicAdd(a.pairs, pairs);
	}
}

#define FULLW2V(F, T) \
	extern "C" __global__ void __launch_bounds__(32, 1) fullw2v_##F##_##T(const FullW2VArgs *args) { train<F, T>(args); }

// For N up to 128 F and K below T. Six rows are what five negatives need.
FULLW2V(1, 6)
FULLW2V(2, 6)
FULLW2V(3, 6)
FULLW2V(4, 6)
FULLW2V(8, 6)
FULLW2V(1, 16)
FULLW2V(2, 16)
FULLW2V(3, 16)
FULLW2V(4, 16)
FULLW2V(8, 16)
