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
// The rows of targets are held in registers between dot and gradient, G at a
// time. More negatives take another round: g is a sum, and left_i is not updated
// before the last.
#include "philox.cuh"
#include "rows.cuh"

struct ClTable {
	float4 *left;        // (rows, quads)
	const float4 *right; // (rows, quads)
	float4 *first;       // first moments, (rows, quads)
	float4 *second;      // second moments, (rows, quads)
	float *secondOfRow;  // second moments of row-wise Adam, (rows)
	const uint2 *alias;  // (rows)
	uint64_t seed;
	uint32_t rows, quads, columns, negatives;
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;
};

struct ClStep {
	uint32_t stream; // low half of the stream of negatives
	float keep, scale, epsilon, rate;
};

enum Method { adam, adamRow, sgd };

__device__ __forceinline__ void adamValue(float &w, float &m, float &v, float g, const ClTable &t, const ClStep &s) {
	m = t.beta1 * m + t.oneMinusBeta1 * g;
	v = t.beta2 * v + t.oneMinusBeta2 * g * g;
	w = s.keep * w - s.scale * m / (sqrtf(v) + s.epsilon);
}

__device__ __forceinline__ void momentumValue(float &w, float &m, float g, const ClTable &t, float keep, float scale) {
	m = t.beta1 * m + t.oneMinusBeta1 * g;
	w = keep * w - scale * m;
}

template <int F, Method method>
__device__ __forceinline__ void update(const ClTable &t, const ClStep &s, size_t row, Row<F> &w, const Row<F> &g) {
	size_t at = row * t.quads;
	if constexpr (method == adam) {
		Row<F> m = load<F>(t.first + at, t.quads), v = load<F>(t.second + at, t.quads);
#pragma unroll
		for (int f = 0; f < F; f++) {
			adamValue(w.v[f].x, m.v[f].x, v.v[f].x, g.v[f].x, t, s);
			adamValue(w.v[f].y, m.v[f].y, v.v[f].y, g.v[f].y, t, s);
			adamValue(w.v[f].z, m.v[f].z, v.v[f].z, g.v[f].z, t, s);
			adamValue(w.v[f].w, m.v[f].w, v.v[f].w, g.v[f].w, t, s);
		}
		store(t.first + at, t.quads, m);
		store(t.second + at, t.quads, v);
	} else if constexpr (method == adamRow) {
		Row<F> m = load<F>(t.first + at, t.quads);
		float v = t.beta2 * t.secondOfRow[row] + t.oneMinusBeta2 * (sum(partial(g, g)) / t.columns);
		float scale = s.scale / (sqrtf(v) + s.epsilon);
		__syncwarp();
		if (laneNumber() == 0) t.secondOfRow[row] = v;
#pragma unroll
		for (int f = 0; f < F; f++) {
			momentumValue(w.v[f].x, m.v[f].x, g.v[f].x, t, s.keep, scale);
			momentumValue(w.v[f].y, m.v[f].y, g.v[f].y, t, s.keep, scale);
			momentumValue(w.v[f].z, m.v[f].z, g.v[f].z, t, s.keep, scale);
			momentumValue(w.v[f].w, m.v[f].w, g.v[f].w, t, s.keep, scale);
		}
		store(t.first + at, t.quads, m);
	} else {
#pragma unroll
		for (int f = 0; f < F; f++) {
			w.v[f].x = s.keep * w.v[f].x - s.rate * g.v[f].x;
			w.v[f].y = s.keep * w.v[f].y - s.rate * g.v[f].y;
			w.v[f].z = s.keep * w.v[f].z - s.rate * g.v[f].z;
			w.v[f].w = s.keep * w.v[f].w - s.rate * g.v[f].w;
		}
	}
	store(t.left + at, t.quads, w);
}

constexpr int warpsOfBlock = 8;

// row trains one row and returns this lane's part of its loss.
template <int F, int G, Method method>
__device__ __forceinline__ float trainRow(const ClTable &t, const ClStep &s, const uint32_t *column, size_t i) {
	constexpr int slots = G <= 2 ? 2 : 8; // of sums
	int l = laneNumber(), width = 1 + t.negatives;
	Row<F> w = load<F>(t.left + i * t.quads, t.quads), g = zeros<F>();
	float loss = 0;
	for (int k0 = 0; k0 < width; k0 += G) {
		int k = k0 + l % slots; // this lane's target
		bool mine = l % slots < G && k < width;
		uint32_t target = 0;
		if (mine)
			target = k == 0 ? column[i]
				: aliasDraw(t.alias, t.rows, word(t.seed, streamNegatives, s.stream, i * t.negatives + k - 1));
		Row<F> r[G];
		float x[slots];
#pragma unroll
		for (int n = 0; n < slots; n++) {
			x[n] = 0;
			if (n >= G) continue;
			uint32_t row = __shfl_sync(warp, target, n);
			r[n] = k0 + n < width ? load<F>(t.right + size_t(row) * t.quads, t.quads) : zeros<F>();
		}
#pragma unroll
		for (int n = 0; n < G; n++) x[n] = partial(w, r[n]);
		float score = sums<slots>(x);
		Logistic y = logistic(k == 0 ? -score : score); // to the loss, a positive is a negative of opposite score
		float c = !mine ? 0 : k == 0 ? -y.sigmoid : y.sigmoid;
		if (mine && l < slots) loss += logf(y.factor);
#pragma unroll
		for (int n = 0; n < G; n++) add(g, __shfl_sync(warp, c, n), r[n]);
	}
	update<F, method>(t, s, i, w, g);
	return loss;
}

template <int F, int G, Method method>
__device__ __forceinline__ void step(const ClTable *table, const ClStep *step, const uint32_t *column, float *losses) {
	__shared__ float lossOf[warpsOfBlock];
	ClTable t = *table;
	ClStep s = *step;
	size_t i = size_t(blockIdx.x) * warpsOfBlock + threadIdx.x / 32;
	float loss = i < t.rows ? sum(trainRow<F, G, method>(t, s, column, i)) : 0;
	if (laneNumber() == 0) lossOf[threadIdx.x / 32] = loss;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int n = 1; n < warpsOfBlock; n++) loss += lossOf[n];
		losses[blockIdx.x] = loss;
	}
}

// losses: (blocks), summed in the order of the rows whichever runs first
#define CL(F, G, method) \
	extern "C" __global__ void __launch_bounds__(32 * warpsOfBlock) cl_##method##_##F( \
		const ClTable *table, const ClStep *s, const uint32_t *column, float *losses) { \
		step<F, G, method>(table, s, column, losses); \
	}
#define CL_METHODS(F, G) CL(F, G, adam) CL(F, G, adamRow) CL(F, G, sgd)

// For N up to 128 F. Six rows are what five negatives need.
CL_METHODS(1, 6)
CL_METHODS(2, 6)
CL_METHODS(3, 6)
CL_METHODS(4, 6)
CL_METHODS(8, 2)

// cl_loss sums the losses of a step's blocks: one block of 256 threads.
extern "C" __global__ void cl_loss(const float *losses, uint32_t count, double *total) {
	__shared__ double part[256];
	double x = 0;
	for (uint32_t i = threadIdx.x; i < count; i += 256) x += losses[i];
	part[threadIdx.x] = x;
	for (int d = 128; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
	}
	if (threadIdx.x == 0) *total = part[0];
}
