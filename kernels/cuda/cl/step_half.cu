// The kernels of step.cuh with half precision.
#include "rounded.cuh"

// For N up to 128 times the name; as in step.cu.
#define STEP(method, name, P, F, G, groups, blocks) \
	extern "C" __constant__ constexpr DenseKernel step_half_##method##_##name##_dense = kernelOf<Rounded<P, F>, G>(groups); \
	extern "C" __global__ void __launch_bounds__(groupThreads * groups, blocks) step_half_##method##_##name(const __grid_constant__ StepLaunch a) { \
		train<Rounded<P, F>, G, method>(a); \
	}
METHODS(STEP, 1, 2, 1, 8, 1, 3)
METHODS(STEP, 2, 4, 1, 4, 1, 2)
METHODS(STEP, 3, 2, 3, 4, 1, 2)
METHODS(STEP, 4, 4, 2, 4, 2, 1)
METHODS(STEP, 6, 4, 3, 2, 1, 1)
METHODS(STEP, 8, 4, 4, 2, 1, 1)
