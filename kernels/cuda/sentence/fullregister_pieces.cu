// The kernels of FULL-Register for pieces of sentences: see PIECES in sentence.cuh.
#define PIECES
#include "fullregister.cu"
