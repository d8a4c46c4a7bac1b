#define PIECES // the kernels for pieces of sentences: see sentence.cuh
#include "fullregister.cu"
