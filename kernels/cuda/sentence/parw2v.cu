// PAR-Word2Vec: first the attraction of all pairs of a sentence, then the repulsion of negatives,
// in batches of B words that share H negatives (sequential/parw2v.go has the same for the CPU).
//
//	words: (V, N)  contexts: (V, N)
//	attraction: the windows of windows.cuh without negatives
//	repulsion: for each B words b of the sentence:
//		draw c, and H = K c negatives n
//		for each 8 of them: G = -rate sigmoid(W_b C_n^T), W_b += G C_n, C_n += G^T W_b
//
// Eight negatives at a time meet the whole batch: their rows are in registers, and those of the
// batch, which they change, in shared memory, with the values that these came with behind them.
#include "windows.cuh"

// A Batch is in shared memory: its negatives, and its words, each once, with how often they are
// there. One warp fills it.
struct Batch {
	uint32_t *negatives, *words;
	float *times;
	int *count; // of words

	__device__ __forceinline__ Batch(const SentenceArgs &a, int places)
		: negatives(reinterpret_cast<uint32_t *>(shared)), words(negatives + a.perWindow),
		  times(reinterpret_cast<float *>(words + places)), count(reinterpret_cast<int *>(times + places)) {}
	static __device__ __forceinline__ int quads(const SentenceArgs &a, int places) { return a.perWindow / 4 + places / 2 + 1; }

	// draw draws H negatives, from number on.
	__device__ __forceinline__ void draw(const SentenceArgs &a, uint32_t epoch, uint64_t number, int H) {
#pragma unroll 1
		for (int h = laneNumber(); h < H; h += 32) {
			uint32_t bits = randomBits(a.seed, streamNegatives, epoch, number + h);
			uint4 alias = __ldg(&a.alias[__umulhi(bits, a.vocabulary)]);
			negatives[h] = bits * a.vocabulary < alias.x ? alias.y : alias.z;
		}
	}

	// negativeOf is such that lanes l and l + 8 know negative number u + l mod 8 of H and the one 8 behind it.
	__device__ __forceinline__ uint32_t negativeOf(int u, int H) const { return negatives[min(u + laneNumber() % 16, H - 1)]; }

