// The kernels of PAR-Word2Vec for pieces of sentences: see PIECES in sentence.cuh.
#define PIECES
#include "parw2v.cu"
