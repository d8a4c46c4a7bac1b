// The kernels of CBOW for pieces of sentences: see PIECES in sentence.cuh.
#define PIECES
#include "cbow.cu"
