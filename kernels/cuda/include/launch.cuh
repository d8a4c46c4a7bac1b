// Kernels that begin while the one before them ends.
//
// A kernel may be launched while the one before it in the stream ends: its thread blocks begin where those of that
// one are done. startNext permits this to the next kernel, if that one is launched early. awaitPrevious, in a kernel that is
// launched early, waits until all that the previous one wrote is in memory. On GPUs before Hopper neither has an effect.
//
// If a kernel calls startNext before awaitPrevious, the next one may begin while the one before both still runs. Before its own
// awaitPrevious, the next one then reads only what neither of the two before it writes.
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
