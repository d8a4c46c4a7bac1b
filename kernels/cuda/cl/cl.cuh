// The kernels of a step of W2V-CL share this file: see cl.cu.
#pragma once
#include "philox.cuh"
#include "rows.cuh"

struct ClTable {
	float4 *left;        // (rows, quads)
	const float4 *right; // (rows, quads)
	float4 *first;       // first moments, (rows, quads)
	float4 *second;      // second moments, or sums of squares, (rows, quads)
	float *secondOfRow;  // second moments of row-wise Adam, (rows)
	const uint2 *alias;  // (rows)
	uint64_t seed;
	uint32_t rows, quads, columns, negatives;
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;

	// A GPU trains so many rows, of which number j is row(j).
	__device__ __forceinline__ uint32_t own() const { return rows; }
	__device__ __forceinline__ uint64_t row(uint64_t j) const { return j; }
};

struct ClStep {
	uint32_t stream; // lower 32 bits of the stream of negatives
	float keep, scale, epsilon, rate;
};

struct ClLaunch {
	ClTable table;
	const ClStep *step;
	const uint32_t *column; // (rows)
	float *losses;          // (thread blocks) or (warps)
};

// noContext is the positive of a row that trains on nothing: its gradient is zero.
constexpr uint32_t noContext = 0xffffffffu;

// scaled is RMSProp and AdaGrad, whose sum of squares is a second moment with beta2 and
// oneMinusBeta2 of 1. Its ClStep has the learning rate as scale.
enum Method { adam, adamRow, sgd, scaled };

// hasFirst and hasSecond say which moments of (rows, quads) a method has.
__host__ __device__ constexpr bool hasFirst(Method m) { return m == adam || m == adamRow; }
__host__ __device__ constexpr bool hasSecond(Method m) { return m == adam || m == scaled; }

// A step may be launched while the step before it ends: its thread blocks begin where those
// of the previous step are done. startNext permits that to the next step, and awaitPrevious
// waits until all that the previous step wrote is in memory. Columns, steps and the table
// that a step changes are older than that. On GPUs before Hopper and on usual launches
// neither has an effect.
__device__ __forceinline__ void startNext() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ void awaitPrevious() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// root and inverse are the device's own. They are wrong by two parts in 10 million, and far
// cheaper than exact ones: the optimizer takes one of each a value.
__device__ __forceinline__ float root(float x) {
	float r;
	asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}

__device__ __forceinline__ float inverse(float x) {
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}

// Products and sums say which of them are one instruction where the compiler could choose: kernels for one GPU and for
// several must not differ in it.
template <class Table>
__device__ __forceinline__ void adamValue(float &w, float &m, float &v, float g, const Table &t, const ClStep &s) {
	m = fmaf(t.beta1, m, t.oneMinusBeta1 * g);
	v = fmaf(t.beta2, v, t.oneMinusBeta2 * g * g);
	w = fmaf(s.keep, w, -(s.scale * m * inverse(root(v) + s.epsilon)));
}

template <class Table>
__device__ __forceinline__ void scaledValue(float &w, float &v, float g, const Table &t, const ClStep &s) {
	v = fmaf(t.beta2, v, t.oneMinusBeta2 * g * g);
	w = fmaf(s.keep, w, -(s.scale * g * inverse(root(v) + s.epsilon)));
}

template <class Table>
__device__ __forceinline__ void momentumValue(float &w, float &m, float g, const Table &t, float keep, float scale) {
	m = fmaf(t.beta1, m, t.oneMinusBeta1 * g);
	w = fmaf(keep, w, -(scale * m));
}

// A WholeRow has a row in the lanes of a warp: it sums over the row, and lane 0 writes what a row has one of.
struct WholeRow {
	__device__ __forceinline__ float sum(float x) const { return ::sum(x); }
	__device__ __forceinline__ bool writes() const { return laneNumber() == 0; }
};

// optimize updates w, a row of left with moments m and v, by the gradient g.
template <int F, Method method, class Lanes = WholeRow>
__device__ __forceinline__ void optimize(const ClTable &t, const ClStep &s, size_t row, Row<F> &w, Row<F> &m, Row<F> &v, const Row<F> &g, const Lanes &lanes = {}) {
	if constexpr (method == adam) {
#pragma unroll
		for (int f = 0; f < F; f++) {
			adamValue(w.v[f].x, m.v[f].x, v.v[f].x, g.v[f].x, t, s);
			adamValue(w.v[f].y, m.v[f].y, v.v[f].y, g.v[f].y, t, s);
			adamValue(w.v[f].z, m.v[f].z, v.v[f].z, g.v[f].z, t, s);
			adamValue(w.v[f].w, m.v[f].w, v.v[f].w, g.v[f].w, t, s);
		}
	} else if constexpr (method == scaled) {
#pragma unroll
		for (int f = 0; f < F; f++) {
			scaledValue(w.v[f].x, v.v[f].x, g.v[f].x, t, s);
			scaledValue(w.v[f].y, v.v[f].y, g.v[f].y, t, s);
			scaledValue(w.v[f].z, v.v[f].z, g.v[f].z, t, s);
			scaledValue(w.v[f].w, v.v[f].w, g.v[f].w, t, s);
		}
	} else if constexpr (method == adamRow) {
		float second = fmaf(t.beta2, t.secondOfRow[row], t.oneMinusBeta2 * (lanes.sum(partial(g, g)) / t.columns));
		float scale = s.scale / (sqrtf(second) + s.epsilon);
		__syncwarp();
		if (lanes.writes()) t.secondOfRow[row] = second;
#pragma unroll
		for (int f = 0; f < F; f++) {
			momentumValue(w.v[f].x, m.v[f].x, g.v[f].x, t, s.keep, scale);
			momentumValue(w.v[f].y, m.v[f].y, g.v[f].y, t, s.keep, scale);
			momentumValue(w.v[f].z, m.v[f].z, g.v[f].z, t, s.keep, scale);
			momentumValue(w.v[f].w, m.v[f].w, g.v[f].w, t, s.keep, scale);
		}
	} else {
#pragma unroll
		for (int f = 0; f < F; f++) {
			w.v[f].x = fmaf(s.keep, w.v[f].x, -(s.rate * g.v[f].x));
			w.v[f].y = fmaf(s.keep, w.v[f].y, -(s.rate * g.v[f].y));
			w.v[f].z = fmaf(s.keep, w.v[f].z, -(s.rate * g.v[f].z));
			w.v[f].w = fmaf(s.keep, w.v[f].w, -(s.rate * g.v[f].w));
		}
	}
}

