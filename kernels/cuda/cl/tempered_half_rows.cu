// The kernels of tempered_half.cu for several GPUs that share the rows: see meet.cuh.
#define SEVERAL true
#include "tempered_half.cu"
