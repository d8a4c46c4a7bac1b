// The kernels of columns.cu that only send dot products: see rank.go.
#define ONLY_SENDS true
#include "columns.cu"
