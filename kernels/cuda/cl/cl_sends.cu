// The kernels of cl_split.cu that only send dot products: see part.go.
#define ONLY_SENDS true
#include "cl_split.cu"
