// A warp, or a team of warps if rows are long, trains a sentence, window by window in order.
// The negatives of a window are shared by all its context words:
//
//	words: (V, N)  contexts: (V, N)
//	for each word t of the sentence:
//		L: rows of its context words   R: rows of its outputs, word t and K negatives
//		S = L R^T, G = rate (positive - sigmoid(S)), L += G R, R += G^T L
//
// FULL-W2V, FULL-Register, pWord2Vec, CBOW and the attraction of PAR-Word2Vec are this, with
// different windows, rows of context words (Lifetime, Passing), and products (window, mean, pairByPair).
//
// The rows of outputs are in registers for the window. L2 adds their changes to memory, so
// none is lost and none waits.
//
// The published codes have a thread block of N threads for a sentence, which needs
// barriers for its dots; a warp needs none, and many more sentences fit the chip. A
// warp waits for memory; so everything is asked for early: numbers of outputs windows
// before they are used, their rows one window before.
//
// Registers decide how many values of a row a warp has. Where they cannot hold the
// outputs of this window, their changes and the outputs of the next window, the last
// are brought into shared memory (staged); a spilled register had to wait for its row.
#pragma once
#include "products.cuh"

// The rows of a window are in slots of shared memory, one for each lane at most; slot number
// slots is zero. Lifetime and Passing bring them there:
//
//	begin says how often this lane's slot is a context word of the window of word t, and asks
//	memory for rows; arrive waits for those that this window needs; end is called behind the
//	window, finish behind that of word end-1, the last one. update makes a row new.

// Lifetime has the rows of context words in a ring from the window they enter to the window
// they leave (FULL-W2V, section 3.2).
template <int F, int E> struct Lifetime : Ring<F, E> {
	static constexpr __device__ int rowsOf(int radius) { return 2 * (2 * radius + 2) + 1; }
	const uint32_t *kept;
	int n, radius, into, from;
	uint32_t coming;
	Row<F, E> entering;

	__device__ __forceinline__ Lifetime(const SentenceArgs &a, const uint32_t *sentence, int count, float4 *memory, int chunk, float slowness = 1, int begin = 0)
		: Ring<F, E>{Chunks<F, E>(a.words, a.layout, chunk), a.shares, int(2 * a.radius + 2), int(2 * a.radius + 3)}, kept(sentence), n(count), radius(a.radius) {
		this->memory = memory;
		this->slow = slowness;
		this->clear();
		__syncwarp();
		for (int i = 0; i <= begin + radius && i < n; i++) // all on the way at once: a piece has few windows
			if (into = this->enter(kept[i], i); into >= 0) stageCurrent(this->words, kept[i], true, this->at(into));
		arrived();
		for (int slot = 0; slot <= 2 * radius + 1; slot++) this->store(this->rows + slot, this->load(slot));
		coming = kept[min(begin + radius + 1, n - 1)];
	}

	__device__ __forceinline__ int begin(int t, int width) {
		uint32_t word = coming;
		coming = kept[min(t + radius + 2, n - 1)];
		int times = this->times(around(t, width));
		into = t + radius + 1 < n ? this->enter(word, t + radius + 1) : -1;
		entering = loadCurrent(this->words, word, into >= 0);
		from = t >= radius ? this->leave(t - radius) : -1;
		return times;
	}
	__device__ __forceinline__ void arrive() {}
	__device__ __forceinline__ void end() {
		this->bring(into, entering);
		this->giveBack(from);
	}
	__device__ __forceinline__ void finish(int end) {
		for (int i = max(end - radius, 0); i < n; i++) this->giveBack(this->leave(i));
	}
};

