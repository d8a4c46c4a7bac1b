#define PIECES // the kernels for pieces of sentences: see sentence.cuh
#include "fullw2v.cu"
