// FULL-W2V and pWord2Vec: context words have their rows in a ring, and each meets all outputs of
// its window. FULL-W2V's windows have a fixed width (sequential/fullw2v.go has the same for the
// CPU), those of pWord2Vec their own (sequential/pword2vec.go). See windows.cuh.
#include "windows.cuh"

// For K below T, and rows of up to 4 F + E chunks of 32 values, or so many for each warp of a
// team. C is as many context words as there are registers for; for W_f = 5, five. With 8 single
// warps on a multiprocessor in place of 12, and all the registers they can use, it is an eighth slower.
#define FULLW2V(kind, name, F, E, T, C, warps) WINDOWS(kind, name##_##F##_##E##_##T##_##C, F, E, T, C, warps, Lifetime)
FULLW2V(ALONE, fullw2v, 1, 0, 6, 6, 12)
FULLW2V(ALONE, fullw2v, 1, 0, 6, 5, 12)
FULLW2V(ALONE, fullw2v, 2, 0, 6, 6, 8)
FULLW2V(ALONE, fullw2v, 2, 0, 6, 5, 8)
FULLW2V(ALONE, fullw2v, 2, 2, 6, 6, 8)
FULLW2V(ALONE, fullw2v, 2, 2, 6, 5, 8)
FULLW2V(ALONE, fullw2v, 3, 0, 6, 6, 8)
FULLW2V(ALONE, fullw2v, 3, 0, 6, 5, 8)
FULLW2V(ALONE, fullw2v, 1, 0, 11, 2, 8)
FULLW2V(ALONE, fullw2v, 1, 0, 16, 2, 8)
FULLW2V(TEAM, fullw2v_team, 2, 0, 6, 6, 8)
FULLW2V(TEAM, fullw2v_team, 2, 0, 6, 5, 8)
FULLW2V(TEAM, fullw2v_team, 1, 0, 11, 2, 12)
FULLW2V(TEAM, fullw2v_team, 1, 1, 11, 2, 8)
FULLW2V(TEAM, fullw2v_team, 1, 0, 16, 2, 8)
FULLW2V(TEAM, fullw2v_team, 1, 1, 16, 2, 8)
#define PAIRS(kind, name, F, E, T, C, warps) WINDOWS(kind, name##_##F##_##E##_##T##_##C, F, E, T, C, warps, PairByPair)
PAIRS(ALONE, fullw2v_pairs, 1, 0, 6, 6, 12)
PAIRS(TEAM, fullw2v_pairs_team, 1, 0, 6, 6, 8)
PAIRS(TEAM, fullw2v_pairs_team, 1, 0, 16, 2, 8)
