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