	// take takes n words of a sentence.
	__device__ __forceinline__ void take(const uint32_t *sentence, int n) {
		int l = laneNumber(), found = 0;
#pragma unroll 1
		for (int i0 = 0; i0 < n; i0 += 32) {
			int i = i0 + l;
			uint32_t word = i < n ? sentence[i] : 0xffffffffu;
			unsigned same = __match_any_sync(warp, word);
			bool first = i < n && __ffs(same) - 1 == l;
#pragma unroll 1
			for (int j = 0; j < found; j++)
				if (first && words[j] == word) times[j] += __popc(same), first = false;
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

// meet trains the count rows of a batch, C at a time, with the T first of some negatives r, of
// which this lane's number l mod T counts so many times. It adds to the changes of r and returns
// this lane's part of the loss.
template <int T, int C, int F, class Team>
__device__ __forceinline__ float meet(Team &team, Ring<F> &rows, const Row<F> (&r)[8], Row<F> (&added)[8], float times, const float *timesOfRow, int count, float rate) {
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
		float score = sums<32>(x), none = 0, often = c0 + l / T < count ? times * timesOfRow[c0 + l / T] : 0;
		if constexpr (Team::several) team.sum(score, none);
		Logistic y = fastLogistic(score);
		loss += often * __logf(y.factor);
		__syncwarp();
		team.coefficients[l] = -rate * often * y.sigmoid;
		__syncwarp();
#pragma unroll
		for (int c = 0; c < C; c++) {
			Row<F> updated = left[c];
#pragma unroll
			for (int k = 0; k < T; k++) {
				float g = team.coefficients[c * T + k];
				add(updated, g, r[k]);
				add(added[k], g, left[c]);
			}
			rows.store(c0 + c, updated);
		}
	}
	return loss;
}

// giveBack adds to the words of a batch what changed since: changed and share are this lane's of the first 32 rows.
template <int F>
__device__ __forceinline__ void giveBack(const SentenceArgs &a, const Batch &words, const Ring<F> &rows, const Chunks<F> &table,
	int count, int places, float slow, uint32_t changed, float share) {
	for (int i = 0; i < count; i++) {
		int lane = i % 32;
		if (lane == 0 && i > 0) { // the next rows
			changed = words.words[min(i + laneNumber(), count - 1)];
			share = __ldg(a.shares + changed);
		}
		float part = fminf(1, __shfl_sync(warp, share, lane) * slow);
		Row<F> change = zeros<F>();
		add(change, part, rows.load(i));
		add(change, -part, rows.load(places + i));
		addCurrent(table, __shfl_sync(warp, changed, lane), change, true);
	}
}

// negatives trains the rows of a batch with its H negatives. It returns this lane's part of the loss.
template <int F, bool many>
__device__ __forceinline__ float negatives(const SentenceArgs &a, Team<F, 0, 8, 4, many> &team, const Batch &words, Ring<F> &rows,
	const Chunks<F> &contexts, Row<F> (&r)[8], uint32_t word, int H, int count, float rate, float slow) {
	constexpr int T = 8;
	int l = laneNumber();
	float loss = 0;
#pragma unroll 1
	for (int u = 0; u < H; u += T) {
		Row<F> added[T], next[T];
		int left = H - u;
#pragma unroll
		for (int k = 0; k < T; k++) {
			next[k] = loadCurrent(contexts, __shfl_sync(warp, word, T + k), T + k < left);
			added[k] = zeros<F>();
		}
		// A word that is drawn twice at a time is trained once and counts twice; if it is
		// among the next ones, its row there is read again.
		unsigned same = __match_any_sync(warp, l % 16 < left ? word : ~uint32_t(l)) & 0xffff;
		float times = l < T && l < left && __ffs(same) - 1 == l ? __popc(same & 0xff) : 0;
		unsigned stale = __ballot_sync(warp, l >= T && l < 2 * T && same & 0xff) >> T;
		unsigned wanted = __ballot_sync(warp, times > 0);
		float shareOfNegative = contextShare<true>(a, word);
		// The last few with half as many dots.
		if (left > 4)
			loss += meet<8, 4>(team, rows, r, added, __shfl_sync(warp, times, l % 8), words.times, count, rate);
		else
			loss += meet<4, 8>(team, rows, r, added, __shfl_sync(warp, times, l % 4), words.times, count, rate);
		if (float part = contextPart(shareOfNegative, slow); __ballot_sync(warp, part < 1)) {
#pragma unroll
			for (int k = 0; k < T; k++) scale(added[k], __shfl_sync(warp, part, k));
		}
#pragma unroll
		for (int k = 0; k < T; k++) addCurrent(contexts, __shfl_sync(warp, word, k), added[k], wanted >> k & 1);
#pragma unroll
		for (int k = 0; k < T; k++) {
			if (stale >> k & 1) next[k] = loadCurrent(contexts, __shfl_sync(warp, word, T + k), true);
			r[k] = next[k];
		}
		word = words.negativeOf(u + T, H);
	}
	return loss;
}

// repel is the repulsion of the batches of a sentence that begin with words from ... end-1.
template <int F, bool many>
__device__ __forceinline__ Trained repel(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, int from, int end, float rate) {
	constexpr int T = 8;
	int l = laneNumber(), batch = a.batch, places = (batch + 7) & ~7;
	float slow = slowness<true>(a, rate);
	Batch words(a, places);
	Team<F, 0, T, 4, many> team(2 * places, Batch::quads(a, places));
	int chunk = team.number * 4 * F; // first of this warp
	Chunks<F> table(a.words, a.layout, chunk), contexts(a.contexts, a.layout, chunk);
	Ring<F> rows = {table, a.shares, 0, 0}; // of the batch, then their values of before
	rows.memory = team.memory;
	Trained done = {0, 0};
#pragma unroll 1
	for (int b = from; b < end; b += batch) {
		uint64_t number = (first + b) * a.perWindow;
		int most = b < int(a.radius) || n - 1 - b < int(a.radius) ? a.radius : 2 * a.radius;
		int H = __reduce_max_sync(warp, a.negatives * (1 + __umulhi(randomBits(a.seed, streamNegatives, epoch, number), most)));
		together<many>(); // nobody needs what was there
		if (team.number == 0) words.take(kept + b, min(batch, n - b));
		together<many>();
		int count = __reduce_max_sync(warp, unsigned(*words.count));
		for (int i = 0; i < count; i++) stageCurrent(table, words.words[i], true, rows.at(i));
		for (int i = count; i < (count + 7 & ~7); i++) rows.store(i, zeros<F>());
		if (team.number == 0) words.draw(a, epoch, number + 1, H);
		together<many>();
		done.pairs += (unsigned long long)(min(batch, n - b)) * H;
		uint32_t changed = words.words[min(l, count - 1)]; // this lane's row, of 32
		float share = __ldg(a.shares + changed);

		uint32_t word = words.negativeOf(0, H);
		Row<F> r[T];
#pragma unroll
		for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, __shfl_sync(warp, word, k), k < H);
		arrived();
		for (int i = 0; i < count; i++) rows.store(places + i, rows.load(i));
		done.loss += negatives<F, many>(a, team, words, rows, contexts, r, word, H, count, rate, slow);
		giveBack(a, words, rows, table, count, places, slow, changed, share);
	}
	return done;
}

template <int F, int C, bool many>
__device__ __forceinline__ Trained attractAndRepel(const Args &a, uint32_t epoch, uint64_t first, const uint32_t *kept, const Kept &k, float rate) {
	Kept near = k;
	int from = 0;
	if constexpr (inPieces) {
		near.n = min(k.n, k.end + int(a.radius));
		from = k.from + (a.batch - (k.before + k.from) % a.batch) % a.batch; // the first batch that begins here
	}
	float loss = k.n < 2 ? 0 : sentence<F, 0, 1, C, many, true>(a, epoch, first, kept, near, rate);
	unsigned long long pairs = contexts(a, kept, k);
	together<many>();
	Trained done = repel<F, many>(a, epoch, first, kept, k.n, from, k.end, rate);
	together<many>();
	return Trained{loss + done.loss, pairs + done.pairs};
}

// For N up to 128, and for N up to 128 for each warp of a team, with attraction of C context words
// at a time. Nine single warps on a multiprocessor would have 168 registers each, three a
// scheduler, and spill.
#define PARW2V(C) \
	extern "C" __global__ void __launch_bounds__(32, 8) SENTENCE_KERNEL(parw2v_1_0_1_##C, train<1>, attractAndRepel<1, C, false>(a, epoch, first, kept, k, rate)) \
	extern "C" __global__ void __launch_bounds__(256) SENTENCE_KERNEL(parw2v_team_1_0_1_##C, trainBlock<1>, attractAndRepel<1, C, true>(a, epoch, first, kept, k, rate))

PARW2V(8)
PARW2V(10)
