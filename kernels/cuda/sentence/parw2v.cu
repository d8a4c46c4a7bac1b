// PAR-Word2Vec: first the attraction of all pairs of a sentence, then the repulsion of negatives,
// in batches of B words that share H negatives (sequential/parw2v.go has the same for the CPU).
//
//	words: (V, N)  contexts: (V, N)
//	attraction: the windows of windows.cuh without negatives
//	repulsion: for each B words b of the sentence:
//		draw c, and H = K c negatives n
//		G = -rate sigmoid(W_b C_n^T), W_b += G C_n, C_n += G^T W_b
//
// The rows of a batch and their changes are in shared memory. Eight negatives at a time are in
// registers and meet the whole batch, so their rows are read and added to once. A word that is
// drawn several times is there once, and counts as often.
#include "windows.cuh"

// Negatives are those of a batch, in shared memory: each word once, with how often it was drawn.
struct Negatives {
	uint32_t *words;
	float *times;
	int *count;

	__device__ __forceinline__ Negatives(const SentenceArgs &a)
		: words(reinterpret_cast<uint32_t *>(shared)), times(reinterpret_cast<float *>(words + a.perWindow)), count(reinterpret_cast<int *>(times + a.perWindow)) {}
	static __device__ __forceinline__ int quads(const SentenceArgs &a) { return a.perWindow / 2 + 1; }

	// draw draws H of them, from number on. One warp calls it.
	__device__ __forceinline__ void draw(const SentenceArgs &a, uint32_t epoch, uint64_t number, int H) {
		int l = laneNumber(), found = 0;
#pragma unroll 1
		for (int h = 0; h < H; h += 32) {
			uint32_t bits = randomBits(a.seed, streamNegatives, epoch, number + h + l);
			uint4 alias = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
			uint32_t word = h + l >= H ? 0xffffffffu : bits * a.vocabulary < alias.x ? alias.y : alias.z;
			unsigned same = __match_any_sync(warp, word);
			bool first = h + l < H && __ffs(same) - 1 == l;
#pragma unroll 1
			for (int i = 0; i < found; i++)
				if (first && words[i] == word) times[i] += __popc(same), first = false;
			unsigned fresh = __ballot_sync(warp, first);
			int to = found + __popc(fresh & ((1u << l) - 1));
			if (first) words[to] = word, times[to] = __popc(same);
			found += __popc(fresh);
			__syncwarp();
		}
		if (l == 0) *count = found;
	}
};

template <bool many> __device__ __forceinline__ void together() {
	if constexpr (many)
		__syncthreads();
	else
		__syncwarp();
}

// meet trains the rows of a batch, C at a time, with the T first of some negatives r, of which
// this lane's number l mod T counts so many times. It adds to the changes of both and returns this
// lane's part of the loss.
template <int T, int C, int F, class Team>
__device__ __forceinline__ float meet(Team &team, Ring<F> &rows, const Row<F> (&r)[8], Row<F> (&added)[8], float times, int count, int places, float rate) {
	static_assert(T * C == 32, "a dot for each lane");
	int l = laneNumber();
	float loss = 0;
#pragma unroll 1
	for (int c0 = 0; c0 < count; c0 += C) {
		Row<F> left[C];
		float x[32];
#pragma unroll
		for (int c = 0; c < C; c++) left[c] = rows.load(c0 + c);
#pragma unroll
		for (int i = 0; i < 32; i++) x[i] = partial(left[i / T], r[i % T]);
		float score = sums<32>(x), none = 0, often = c0 + l / T < count ? times : 0;
		if constexpr (Team::several) team.sum(score, none);
		Logistic y = fastLogistic(score);
		loss += often * __logf(y.factor);
		__syncwarp();
		team.coefficients[l] = -rate * often * y.sigmoid;
		__syncwarp();
#pragma unroll
		for (int c = 0; c < C; c++) {
			Row<F> change = rows.load(places + c0 + c);
#pragma unroll
			for (int k = 0; k < T; k++) {
				float g = team.coefficients[c * T + k];
				add(change, g, r[k]);
				add(added[k], g, left[c]);
			}
			rows.store(places + c0 + c, change);
		}
	}
	return loss;
}

