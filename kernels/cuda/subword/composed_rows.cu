// The kernels of composed.cu for several GPUs that share the rows: see ../cl/meet.cuh.
#define SEVERAL true
#include "composed.cu"
