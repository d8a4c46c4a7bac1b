// FULL-W2V and pWord2Vec: context words have their rows in a ring, and each meets all outputs of
// its window. FULL-W2V's windows have a fixed width (sequential/fullw2v.go has the same for the
// CPU), those of pWord2Vec their own (sequential/pword2vec.go). See windows.cuh.
#include "windows.cuh"

// sentence_renumber gives the words of the text the numbers they have here.
extern "C" __global__ void sentence_renumber(uint32_t *tokens, uint64_t count, uint64_t successor, uint64_t vocabulary) {
	for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
		tokens[i] = tokens[i] * successor % vocabulary;
}

#define TRAIN(train, F, E, T, C, many) \
	train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { \
		return Trained{sentence<F, E, T, C, many>(a, epoch, first, kept, n, rate), contexts(a, kept, n) * (1 + a.negatives)}; \
	})

// For K below T, and rows of up to 4 F + E chunks of 32 values. C is as many context
// words as there are registers for; for W_f = 5, five. So many warps must fit on a
// multiprocessor: 12 train 850 million words a second, 8, with all the registers they
// can use, 745.
#define FULLW2V(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) fullw2v_##F##_##E##_##T##_##C(const __grid_constant__ SentenceArgs a) { \
		TRAIN(train, F, E, T, C, false); \
	}
FULLW2V(1, 0, 6, 6, 12)
FULLW2V(1, 0, 6, 5, 12)
FULLW2V(2, 0, 6, 6, 8)
FULLW2V(2, 0, 6, 5, 8)
FULLW2V(2, 2, 6, 6, 8)
FULLW2V(2, 2, 6, 5, 8)
FULLW2V(3, 0, 6, 6, 8)
FULLW2V(3, 0, 6, 5, 8)
FULLW2V(1, 0, 11, 2, 8)
FULLW2V(1, 0, 16, 2, 8)

// For rows of up to 4 F + E chunks for each warp of the team. So many warps are the most,
// and must fit on a multiprocessor.
#define FULLW2V_TEAM(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps) fullw2v_team_##F##_##E##_##T##_##C(const __grid_constant__ SentenceArgs a) { \
		TRAIN(trainBlock, F, E, T, C, true); \
	}
FULLW2V_TEAM(2, 0, 6, 6, 8)
FULLW2V_TEAM(2, 0, 6, 5, 8)
FULLW2V_TEAM(1, 0, 11, 2, 12)
FULLW2V_TEAM(1, 1, 11, 2, 8)
FULLW2V_TEAM(1, 0, 16, 2, 8)
FULLW2V_TEAM(1, 1, 16, 2, 8)
