// The kernels of tempered.cu for several GPUs that share the rows: see meet.cuh.
#define SEVERAL true
#include "tempered.cu"
