// The kernels of stretch_rows.cu for GPUs with too little shared memory for those: chunks of 32 negatives.
#define SMALL true
#include "stretch_rows.cu"
