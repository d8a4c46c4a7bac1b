// The kernels of step.cuh with float32.
#include "single.cuh"

// For N up to 128 F, in thread blocks of up to so many groups. A multiprocessor must have registers for so
// many thread blocks.
#define STEP(method, F, G, groups, blocks) \
	extern "C" __constant__ constexpr DenseKernel step_##method##_##F##_dense = kernelOf<Single<F>, G>(groups); \
	extern "C" __global__ void __launch_bounds__(groupThreads * groups, blocks) step_##method##_##F(const __grid_constant__ StepLaunch a) { \
		train<Single<F>, G, method>(a); \
	}
#if SMALL
METHODS(STEP, 2, 1, 2, 1)
METHODS(STEP, 3, 1, 1, 1)
#else
METHODS(STEP, 1, 8, 1, 2)
METHODS(STEP, 2, 4, 2, 1)
METHODS(STEP, 3, 2, 2, 1)
METHODS(STEP, 4, 2, 2, 1)
METHODS(STEP, 8, 2, 1, 1)
#endif
