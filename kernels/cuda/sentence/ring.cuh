// The ring of context rows, and how a pair changes rows.
#pragma once
#include "rows.cuh"
#include "words.cuh"

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
