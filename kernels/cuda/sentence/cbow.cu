// word2vec's continuous bag of words: the mean of the context words of a window meets its
// outputs, and its step goes to each of them whole (sequential/word2vec.go has the same for the
// CPU). See windows.cuh.
#include "windows.cuh"

// A window has a pair for each output.
#define TRAIN(train, F, E, T, many, Contexts) \
	train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { \
		return Trained{sentence<F, E, T, 1, many, true, Lifetime<F, E>, Contexts>(a, epoch, first, kept, n, rate), uint64_t(n) * (1 + a.negatives)}; \
	})

// For K below T, and rows of up to 4 F + E chunks of 32 values for each warp. Of single warps so
// many must fit on a multiprocessor; a team has so many at most.
#define CBOW(F, E, T, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) cbow_##F##_##E##_##T##_1(const __grid_constant__ SentenceArgs a) { \
		using Contexts = Chunks<F, E>; \
		TRAIN(train, F, E, T, false, Contexts); \
	}
CBOW(1, 0, 6, 12)
CBOW(2, 0, 6, 8)
CBOW(3, 0, 6, 8)
CBOW(1, 0, 16, 8)

#define CBOW_TEAM(F, E, T, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps) cbow_team_##F##_##E##_##T##_1(const __grid_constant__ SentenceArgs a) { \
		using Contexts = Chunks<F, E>; \
		TRAIN(trainBlock, F, E, T, true, Contexts); \
	}
CBOW_TEAM(2, 0, 6, 4)
CBOW_TEAM(1, 0, 16, 8)

// The same with the table of contexts in float16.
#define CBOW_HALF(F, T, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) cbow_half_##F##_0_##T##_1(const __grid_constant__ SentenceArgs a) { \
		TRAIN(train, F, 0, T, false, HalfChunks<F>); \
	}
CBOW_HALF(1, 6, 12)
CBOW_HALF(2, 6, 8)
CBOW_HALF(3, 6, 8)
CBOW_HALF(1, 16, 8)

#define CBOW_HALF_TEAM(F, T, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps) cbow_half_team_##F##_0_##T##_1(const __grid_constant__ SentenceArgs a) { \
		TRAIN(trainBlock, F, 0, T, true, HalfChunks<F>); \
	}
CBOW_HALF_TEAM(2, 6, 4)
CBOW_HALF_TEAM(1, 16, 8)
