/* gorgonia.org/cu calls the driver as it was declared in CUDA 11. Later headers
 * declare a few functions anew, with other arguments; the driver still has the
 * old ones. This header comes before CUDA's own on the include path and goes
 * back to the old declarations. */
#ifndef W2VCL_CUDA_H
#define W2VCL_CUDA_H

#include_next <cuda.h>

/* Drivers before 12.8 lack the second form, which is no different. */
#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);

#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr p, size_t count, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr p, size_t count, CUdevice device, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
#endif

#endif
