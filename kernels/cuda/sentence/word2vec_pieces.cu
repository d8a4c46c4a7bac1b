// The kernels of skip-gram for pieces of sentences: see PIECES in sentence.cuh.
#define PIECES
#include "word2vec.cu"
