// The kernels of step_half.cu for several GPUs that share the rows: see meet.cuh.
#define SEVERAL true
#include "step_half.cu"
