// The kernels of step.cu for several GPUs that share the rows: see meet.cuh.
#define SEVERAL true
#include "step.cu"
