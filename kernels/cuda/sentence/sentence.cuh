// All kernels of sentence-ordered modes share this file and what it includes: words.cuh, which has their
// arguments and what they take from the text, and ring.cuh, the rows in a window. Here is the loop
// over sentences.
//
// All branches are uniform: their conditions come from votes and reductions, which the
// compiler knows to be the same in all lanes.
#pragma once
#include "ring.cuh"

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

// contexts counts those of what is trained of a sentence.
__device__ __forceinline__ unsigned long long contexts(const SentenceArgs &a, const uint32_t *kept, const Kept &k) { return contexts(a, kept, k.n); }
__device__ __forceinline__ unsigned long long contexts(const PieceArgs &a, const uint32_t *kept, const Kept &k) {
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

// beginning is the first token of a sentence, or of the sentence that a piece is of.
__device__ __forceinline__ uint64_t beginning(const SentenceArgs &a, uint32_t sentence) { return a.sentences[sentence]; }
__device__ __forceinline__ uint64_t beginning(const PieceArgs &a, uint32_t piece) { return a.sentences[piece] - a.around[piece].x; }

// keptOf subsamples a sentence that begins with token first of the text, or a piece of it.
__device__ __forceinline__ Kept keptOf(const SentenceArgs &a, uint32_t epoch, uint32_t sentence, uint64_t first, uint32_t *kept) {
	int n = subsample(a, epoch, first, __reduce_max_sync(warp, uint32_t(a.sentences[sentence + 1] - first)), kept);
	return {n, 0, n, 0};
}
__device__ __forceinline__ Kept keptOf(const PieceArgs &a, uint32_t epoch, uint32_t piece, uint64_t first, uint32_t *kept) {
	uint2 around = a.around[piece];
	int before = __reduce_max_sync(warp, around.x), behind = __reduce_max_sync(warp, around.y);
	int end = __reduce_max_sync(warp, uint32_t(a.sentences[piece + 1] - first));
	return subsamplePiece(a, epoch, first, before, end, end + behind, kept);
}

// train takes sentences until there are none left. sentence(epoch, first, kept, k, rate) trains the windows of
// the words k.from ... k.end-1 of those that subsampling has left of a sentence, whose word 0 is number first
// of the text, but for subsampling: all, or those of a piece. Sentences of fewer than least words are left out.
template <int least = 2, class Args, class Sentence> __device__ __forceinline__ void train(const Args &a, Sentence sentence) {
	uint32_t *kept = a.kept + size_t(blockIdx.x) * 2 * a.longest;
	for (;;) {
		uint32_t taken = 0;
		if (laneNumber() == 0) taken = atomicAdd(a.next, 1u);
		taken = __reduce_max_sync(warp, taken);
		if (taken >= a.all) break;
		Turn turn(a, taken);
		uint64_t first = beginning(a, turn.sentence);
		Kept k = keptOf(a, turn.epoch, turn.sentence, first, kept);
		if (k.n >= least && k.from < k.end) finish(a, turn.unit, sentence(turn.epoch, first + k.before, kept + k.before, k, a.rates[turn.unit]));
		__syncwarp();
	}
}

// ofAll is what one lane wrote for all lanes.
__device__ __forceinline__ int ofAll(int x) { return __reduce_max_sync(warp, unsigned(x)); }
__device__ __forceinline__ Kept ofAll(const SentenceArgs &, const Kept &k) {
	int n = ofAll(k.n);
	return {n, 0, n, 0};
}
__device__ __forceinline__ Kept ofAll(const PieceArgs &, const Kept &k) { return {ofAll(k.n), ofAll(k.from), ofAll(k.end), ofAll(k.before)}; }

// trainBlock is train for a thread block whose warps train a sentence together.
template <int least = 2, class Args, class Sentence> __device__ __forceinline__ void trainBlock(const Args &a, Sentence sentence) {
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
		uint64_t first = beginning(a, turn.sentence);
		if (threadIdx.x < 32) {
			Kept k = keptOf(a, turn.epoch, turn.sentence, first, kept);
			if (threadIdx.x == 0) left = k;
		}
		__syncthreads();
		Kept k = ofAll(a, left);
		if (k.n < least || k.from >= k.end) continue;
		Trained done = sentence(turn.epoch, first + k.before, kept + k.before, k, a.rates[turn.unit]);
		if (threadIdx.x < 32) finish(a, turn.unit, done);
	}
}

// A source that defines PIECES has the kernels of a mode, under the same names, for pieces of sentences: composed rows
// have short units, of so few sentences that most of a GPU would be idle. They have bounded forms only.
#ifdef PIECES
constexpr bool inPieces = true;
using Args = PieceArgs;
#else
constexpr bool inPieces = false;
using Args = SentenceArgs;
#endif

// ALONE and TEAM define a kernel: a warp, or all warps of a thread block, train a sentence as an
// expression says that returns Trained, of a, epoch, first, kept, k, n (that of k) and rate. So many single warps
// must fit on a multiprocessor; a team has so many at most.
#define SENTENCE_KERNEL(name, train, ...) \
	name(const __grid_constant__ Args a) { \
		train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, const Kept &k, float rate) { \
			[[maybe_unused]] int n = k.n; \
			return __VA_ARGS__; \
		}); \
	}
#define ALONE(name, warps, ...) extern "C" __global__ void __launch_bounds__(32, warps) SENTENCE_KERNEL(name, train, __VA_ARGS__)
#define TEAM(name, warps, ...) extern "C" __global__ void __launch_bounds__(32 * warps) SENTENCE_KERNEL(name, trainBlock, __VA_ARGS__)
