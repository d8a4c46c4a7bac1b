// The kernels of columns.cu that only send dot products: see part.go.
#define ONLY_SENDS true
#include "columns.cu"