// Passing reads the rows of context words for every window, and adds their changes behind it
// (FULL-Register, section 3.1): slot s has the context word number s of the window.
template <int F, int E> struct Passing {
	static constexpr __device__ int rowsOf(int radius) { return 2 * radius + 1; }
	Ring<F, E> rows;
	const uint32_t *kept;
	int n, radius, slots;
	uint32_t word, coming; // of this lane's slot, in this window and the next
	float share;
	bool here;

	__device__ __forceinline__ int place(int t) const { return t - radius + laneNumber() + (laneNumber() >= radius); }
	__device__ __forceinline__ uint32_t wordAt(int t) const { return kept[min(max(place(t), 0), n - 1)]; }

	__device__ __forceinline__ Passing(const SentenceArgs &a, const uint32_t *sentence, int count, float4 *memory, int chunk, float slowness = 1, int begin = 0)
		: rows{Chunks<F, E>(a.words, a.layout, chunk), a.shares, int(2 * a.radius), int(2 * a.radius + 1)}, kept(sentence), n(count), radius(a.radius), slots(2 * a.radius) {
		rows.memory = memory;
		rows.slow = slowness;
		rows.store(slots, zeros<F, E>());
		coming = wordAt(begin);
	}

	__device__ __forceinline__ int begin(int t, int) {
		word = coming;
		coming = wordAt(t + 1);
		here = laneNumber() < slots && place(t) >= 0 && place(t) < n;
		share = __ldg(rows.shares + word);
		for (unsigned rest = __ballot_sync(warp, here); rest; rest &= rest - 1) {
			int s = __ffs(rest) - 1;
			stageCurrent(rows.words, __shfl_sync(warp, word, s), true, rows.at(s));
		}
		return here;
	}
	__device__ __forceinline__ void arrive() { arrived(); }
	__device__ __forceinline__ Row<F, E> load(int slot) const { return rows.load(slot); }
	__device__ __forceinline__ void update(int slot, const Row<F, E> &old, Row<F, E> now) {
		add(now, -1, old);
		scale(now, fminf(1, __shfl_sync(warp, share, slot & 31) * rows.slow));
		addCurrent(rows.words, __shfl_sync(warp, word, slot & 31), now, slot < slots);
	}
	__device__ __forceinline__ void end() { __syncwarp(); }
	__device__ __forceinline__ void finish(int) {}
	__device__ __forceinline__ float4 *at(int slot) const { return rows.at(slot); }
	__device__ __forceinline__ int behind() const { return slots + 1; }
};

template <int F, int E> struct PairByPair : Lifetime<F, E> { using Lifetime<F, E>::Lifetime; };

// addChanges adds to the table the changes of a window's outputs r, or if bounded a part of each. The lanes have outputs and parts.
template <int S, bool bounded, int F, int E, int T, class Contexts>
__device__ __forceinline__ void addChanges(const Contexts &contexts, uint32_t now, const Row<F, E> (&r)[T], Row<F, E> (&added)[T], int width, float part, Dither &dither) {
	if (bounded && __ballot_sync(warp, part < 1)) {
#pragma unroll
		for (int k = 0; k < T; k++) scale(added[k], __shfl_sync(warp, part, k % S));
	}
#pragma unroll
	for (int k = 0; k < T; k++) addChange(contexts, __shfl_sync(warp, now, k % S), r[k], added[k], k < width, dither);
}

// askNext asks for the rows of the next window's outputs: to shared memory, or if early to r.
template <int S, bool stages, bool early, int F, int E, int T, class Contexts, class Rows>
__device__ __forceinline__ void askNext(Row<F, E> (&r)[T], const Contexts &contexts, Rows &rows, uint32_t soon, int width) {
#pragma unroll
	for (int k = 0; k < T; k++) {
		uint32_t output = __shfl_sync(warp, soon, k % S);
		if constexpr (stages)
			stageCurrent(contexts, output, k < width, rows.at(rows.behind() + k));
		else if constexpr (early)
			r[k] = loadCurrent(contexts, output, k < width);
	}
}

// takeNext sets r to the rows of the next window's outputs. It reads again those that were stale when they came.
template <int S, bool stages, bool early, int F, int E, int T, class Contexts, class Rows>
__device__ __forceinline__ void takeNext(Row<F, E> (&r)[T], Row<F, E> (&next)[T], const Contexts &contexts, const Rows &rows, uint32_t soon, unsigned stale, int width) {
#pragma unroll
	for (int k = 0; k < T; k++) {
		if constexpr (stages) next[k] = rows.load(rows.behind() + k);
		if (!early || stale >> k & 1) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k % S), k < width);
		r[k] = next[k];
	}
}