// addGradient adds the gradient of row i, whose values are w, to g and returns this lane's
// part of its loss. Rows of targets are held in registers between dot and gradient, G at a
// time: g is a sum, and w is not updated before the last.
template <int F, int G>
__device__ __forceinline__ float addGradient(const ClTable &t, uint32_t stream, uint32_t positive, size_t i, const Row<F> &w, Row<F> &g) {
	constexpr int slots = G <= 2 ? 2 : 8, lanes = 32 / slots; // of sums
	int l = laneNumber(), width = 1 + t.negatives;
	float loss = 0;
	for (int k0 = 0; k0 < width; k0 += G) {
		int k = k0 + l / lanes; // this lane's target
		bool mine = l / lanes < G && k < width;
		uint32_t target = 0;
		if (mine)
			target = k == 0 ? positive : aliasDraw(t.alias, t.rows, randomBits(t.seed, streamNegatives, stream, i * t.negatives + k - 1));
		Row<F> r[G];
		float x[slots];
#pragma unroll
		for (int n = 0; n < slots; n++) {
			x[n] = 0;
			if (n >= G) continue;
			uint32_t row = __shfl_sync(warp, target, n * lanes);
			r[n] = k0 + n < width ? load<F>(t.right + size_t(row) * t.quads, t.quads) : zeros<F>();
		}
#pragma unroll
		for (int n = 0; n < G; n++) x[n] = partial(w, r[n]);
		treeSums<32>(x);
		float score = x[0];
		Logistic y = logistic(k == 0 ? -score : score); // to the loss, a positive is a negative of opposite score
		float c = !mine ? 0 : k == 0 ? -y.sigmoid : y.sigmoid;
		if (mine && l % lanes == 0) loss += logf(y.factor);
#pragma unroll
		for (int n = 0; n < G; n++) add(g, __shfl_sync(warp, c, n * lanes), r[n]);
	}
	return loss;
}

// storeLoss stores the sum of a thread block's losses, one a warp.
template <int warps> __device__ __forceinline__ void storeLoss(float loss, float *losses) {
	__shared__ float lossOf[warps];
	if (laneNumber() == 0) lossOf[threadIdx.x / 32] = loss;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int n = 1; n < warps; n++) loss += lossOf[n];
		losses[blockIdx.x] = loss;
	}
}

// Targets draws the targets of some rows of a warp. The warp has the rows first, first + 1, ... first
// + together - 1 at a time, and then those that are stride further on. A row has so many
// slots, a lane for each target; a row of more targets has that many of them at a time. A
// draw has two parts: begin asks memory for the values that end uses, a round later.
template <int together> struct Targets {
	int slots, sets, parts; // lanes of a row, sets of rows that are drawn together, parts of a row
	uint32_t positive, column, low;
	uint2 alias;
	bool isPositive;

	__device__ __forceinline__ Targets(int width, int slots) : slots(slots), sets(32 / slots / together), parts((width + slots - 1) / slots) {}

	// begin takes round number n.
	template <class Table>
	__device__ __forceinline__ void begin(const Table &t, const ClStep &s, const uint32_t *positives, uint32_t n, uint32_t first, uint32_t stride) {
		uint32_t of = laneNumber() / slots, k = n % parts * slots + laneNumber() % slots;
		uint64_t i = first + of % together + uint64_t(n / parts * sets + of / together) * stride;
		positive = column = low = 0;
		alias = make_uint2(0, 0);
		isPositive = k == 0;
		if (i >= t.own() || k > t.negatives) return;
		i = t.row(i);
		if (isPositive) {
			positive = positives[i];
			return;
		}
		uint32_t bits = randomBits(t.seed, streamNegatives, s.stream, i * t.negatives + k - 1);
		column = __umulhi(bits, t.rows);
		low = bits * t.rows;
		alias = __ldg(&t.alias[column]);
	}

	__device__ __forceinline__ uint32_t end() const { return isPositive ? positive : low < alias.x ? column : alias.y; }
};
