// The kernels of step.cu for GPUs with too little shared memory for those: chunks of 32 negatives.
#define SMALL true
#include "step.cu"
