// Several GPUs that share the rows of a model: GPU g of G trains the rows g, g + G, ... of a table and
// stores them into the memory of all, where both tables are whole. A GPU has moments, and
// other values that only the row itself needs, of its own rows only.
//
// Rows are trained as on one GPU, so the bits do not depend on G.
//
// A step reads what all GPUs wrote in the step before, and writes what that step read, so GPUs meet between two steps.
// The last thread block of a GPU tells the others that the GPU is done, and the thread blocks of the next step wait for that.
//
// The same sources make the kernels for one GPU and for several; SEVERAL says which.
#pragma once
#include <cstdint>

#ifndef SEVERAL
#define SEVERAL false
#endif

constexpr bool several = SEVERAL;
constexpr int mostOthers = 7;

// sharingArgs of group.go is the same.
struct Sharing {
	void *copies[mostOthers];     // left, on the other GPUs
	uint32_t *tag;                // of step 0 of the series
	uint32_t *blocks;             // thread blocks of this GPU that are done with the step
	const uint32_t *done;         // (others), here: the tag of the last step that another GPU is done with
	uint32_t *told[mostOthers];   // this GPU's place in done of the others
	uint32_t *lost[mostOthers + 1]; // set where a wait was given up: this GPU's, and the others'
	uint64_t patience;            // nanoseconds
	uint32_t number;              // of this step in the series
	uint32_t others;              // GPUs beside this one
	uint32_t shift, first, own;   // this GPU's row number j is first + (j << shift), and it has so many
	uint32_t unused;

	__device__ __forceinline__ uint32_t row(uint32_t j) const { return several ? first + (j << shift) : j; }
	// placeOf is the number of a row among this GPU's.
	__device__ __forceinline__ uint32_t placeOf(uint32_t row) const { return several ? row >> shift : row; }
};

// late reports whether waiting for other GPUs is in vain. until is when it is: 0 at first.
template <class Launch> __device__ __noinline__ bool late(const Launch &a, int gpus, uint64_t &until) {
	uint64_t now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	if (until == 0) until = now + a.patience;
	if (now < until && !*(volatile uint32_t *)a.lost[0]) return false;
	for (int i = 0; i < gpus; i++) *(volatile uint32_t *)a.lost[i] = 1;
	return true;
}

// awaitOther waits until another GPU has told a tag, or a later one.
__device__ __forceinline__ void awaitOther(const Sharing &s, uint32_t other, uint32_t tag) {
	if (*(volatile uint32_t *)s.lost[0]) return;
	uint32_t seen;
	uint64_t until = 0;
	for (uint32_t tries = 1;; tries++) {
		asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(s.done + other)) : "memory");
		if (int32_t(seen - tag) >= 0) break;
		if (tries % 1024 == 0 && late(s, s.others + 1, until)) break;
	}
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// awaitOthers waits until the other GPUs are done with the step before this one. All threads of the block call it.
__device__ __forceinline__ void awaitOthers(const Sharing &s) {
	if constexpr (!several) return;
	if (threadIdx.x < s.others) awaitOther(s, threadIdx.x, *s.tag + s.number - 1);
	__syncthreads();
}

// tellOthers is called by all threads of a block when they are done with the step. It returns true to one thread, of the last block.
__device__ __forceinline__ bool tellOthers(const Sharing &s) {
	if constexpr (!several) return false;
	__syncthreads();
	if (threadIdx.x) return false;
	asm volatile("fence.acq_rel.sys;" ::: "memory");
	if (atomicInc(s.blocks, gridDim.x - 1) < gridDim.x - 1) return false; // the last one makes it 0 again
	asm volatile("fence.acq_rel.sys;" ::: "memory");
	for (uint32_t i = 0; i < s.others; i++)
		asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(s.told[i])), "r"(*s.tag + s.number) : "memory");
	return true;
}