// repel is the repulsion of a sentence.
template <int F, bool many>
__device__ __forceinline__ Trained repel(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	constexpr int T = 8;
	int l = laneNumber(), batch = a.batch, places = (batch + 7) & ~7;
	Negatives negatives(a);
	Team<F, 0, T, 4, many> team(2 * places, Negatives::quads(a));
	int chunk = team.number * 4 * F; // first of this warp
	Chunks<F> words(a.words, a.vocabulary, a.quads, chunk), contexts(a.contexts, a.vocabulary, a.quads, chunk);
	Ring<F> rows = {words, a.shares, 0, 0}; // the batch, then its changes
	rows.memory = team.memory;
	Trained done = {0, 0};
#pragma unroll 1
	for (int b = 0; b < n; b += batch) {
		int count = min(batch, n - b);
		together<many>(); // nobody needs what was there
		for (int i = 0; i < places; i++) {
			if (i < count)
				stageCurrent(words, kept[b + i], true, rows.at(i));
			else
				rows.store(i, zeros<F>());
			rows.store(places + i, zeros<F>());
		}
		uint64_t number = (first + b) * a.perWindow;
		int most = b < int(a.radius) || n - 1 - b < int(a.radius) ? a.radius : 2 * a.radius;
		int H = a.negatives * (1 + __umulhi(randomBits(a.seed, streamNegatives, epoch, number), most));
		if (team.number == 0) negatives.draw(a, epoch, number + 1, H);
		arrived();
		together<many>();
		int found = __reduce_max_sync(warp, unsigned(*negatives.count));
		done.pairs += (unsigned long long)(count) * H;

		Row<F> r[T];
#pragma unroll
		for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, negatives.words[min(k, found - 1)], k < found);
#pragma unroll 1
		for (int u = 0; u < found; u += T) {
			Row<F> added[T], next[T];
#pragma unroll
			for (int k = 0; k < T; k++) {
				next[k] = loadCurrent(contexts, negatives.words[min(u + T + k, found - 1)], u + T + k < found);
				added[k] = zeros<F>();
			}
			// The last few with half as many dots.
			if (int left = found - u; left > 4)
				done.loss += meet<8, 4>(team, rows, r, added, l % 8 < left ? negatives.times[u + l % 8] : 0, count, places, rate);
			else
				done.loss += meet<4, 8>(team, rows, r, added, l % 4 < left ? negatives.times[u + l % 4] : 0, count, places, rate);
#pragma unroll
			for (int k = 0; k < T; k++) {
				addCurrent(contexts, negatives.words[min(u + k, found - 1)], added[k], u + k < found);
				r[k] = next[k];
			}
		}
		for (int i = 0; i < count; i++) {
			uint32_t word = kept[b + i];
			Row<F> change = zeros<F>();
			add(change, __ldg(a.shares + word), rows.load(places + i));
			addCurrent(words, word, change, true);
		}
	}
	return done;
}

template <int F, bool many>
__device__ __forceinline__ Trained attractAndRepel(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	float loss = n < 2 ? 0 : sentence<F, 0, 1, 8, many>(a, epoch, first, kept, n, rate);
	unsigned long long pairs = contexts(a, kept, n);
	together<many>();
	Trained done = repel<F, many>(a, epoch, first, kept, n, rate);
	together<many>();
	return Trained{loss + done.loss, pairs + done.pairs};
}

// For N up to 128, and for N up to 128 for each warp of a team.
extern "C" __global__ void __launch_bounds__(32, 8) parw2v_1_0_1_8(const __grid_constant__ SentenceArgs a) {
	train<1>(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { return attractAndRepel<1, false>(a, epoch, first, kept, n, rate); });
}
extern "C" __global__ void __launch_bounds__(256) parw2v_team_1_0_1_8(const __grid_constant__ SentenceArgs a) {
	trainBlock<1>(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { return attractAndRepel<1, true>(a, epoch, first, kept, n, rate); });
}
