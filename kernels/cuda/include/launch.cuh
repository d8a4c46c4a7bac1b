// Kernels that begin while the one before them ends.
//
// A kernel may be launched while the one before it in the stream ends: its thread blocks begin where those of that
// one are done. startNext permits this to the next kernel, and awaitPrevious waits until all that the previous one wrote is
// in memory. On GPUs before Hopper and on usual launches neither has an effect.
#pragma once

__device__ __forceinline__ void startNext() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ void awaitPrevious() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
