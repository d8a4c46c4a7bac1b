// FULL-Register (FULL-W2V, section 3.1): the rows of a window's outputs stay in registers while
// they meet all its context words. The rows of context words are read from memory for every
// window, and their changes are added there (sequential/fullregister.go has the same for the
// CPU). See windows.cuh.
#include "windows.cuh"

#define FULLREGISTER(kind, name, F, E, T, C, warps) WINDOWS(kind, name##_##F##_##E##_##T##_##C, F, E, T, C, warps, Passing)
FULLREGISTER(ALONE, fullregister, 1, 0, 6, 6, 12)
FULLREGISTER(ALONE, fullregister, 1, 0, 6, 5, 12)
FULLREGISTER(ALONE, fullregister, 2, 0, 6, 6, 8)
FULLREGISTER(ALONE, fullregister, 2, 0, 6, 5, 8)
FULLREGISTER(ALONE, fullregister, 3, 0, 6, 6, 8)
FULLREGISTER(ALONE, fullregister, 3, 0, 6, 5, 8)
FULLREGISTER(ALONE, fullregister, 1, 0, 16, 2, 8)
FULLREGISTER(TEAM, fullregister_team, 2, 0, 6, 6, 4)
FULLREGISTER(TEAM, fullregister_team, 2, 0, 6, 5, 4)
FULLREGISTER(TEAM, fullregister_team, 1, 0, 16, 2, 8)
