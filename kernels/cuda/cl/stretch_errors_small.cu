// The kernels of stretch_errors.cu for GPUs with too little shared memory for those: chunks of 32 negatives.
#define SMALL true
#include "stretch_errors.cu"
