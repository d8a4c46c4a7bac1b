// All kernels of sentence-ordered modes share this file: their arguments, subsampling, windows,
// the drawing of outputs, the ring of context rows, and the loop over sentences.
//
// All branches are uniform: their conditions come from votes and reductions, which the
// compiler knows to be the same in all lanes.
#pragma once
#include "philox.cuh"
#include "rows.cuh"

struct SentenceArgs {
	float4 *words;             // (vocabulary, quads), in chunks: see Chunks
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
	uint32_t vocabulary, quads, negatives;
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
__device__ __forceinline__ Kept subsamplePiece(const SentenceArgs &a, uint32_t epoch, uint64_t first, int from, int to, int count, uint32_t *kept) {
	constexpr int together = 4; // times 32 tokens, whose loads are under way at a time
	Kept k = {0, 0, 0, 0};
	for (int i0 = 0; i0 < count && (i0 < to || k.n < k.end + int(a.radius)); i0 += 32 * together) {
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
	k.n = min(k.n, k.end + int(a.radius)) - k.before;
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

extern __shared__ float4 shared[]; // begins with the ring

// A Ring holds the rows of a window, or this warp's part of them, padded with zeros
// to 32 F + 8 E quads, in shared memory: (rows, 32 F + 8 E + pad). Lane s knows slot
// s; lane p knows the slot of the word at the places of the sentence that are p
// modulo 32. Rows behind the last slot stay zero.
//
// The rows as they came lie behind the ring: a frequent word is in many rings at once,
// so only the change goes back, or the word's share of it.
template <int F, int E = 0, int pad = 0> struct Ring {
	static constexpr int stride = 32 * F + 8 * E + pad; // quads from a row to the next
	Chunks<F, E> words;
	const float *shares;
	int slots, rows;
	uint32_t word; // of this lane's slot
	float share;
	unsigned places; // bits of those, modulo 32, that have it; 0: free
	int slotOf;
	float4 *memory = shared;
	float slow = 1; // see slowness

	__device__ __forceinline__ float4 *at(int slot) const { return memory + slot * stride; }
	__device__ __forceinline__ float *values(int slot) const { return reinterpret_cast<float *>(at(slot) + 32 * F); }

	__device__ __forceinline__ Row<F, E> load(int slot) const {
		Row<F, E> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = at(slot)[f * 32 + laneNumber()];
		if constexpr (E > 0)
#pragma unroll
			for (int e = 0; e < E; e++) r.w[e] = values(slot)[e * 32 + laneNumber()];
		return r;
	}

	__device__ __forceinline__ void store(int slot, const Row<F, E> &r) {
#pragma unroll
		for (int f = 0; f < F; f++) at(slot)[f * 32 + laneNumber()] = r.v[f];
		if constexpr (E > 0)
#pragma unroll
			for (int e = 0; e < E; e++) values(slot)[e * 32 + laneNumber()] = r.w[e];
	}

	__device__ __forceinline__ void clear() {
		word = places = slotOf = 0;
		for (int slot = 0; slot < rows; slot++) store(slot, zeros<F, E>());
	}

	__device__ __forceinline__ int slot(int i) const { return __shfl_sync(warp, slotOf, i & 31); }

	// enter counts word i of the sentence in. It returns the slot into which its row has to
	// be brought, or -1 if the row is here.
	__device__ __forceinline__ int enter(uint32_t w, int i) {
		unsigned here = __ballot_sync(warp, places && word == w);
		int slot = __ffs(here ? here : __ballot_sync(warp, laneNumber() < slots && places == 0)) - 1;
		if (laneNumber() == slot) {
			if (!here) share = __ldg(shares + w); // used when it leaves: nothing waits for it
			word = w;
			places |= 1u << (i & 31);
		}
		if (laneNumber() == (i & 31)) slotOf = slot;
		return here ? -1 : slot;
	}

	// bring stores the row of a word that entered.
	__device__ __forceinline__ void bring(int slot, const Row<F, E> &row) {
		if (slot < 0) return;
		store(slot, row);
		store(rows + slot, row);
	}

	// leave counts word i of the sentence out. It returns the slot whose row has to go
	// back, or -1 if another place still has the word.
	__device__ __forceinline__ int leave(int i) {
		bool mine = laneNumber() == slot(i);
		if (mine) places &= ~(1u << (i & 31));
		return __ffs(__ballot_sync(warp, mine && places == 0)) - 1;
	}

	// giveBack adds the change to the row of a word that left.
	__device__ __forceinline__ void giveBack(int slot) {
		if (slot < 0) return;
		uint32_t w = __shfl_sync(warp, word, slot);
		float part = fminf(1, __shfl_sync(warp, share, slot) * slow);
		Row<F, E> change = zeros<F, E>();
		add(change, part, load(slot));
		add(change, -part, load(rows + slot));
		addCurrent(words, w, change, true);
	}

	// times says how often this lane's slot is among the places of a mask.
	__device__ __forceinline__ int times(unsigned mask) const { return __popc(places & mask); }

	// update makes a row of this window, which was old, new.
	__device__ __forceinline__ void update(int slot, const Row<F, E> &, const Row<F, E> &now) { store(slot, now); }

	// behind is the number of the first row behind the ring.
	__device__ __forceinline__ int behind() const { return rows + slots; }
};

// pair makes a pair's score its coefficient and returns its loss. times is how
// often the context word is in the window.
__device__ __forceinline__ float pair(float &score, int k, int width, float times, float rate) {
	Logistic y = fastLogistic(k == 0 ? -score : score);
	float step = k < width ? times * rate * y.sigmoid : 0;
	score = k == 0 ? step : -step;
	return k < width ? times * __logf(y.factor) : 0;
}

// Bounded kernels add less of a change where that would be too much: see shares.go. Those
// that are not are for learning rates and words of which all is sound, and need fewer registers.

// slowness is the part that a learning rate leaves of shares of W; of those of C its cube.
template <bool bounded> __device__ __forceinline__ float slowness(const SentenceArgs &a, float rate) {
	return bounded ? fminf(1, __fdividef(a.soundRate, rate)) : 1;
}

// contextShare asks memory for a word's share of C.
template <bool bounded> __device__ __forceinline__ float contextShare(const SentenceArgs &a, uint32_t word) {
	return bounded ? __ldg(a.contextShares + word) : 1;
}

// contextPart returns the part of a change of a row of C that is added, of its share.
__device__ __forceinline__ float contextPart(float share, float slowness) { return fminf(1, share * slowness * slowness * slowness); }

// Trained is what a sentence was: this lane's part of the loss, and the number of pairs.
struct Trained {
	float loss;
	unsigned long long pairs;
};

// contexts counts the context words of all windows of a sentence of n words.
__device__ __forceinline__ unsigned long long contexts(const SentenceArgs &a, const uint32_t *kept, int n) {
	if (!a.dynamic) {
		long long h = min(int(a.radius), n - 1); // the farthest
		return n < 2 ? 0 : 2 * (h * n - h * (h + 1) / 2);
	}
	unsigned count = 0;
	for (int t = laneNumber(); t < n; t += 32) {
		int width = kept[a.longest + t];
		count += min(width, t) + min(width, n - 1 - t);
	}
	return __reduce_add_sync(warp, count);
}

// contexts counts those of a piece.
__device__ __forceinline__ unsigned long long contexts(const SentenceArgs &a, const uint32_t *kept, const Kept &k) {
	unsigned count = 0;
	for (int t = k.from + laneNumber(); t < k.end; t += 32) {
		int width = a.dynamic ? kept[a.longest + t] : a.radius;
		count += min(width, t) + min(width, k.n - 1 - t);
	}
	return __reduce_add_sync(warp, count);
}

// finish adds a sentence's loss, the sum over the warp, and its pairs to its unit's.
__device__ __forceinline__ void finish(const SentenceArgs &a, uint32_t unit, Trained done) {
	float loss = sum(done.loss);
	if (laneNumber() == 0) {
		atomicAdd(&a.losses[unit], double(loss));
		atomicAdd(&a.pairs[unit], done.pairs);
	}
}

// A Turn is a sentence of the text, when its turn comes.
//
// Neighbouring sentences share their rare words: an article is longer than a sentence. Trained at
// the same time, they all would change rows that they have read before the others did. So a.apart
// stretches of the text are trained side by side, as threads of the CPU have shares of their
// own: the first sentence of each, then the second of each. The unit of a turn, and so its learning
// rate, goes by the order of training.
struct Turn {
	uint32_t epoch, sentence, unit;

	// Number taken of this launch. Every sentence has its turn in the epoch's part of a launch.
	__device__ __forceinline__ Turn(const SentenceArgs &a, uint32_t taken) {
		uint64_t number = a.first + taken;
		epoch = number / a.count;
		uint64_t begin = max(a.first, uint64_t(epoch) * a.count), end = min(a.first + a.all, uint64_t(epoch + 1) * a.count);
		uint32_t i = number - begin, length = uint32_t(end - begin) / a.apart;
		if (i < length * a.apart) i = i % a.apart * length + i / a.apart;
		sentence = begin - uint64_t(epoch) * a.count + i;
		unit = epoch * a.units + a.unitOf[number % a.count];
	}
};

// train takes sentences until there are none left. sentence(epoch, first, kept, n, rate)
// trains the n words that subsampling has left of the sentence that begins with token first
// of the text. Sentences of fewer than least words are left out.
template <int least = 2, class Sentence> __device__ __forceinline__ void train(const SentenceArgs &a, Sentence sentence) {
	uint32_t *kept = a.kept + size_t(blockIdx.x) * 2 * a.longest;
	for (;;) {
		uint32_t taken = 0;
		if (laneNumber() == 0) taken = atomicAdd(a.next, 1u);
		taken = __reduce_max_sync(warp, taken);
		if (taken >= a.all) break;
		Turn turn(a, taken);
		uint64_t first = a.sentences[turn.sentence];
		int n = subsample(a, turn.epoch, first, __reduce_max_sync(warp, uint32_t(a.sentences[turn.sentence + 1] - first)), kept);
		if (n >= least) finish(a, turn.unit, sentence(turn.epoch, first, kept, n, a.rates[turn.unit]));
		__syncwarp();
	}
}

// trainBlock is train for a thread block whose warps train a sentence together.
template <int least = 2, class Sentence> __device__ __forceinline__ void trainBlock(const SentenceArgs &a, Sentence sentence) {
	__shared__ uint32_t next, left;
	uint32_t *kept = a.kept + size_t(blockIdx.x) * 2 * a.longest;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) next = atomicAdd(a.next, 1u);
		__syncthreads();
		uint32_t taken = __reduce_max_sync(warp, next);
		if (taken >= a.all) break;
		Turn turn(a, taken);
		uint64_t first = a.sentences[turn.sentence];
		if (threadIdx.x < 32) {
			int n = subsample(a, turn.epoch, first, __reduce_max_sync(warp, uint32_t(a.sentences[turn.sentence + 1] - first)), kept);
			if (threadIdx.x == 0) left = n;
		}
		__syncthreads();
		int n = __reduce_max_sync(warp, left);
		if (n < least) continue;
		Trained done = sentence(turn.epoch, first, kept, n, a.rates[turn.unit]);
		if (threadIdx.x < 32) finish(a, turn.unit, done);
	}
}

// keptOfPiece subsamples the piece of a turn, and makes first the first token of its sentence.
__device__ __forceinline__ Kept keptOfPiece(const PieceArgs &a, const Turn &turn, uint64_t &first, uint32_t *kept) {
	uint2 around = a.around[turn.sentence];
	int before = __reduce_max_sync(warp, around.x), behind = __reduce_max_sync(warp, around.y);
	int count = __reduce_max_sync(warp, uint32_t(a.sentences[turn.sentence + 1] - first));
	first -= before;
	return subsamplePiece(a, turn.epoch, first, before, before + count, before + count + behind, kept);
}

// trainPieces is train for pieces of sentences: piece(epoch, first, kept, k, rate) trains the windows of
// the words k.from ... k.end-1 of a piece, whose word 0 is number first of the text, but for subsampling.
// A short unit has few sentences, and many pieces. A piece trains what it is of its sentence.
template <class Piece> __device__ __forceinline__ void trainPieces(const PieceArgs &a, Piece piece) {
	uint32_t *kept = a.kept + size_t(blockIdx.x) * 2 * a.longest;
	for (;;) {
		uint32_t taken = 0;
		if (laneNumber() == 0) taken = atomicAdd(a.next, 1u);
		taken = __reduce_max_sync(warp, taken);
		if (taken >= a.all) break;
		Turn turn(a, taken);
		uint64_t first = a.sentences[turn.sentence];
		Kept k = keptOfPiece(a, turn, first, kept);
		if (k.n >= 2 && k.from < k.end) finish(a, turn.unit, piece(turn.epoch, first + k.before, kept + k.before, k, a.rates[turn.unit]));
		__syncwarp();
	}
}

// trainPiecesBlock is trainPieces for a thread block whose warps train a piece together.
template <class Piece> __device__ __forceinline__ void trainPiecesBlock(const PieceArgs &a, Piece piece) {
	__shared__ uint32_t next;
	__shared__ Kept left;
	uint32_t *kept = a.kept + size_t(blockIdx.x) * 2 * a.longest;
	for (;;) {
		__syncthreads();
		if (threadIdx.x == 0) next = atomicAdd(a.next, 1u);
		__syncthreads();
		uint32_t taken = __reduce_max_sync(warp, next);
		if (taken >= a.all) break;
		Turn turn(a, taken);
		uint64_t first = a.sentences[turn.sentence];
		if (threadIdx.x < 32) {
			uint64_t begin = first;
			Kept k = keptOfPiece(a, turn, begin, kept);
			if (threadIdx.x == 0) left = k;
		}
		__syncthreads();
		first -= a.around[turn.sentence].x;
		Kept k = {int(__reduce_max_sync(warp, uint32_t(left.n))), int(__reduce_max_sync(warp, uint32_t(left.from))), int(__reduce_max_sync(warp, uint32_t(left.end))), int(__reduce_max_sync(warp, uint32_t(left.before)))};
		if (k.n < 2 || k.from >= k.end) continue;
		Trained done = piece(turn.epoch, first + k.before, kept + k.before, k, a.rates[turn.unit]);
		if (threadIdx.x < 32) finish(a, turn.unit, done);
	}
}

// ALONE and TEAM define a kernel: a warp, or all warps of a thread block, train a sentence as an
// expression says that returns Trained, of a, epoch, first, kept, n and rate. So many single warps
// must fit on a multiprocessor; a team has so many at most.
#define SENTENCE_KERNEL(name, train, ...) \
	name(const __grid_constant__ SentenceArgs a) { \
		train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { return __VA_ARGS__; }); \
	}
#define ALONE(name, warps, ...) extern "C" __global__ void __launch_bounds__(32, warps) SENTENCE_KERNEL(name, train, __VA_ARGS__)
#define TEAM(name, warps, ...) extern "C" __global__ void __launch_bounds__(32 * warps) SENTENCE_KERNEL(name, trainBlock, __VA_ARGS__)
