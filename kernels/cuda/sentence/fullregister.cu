// FULL-Register (FULL-W2V, section 3.1): the rows of a window's outputs stay in registers while
// they meet all its context words. The rows of context words are read from memory for every
// window, and their changes are added there (sequential/fullregister.go has the same for the
// CPU). See windows.cuh.
#include "windows.cuh"

#define TRAIN(train, F, E, T, C, many) \
	train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { \
		return Trained{sentence<F, E, T, C, many, false, Passing<F, E>>(a, epoch, first, kept, n, rate), contexts(a, kept, n) * (1 + a.negatives)}; \
	})

// For K below T, and rows of up to 4 F + E chunks of 32 values for each warp. Of single warps so
// many must fit on a multiprocessor; a team has so many at most.
#define FULLREGISTER(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) fullregister_##F##_##E##_##T##_##C(const __grid_constant__ SentenceArgs a) { \
		TRAIN(train, F, E, T, C, false); \
	}
FULLREGISTER(1, 0, 6, 6, 12)
FULLREGISTER(1, 0, 6, 5, 12)
FULLREGISTER(2, 0, 6, 6, 8)
FULLREGISTER(2, 0, 6, 5, 8)
FULLREGISTER(3, 0, 6, 6, 8)
FULLREGISTER(3, 0, 6, 5, 8)
FULLREGISTER(1, 0, 16, 2, 8)

#define FULLREGISTER_TEAM(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps) fullregister_team_##F##_##E##_##T##_##C(const __grid_constant__ SentenceArgs a) { \
		TRAIN(trainBlock, F, E, T, C, true); \
	}
FULLREGISTER_TEAM(2, 0, 6, 6, 4)
FULLREGISTER_TEAM(2, 0, 6, 5, 4)
FULLREGISTER_TEAM(1, 0, 16, 2, 8)
