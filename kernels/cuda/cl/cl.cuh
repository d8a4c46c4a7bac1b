// Shared by the kernels of a step of W2V-CL: step.cuh has the step for all settings, columns.cu a faster one for some.
#pragma once
#include "launch.cuh"
#include "methods.cuh"
#include "philox.cuh"

// noContext is the positive of a row that trains on nothing: its gradient is zero.
constexpr uint32_t noContext = 0xffffffffu;

// A Loss is the sum of a step's losses, in units of 2^-20, and whether some were no numbers. Integers have the same sum in any order. lossUnits of
// launch.go is the same.
struct Loss {
	long long units;
	uint32_t unsound, unused;
};

constexpr float unitsOfLoss = 1 << 20;

// report adds the losses of the lanes of a warp.
__device__ __forceinline__ void report(Loss *to, long long losses, bool sound) {
	for (int i = 16; i; i /= 2) losses += __shfl_xor_sync(warp, losses, i);
	sound = __all_sync(warp, sound);
	if (laneNumber() == 0) atomicAdd((unsigned long long *)&to->units, (unsigned long long)losses);
	if (laneNumber() == 0 && !sound) atomicOr(&to->unsound, 1);
}

__device__ __forceinline__ uint32_t sharedAt(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

// copyShared starts to copy 16 bytes, or zeros in place of 0 bytes, to shared memory; arrivedShared waits for all
// copies of the thread.
__device__ __forceinline__ void copyShared(uint32_t to, const void *from, int bytes) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrivedShared() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// loadMatrices loads four matrices of 8 x 8 numbers of 16 bits from shared memory.
template <bool transposed> __device__ __forceinline__ void loadMatrices(uint32_t (&r)[4], uint32_t from) {
	if constexpr (transposed)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
