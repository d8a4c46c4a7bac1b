// The kernels of FULL-W2V and pWord2Vec for pieces of sentences: see PIECES in sentence.cuh.
#define PIECES
#include "fullw2v.cu"
