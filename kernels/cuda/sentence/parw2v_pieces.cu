#define PIECES // the kernels for pieces of sentences: see sentence.cuh
#include "parw2v.cu"
