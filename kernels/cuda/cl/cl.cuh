// Shared by the kernels of a step of W2V-CL: step.cuh has the step for all settings, columns.cu a faster one for some.
#pragma once
#include "launch.cuh"
#include "methods.cuh"
#include "philox.cuh"

// noContext is the positive of a row that trains on nothing: its gradient is zero.
constexpr uint32_t noContext = 0xffffffffu;

// A Loss is the sum of a step's losses, in units of 2^-20, and whether some were no numbers. Integers have the same sum in any order.
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
