// One step of W2V-CL: every row of the left table against 1+K frozen rows of the
// right one, with the optimizer, in one pass over memory. One warp has a row.
//
//	left: (V, N)  right: (V, N), frozen  column: (V)
//	for each row i:
//		targets t_0 = column[i], t_k = negative k of row i
//		s_k = left_i . right_(t_k)
//		g = (sigmoid(s_0) - 1) right_(t_0) + sum over k>0 of sigmoid(s_k) right_(t_k)
//		update left_i by g
//
// A step moves at least 6 V N values between the chip and its memory: left and
// two moments are read and written. The right table, 36 MB for the paper's text,
// is read 1+K times over, so it should come from L2.
//
// This file is for GPUs before Hopper, and for many negatives; cl_bulk.cu is for the rest.
#include "cl.cuh"

template <int F, Method method>
__device__ __forceinline__ void update(const ClTable &t, const ClStep &s, size_t row, Row<F> &w, const Row<F> &g) {
	size_t at = row * t.quads;
	Row<F> m, v;
	if constexpr (hasFirst(method)) m = load<F>(t.first + at, t.quads);
	if constexpr (hasSecond(method)) v = load<F>(t.second + at, t.quads);
	optimize<F, method>(t, s, row, w, m, v, g);
	if constexpr (hasFirst(method)) store(t.first + at, t.quads, m);
	if constexpr (hasSecond(method)) store(t.second + at, t.quads, v);
	store(t.left + at, t.quads, w);
}

constexpr int warpsOfBlock = 8;

template <int F, int G, Method method> __device__ __forceinline__ void step(const ClLaunch &a) {
	const ClTable &t = a.table;
	size_t i = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	float loss = 0;
	if (i < t.rows) {
		ClStep s = *a.step;
		uint32_t positive = a.column[i];
		Row<F> w = load<F>(t.left + i * t.quads, t.quads), g = zeros<F>();
		if (positive != noContext) loss = sum(addGradient<F, G>(t, s.stream, positive, i, w, g));
		update<F, method>(t, s, i, w, g);
	}
	storeLoss<warpsOfBlock>(loss, a.losses);
}

#define CL(F, G, method) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) cl_##method##_##F(const __grid_constant__ ClLaunch a) { \
		step<F, G, method>(a); \
	}
#define CL_METHODS(F, G) CL(F, G, adam) CL(F, G, adamRow) CL(F, G, sgd) CL(F, G, scaled)

// For N up to 128 F. Five negatives need six rows.
CL_METHODS(1, 6)
CL_METHODS(2, 6)
CL_METHODS(3, 6)
CL_METHODS(4, 6)
CL_METHODS(8, 2)

// cl_loss sums the losses of some steps, count each: a thread block of 256 threads a step.
extern "C" __global__ void cl_loss(const float *losses, uint32_t count, double *totals) {
	__shared__ double part[256];
	double x = 0;
	losses += size_t(blockIdx.x) * count;
	for (uint32_t i = threadIdx.x; i < count; i += 256) x += losses[i];
	part[threadIdx.x] = x;
	for (int d = 128; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
	}
	if (threadIdx.x == 0) totals[blockIdx.x] = part[0];
}