// sentence trains the windows of some of the words that subsampling has left of a sentence: see train. It
// returns this lane's part of the loss.
template <int F, int E, int T, int C, bool many, bool bounded, bool ofMean = false, class Rows = Lifetime<F, E>, class Contexts = Chunks<F, E>>
__device__ __forceinline__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, const Kept &extent, float rate) {
	int n = extent.n, from = extent.from, end = extent.end;
	constexpr int S = T == 1 ? 1 : Products<T, C>::stride;
	constexpr bool stages = staged<F, E, T, Contexts>, early = stages || ahead<F, E, T>;
	using Draw = Outputs<S>;
	int width = widthOf<T>(a), l = laneNumber();
	Team<F, E, T, C, many> team(Rows::rowsOf(a.radius) + (stages ? T : 0));
	int chunk = team.number * (4 * F + E); // first of this warp
	float slow = slowness<bounded>(a, rate);
	Rows rows(a, kept, n, team.memory, chunk, slow, from);
	Contexts contexts(a.contexts, a.layout, chunk);
	Dither dither = {randomBits(a.seed, streamNegatives, epoch, first + threadIdx.x) ^ threadIdx.x};
	Windows windows(a, kept, n, from);

	Draw draw;
	draw.begin(a, epoch, first, kept, from, n);
	uint32_t batch = draw.end(a, epoch); // outputs of this batch of windows
	float shares = contextShare<bounded>(a, batch);
	unsigned again = repeated<S>(batch, batch, width);
	draw.begin(a, epoch, first, kept, from + Draw::windows, n);
	uint32_t now = __shfl_sync(warp, batch, l % S); // outputs of this window
	Row<F, E> r[T];
#pragma unroll
	for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, __shfl_sync(warp, now, k % S), k < width);
	float loss = 0;
	for (int t = from; t < end;) {
		uint32_t batchNext = draw.end(a, epoch);
		unsigned againNext = repeated<S>(batchNext, batch, width);
		draw.begin(a, epoch, first, kept, t + 2 * Draw::windows, n);
#pragma unroll 1
		for (int j = 0; j < Draw::windows && t < end; j++, t++) {
			int times = rows.begin(t, windows.next(t));
			float share = bounded ? __shfl_sync(warp, shares, j * S + l % S) : 1; // of this lane's output
			bool last = j + 1 == Draw::windows;
			int after = last ? 0 : (j + 1) * S;
			uint32_t soon = __shfl_sync(warp, last ? batchNext : batch, after + l % S);
			unsigned stale = (last ? againNext : again) >> after; // rows that this window changes
			Row<F, E> added[T], next[T];
			askNext<S, stages, early>(next, contexts, rows, soon, width);
			rows.arrive();
			if constexpr (ofMean)
				loss += mean(a, team, rows, r, added, times, rate);
			else if constexpr (std::is_same_v<Rows, PairByPair<F, E>>)
				loss += pairByPair(a, team, rows, r, added, t, rate);
			else
				loss += window(a, team, rows, r, added, times, rate);
			addChanges<S, bounded>(contexts, now, r, added, width, contextPart(share, slow), dither);
			rows.end();
			if constexpr (stages) arrived();
			takeNext<S, stages, early>(r, next, contexts, rows, soon, stale, width);
			if constexpr (stages) __syncwarp(); // before other rows come there
			now = soon;
		}
		batch = batchNext;
		if constexpr (bounded) shares = contextShare<true>(a, batch);
		again = againNext;
	}
	rows.finish(end);
	return loss;
}

constexpr bool manyALONE = false, manyTEAM = true;

// WINDOWS defines a kernel, ALONE or TEAM, whose windows have a pair for each context word and
// output, and its bounded form.
#ifdef PIECES
#define WINDOWS(kind, name, F, E, T, C, warps, Rows) WINDOWS_FORM(kind, name, F, E, T, C, warps, Rows, true)
#else
#define WINDOWS(kind, name, F, E, T, C, warps, Rows) \
	WINDOWS_FORM(kind, name, F, E, T, C, warps, Rows, false) \
	WINDOWS_FORM(kind, name##_bounded, F, E, T, C, warps, Rows, true)
#endif
#define WINDOWS_FORM(kind, name, F, E, T, C, warps, Rows, bounded) \
	kind(name, warps, Trained{sentence<F, E, T, C, many##kind, bounded, false, Rows<F, E>>(a, epoch, first, kept, k, rate), contexts(a, kept, k) * (1 + a.negatives)})
