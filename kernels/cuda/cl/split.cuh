// What the kernels for several GPUs that share the dimensions have in common: see cl_split.cu.
#pragma once
#include "cl.cuh"
#include "meet.cuh"

#ifndef ONLY_SENDS
#define ONLY_SENDS false
#endif

constexpr int targetsOfPart = 8, mostPeers = mostOthers;
[[maybe_unused]] constexpr int mostTargets = 32; // of cl_bulk.cu
[[maybe_unused]] constexpr int fewTargets = 6;   // of a row: with five negatives

struct ClSplit {
	ClLaunch launch;               // quads: of a row on this GPU, columns: of all GPUs
	const uint32_t *before;        // steps before the series, and one
	uint32_t number;               // of this step in the series
	uint32_t messages;             // of a row: its targets, and for row-wise Adam one more
	const uint2 *inbox[mostPeers]; // (2, warps, GPUs, messages) of {number, tag}: of GPU g ^ (i + 1)
	uint2 *outbox[mostPeers];      // the place for this GPU's in the inbox of that one
	uint32_t *lost[mostPeers + 1]; // set where a wait was given up: this GPU's, and those of GPU g ^ i
	uint64_t patience;             // nanoseconds
	uint32_t hot;                  // so many rows of right stay in shared memory
	uint32_t byRows;               // inboxes are (rows, messages): GPUs of several processes
	uint32_t *told;                // how often warps told that they have only the last round of a step left, since the beginning
};

template <int gpus> struct Exchange {
	const ClSplit &a;
	uint32_t tag; // of the group of rows
	bool lost;    // some wait was given up: no other waits

	__device__ __forceinline__ Exchange(const ClSplit &a) : a(a), tag(0), lost(*(volatile uint32_t *)a.lost[0]) {}

	__device__ __forceinline__ void send(size_t at, float x) const {
#pragma unroll
		for (int i = 0; i < (ONLY_SENDS ? 1 : gpus - 1); i++)
			asm volatile("st.relaxed.sys.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(a.outbox[i] + at)), "r"(__float_as_uint(x)), "r"(tag) : "memory");
	}

	// receive adds to x the numbers of the other GPUs.
	__device__ __forceinline__ float receive(size_t at, float x) {
		float p[gpus];
		uint64_t until = 0;
		for (uint32_t tries = 1;; tries++) {
			bool all = true;
#pragma unroll
			for (int i = 0; i < gpus - 1; i++) {
				uint32_t value, step;
				asm volatile("ld.relaxed.sys.global.v2.u32 {%0, %1}, [%2];" : "=r"(value), "=r"(step) : "l"(__cvta_generic_to_global(a.inbox[i] + at)) : "memory");
				p[i + 1] = __uint_as_float(value);
				all = all && step == tag;
			}
			if (all || lost) break;
			if (tries % 1024 == 0) lost = late(a, gpus, until);
		}
		p[0] = x;
#pragma unroll
		for (int d = gpus / 2; d; d /= 2)
#pragma unroll
			for (int i = 0; i < d; i++) p[i] += p[i + d];
		return p[0];
	}
};

// A PartOfRow is WholeRow for L lanes of this GPU and the others.
template <int L> struct PartOfRow {
	Exchange<32 / L> &exchange;
	size_t at;
	bool live;

	__device__ __forceinline__ float sum(float x) const {
		x = ::sum<L>(x);
		if (laneNumber() % L == 0 && live) {
			exchange.send(at, x);
			x = exchange.receive(at, x);
		}
		return __shfl_sync(warp, x, 0, L);
	}
	__device__ __forceinline__ bool writes() const { return laneNumber() % L == 0 && live; }
};

// The logistic function and the logarithm are those of the kernel for one GPU that has rows of so many targets.
__device__ __forceinline__ Logistic logisticOf(float score, uint32_t targets) {
#if __CUDA_ARCH__ >= 900
	if (targets <= mostTargets) return fastLogistic(score); // as cl_bulk.cu
#endif
	return logistic(score);
}

__device__ __forceinline__ float logarithmOf(float x, uint32_t targets) {
#if __CUDA_ARCH__ >= 900
	if (targets <= mostTargets) return __logf(x);
#endif
	return logf(x);
}

// Draws are some targets of a row, with the lane that asks for them: number first and those behind it. begin asks for what they
// follow from, end knows them. Neither branches: lanes whose targets come otherwise would wait for each other's.
template <int held> struct Draws {
	uint32_t first, bits[held], target[held];
	uint2 alias[held];

	// begin takes row i. Behind its last target are others, of no effect. The positive is half of a pair of columns, so that
	// there is one load for all.
	__device__ __forceinline__ void begin(const ClLaunch &a, const ClStep &s, uint32_t i, uint32_t number) {
		const ClTable &t = a.table;
		const uint64_t column = reinterpret_cast<uint64_t>(a.column + i);
		first = number;
#pragma unroll
		for (int h = 0; h < held; h++) {
			const uint32_t k = number + h;
			bits[h] = randomBits(t.seed, streamNegatives, s.stream, uint64_t(i) * t.negatives + k - 1);
			bits[h] = k == 0 ? uint32_t(column) & 4 : k <= t.negatives ? bits[h] : 0;
			alias[h] = __ldg(k == 0 ? reinterpret_cast<const uint2 *>(column & ~uint64_t(7)) : t.alias + __umulhi(bits[h], t.rows));
		}
	}

	__device__ __forceinline__ void end(const ClTable &t) {
#pragma unroll
		for (int h = 0; h < held; h++) {
			const bool positive = first + h == 0, one = positive ? bits[h] == 0 : bits[h] * t.rows < alias[h].x;
			target[h] = !one ? alias[h].y : positive ? alias[h].x : __umulhi(bits[h], t.rows);
		}
	}

	// row returns the row of right of a target: a row without contexts takes one, of no effect.
	__device__ __forceinline__ uint32_t row(int h) const { return target[h] == noContext ? 0 : target[h]; }
};
