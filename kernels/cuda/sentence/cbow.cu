// word2vec's continuous bag of words: the mean of the context words of a window meets its
// outputs, and its step goes to each of them whole (sequential/word2vec.go has the same for the
// CPU). See windows.cuh.
#include "windows.cuh"

// For K below T and rows of up to 128 F values, or 128 F for each warp of a team. A window has a pair
// for each output.
#define CBOW(kind, name, F, E, T, warps, ...) \
	kind(name##_##F##_##E##_##T##_1, warps, Trained{sentence<F, E, T, 1, many##kind, false, true, Lifetime<F, E>, __VA_ARGS__>(a, epoch, first, kept, k, rate), uint64_t(k.end - k.from) * (1 + a.negatives)})
#define CBOWS(name, Contexts) \
	CBOW(ALONE, name, 1, 0, 6, 12, Contexts<1>) \
	CBOW(ALONE, name, 2, 0, 6, 8, Contexts<2>) \
	CBOW(ALONE, name, 3, 0, 6, 8, Contexts<3>) \
	CBOW(ALONE, name, 1, 0, 16, 8, Contexts<1>) \
	CBOW(TEAM, name##_team, 2, 0, 6, 4, Contexts<2>) \
	CBOW(TEAM, name##_team, 1, 0, 16, 8, Contexts<1>)

CBOWS(cbow, Chunks)
CBOW(ALONE, cbow, 2, 2, 6, 8, Chunks<2, 2>)
#ifndef PIECES
CBOWS(cbow_half, HalfChunks) // the table of contexts in float16
#endif
