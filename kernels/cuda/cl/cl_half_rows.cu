// The kernels of cl_half.cu for several GPUs that share the rows: see meet.cuh.
#define SEVERAL true
#include "cl_half.cu"
