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
#include "fullw2v.cuh"

// What a window is computed with: C context words meet T outputs at once, which
// gives C T dot products. The lanes' parts of them are summed together; lane l
// gets number l mod G, and number 32 + l mod R of those above 32. Number n is
// context n / T with output n % T.
constexpr int powerOfTwo(int n) { return n <= 1 ? 1 : 2 * powerOfTwo((n + 1) / 2); }

template <int T, int C> struct Products {
	static constexpr int G = C * T >= 32 ? 32 : powerOfTwo(C * T), R = C * T > 32 ? powerOfTwo(C * T - 32) : 0;
	static constexpr int stride = T <= 8 ? 8 : 16; // of coefficients in memory, and of outputs
};

// window trains a window; r are the rows of its outputs, and times says how often
// this lane's slot is a context. It sets added to what they get, and returns this
// lane's part of the loss.
template <int F, int T, int C>
__device__ __forceinline__ float window(const FullW2VArgs &a, Ring<F> &ring, const Row<F> (&r)[T], Row<F> (&added)[T], int times, float rate) {
	using P = Products<T, C>;
	float *coefficients = reinterpret_cast<float *>(shared + ring.quads());
	int width = 1 + a.negatives, l = laneNumber();
#pragma unroll
	for (int k = 0; k < T; k++) added[k] = zeros<F>();
	float loss = 0;
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
	Ring<F> ring = {Chunks<F>(a.words, a.vocabulary, a.quads), a.shares, 2 * half + 2, 2 * half + 3};
	Chunks<F> contexts(static_cast<float4 *>(a.contexts), a.vocabulary, a.quads);
	ring.clear();
	for (int i = 0; i <= half && i < n; i++) {
		int into = ring.enter(kept[i], i);
		ring.bring(into, loadCurrent(ring.words, kept[i], into >= 0));
	}

	Draw draw;
	draw.begin(a, epoch, first, kept, 0, n);
	uint32_t batch = draw.end(a, epoch); // outputs of this batch of windows
	unsigned again = repeated<S>(batch, batch, width);
	draw.begin(a, epoch, first, kept, Draw::windows, n);
	uint32_t coming = kept[min(half + 1, n - 1)];
	uint32_t now = __shfl_sync(warp, batch, l % S); // outputs of this window
	Row<F> r[T];
#pragma unroll
	for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, __shfl_sync(warp, now, k), k < width);
	float loss = 0;
	for (int t = 0; t < n;) {
		uint32_t batchNext = draw.end(a, epoch);
		unsigned againNext = repeated<S>(batchNext, batch, width);
		draw.begin(a, epoch, first, kept, t + 2 * Draw::windows, n);
#pragma unroll 1
		for (int j = 0; j < Draw::windows && t < n; j++, t++) {
			uint32_t entering = coming;
			coming = kept[min(t + half + 2, n - 1)];
			// Where rows come and go is settled here, while rows are on the way.
			int times = ring.places - (l == ring.slot(t)); // that this lane's slot is a context
			int into = t + half + 1 < n ? ring.enter(entering, t + half + 1) : -1;
			Row<F> rowEntering = loadCurrent(ring.words, entering, into >= 0);
			int from = t >= half ? ring.leave(t - half) : -1;
			bool last = j + 1 == Draw::windows;
			int after = last ? 0 : (j + 1) * S;
			uint32_t soon = __shfl_sync(warp, last ? batchNext : batch, after + l % S);
			unsigned stale = (last ? againNext : again) >> after; // rows that this window changes
			Row<F> added[T];
			Row<F> next[T];
#pragma unroll
			for (int k = 0; k < T; k++) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k), k < width);
			loss += window<F, T, C>(a, ring, r, added, times, rate);
#pragma unroll
			for (int k = 0; k < T; k++) addCurrent(contexts, __shfl_sync(warp, now, k), added[k], k < width);
			ring.bring(into, rowEntering);
			ring.giveBack(from);
#pragma unroll
			for (int k = 0; k < T; k++) {
				if (stale >> k & 1) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k), k < width);
				r[k] = next[k];
			}
			now = soon;
		}
		batch = batchNext;
		again = againNext;
	}
	for (int i = max(n - half, 0); i < n; i++) ring.giveBack(ring.leave(i));
	return loss;
}

// fullw2v_renumber gives the words of the text the numbers they have here.
extern "C" __global__ void fullw2v_renumber(uint32_t *tokens, uint64_t count, uint64_t successor, uint64_t vocabulary) {
	for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
		tokens[i] = tokens[i] * successor % vocabulary;
}

#define FULLW2V(F, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) fullw2v_##F##_##T##_##C(const __grid_constant__ FullW2VArgs a) { \
		train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { return sentence<F, T, C>(a, epoch, first, kept, n, rate); }); \
	}

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
