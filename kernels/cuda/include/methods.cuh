// The optimizers: those of package optim, for one value at a time. Nothing else in the sources of
// kernels lists them. Rows of float32 move by optimize, with the numbers of numbersOf where rows have their own.
//
// A method is a struct that says
//
//	first, second   whether values have first and second moments
//	ofRow           whether a row has one second moment for all its values
//	corrected       whether Adam's bias correction changes the numbers of a step
//	adaptive        whether the step of a value hardly depends on the size of its gradient
//	update          how a value w with moments m and v changes by the gradient g
//	scaleOf         if ofRow: the scale of a row, whose second moment it updates
//
// A new method is its struct here, its name in METHODS or ADAPTIVE, and a line of methods.go, one folder up.
#pragma once
#include "rows.cuh"

// METHODS instantiates a macro for all methods, ADAPTIVE for those that encoders may have, and SIZES for all sizes of rows. Names of kernels
// end in these: see Sized.
#define SIZES(KERNEL, ...) KERNEL(1, __VA_ARGS__) KERNEL(2, __VA_ARGS__) KERNEL(3, __VA_ARGS__) KERNEL(4, __VA_ARGS__) KERNEL(8, __VA_ARGS__)
#define ADAPTIVE(KERNEL, ...) KERNEL(adam, __VA_ARGS__) KERNEL(adamRow, __VA_ARGS__) KERNEL(scaled, __VA_ARGS__)
#define METHODS(KERNEL, ...) ADAPTIVE(KERNEL, __VA_ARGS__) KERNEL(sgd, __VA_ARGS__)

// StepNumbers are the numbers of a step of the optimizer: as in methods.go.
struct StepNumbers {
	uint32_t stream; // lower 32 bits of the stream of negatives; of parts in CBOW the iteration
	float keep, scale, epsilon, rate;
};

// Decays are the constants of moments: as in methods.go.
struct Decays {
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;
};

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

// Quick and Exact are the arithmetic of an update; moved is keep w - step. Products and sums say which of them are one
// instruction where the compiler could choose: kernels for one GPU and for several must not differ in it.
struct Quick {
	__device__ __forceinline__ static float quotient(float x, float y) { return x * inverse(y); }
	__device__ __forceinline__ static float root(float x) { return ::root(x); }
	__device__ __forceinline__ static float moved(float keep, float w, float step) { return fmaf(keep, w, -step); }
};
struct Exact {
	__device__ __forceinline__ static float quotient(float x, float y) { return x / y; }
	__device__ __forceinline__ static float root(float x) { return sqrtf(x); }
	__device__ __forceinline__ static float moved(float keep, float w, float step) { return __fsub_rn(__fmul_rn(keep, w), step); }
};

struct adam {
	static constexpr bool first = true, second = true, ofRow = false, corrected = true, adaptive = true;
	template <class Math> __device__ __forceinline__ static void update(float &w, float &m, float &v, float g, const Decays &d, const StepNumbers &s, float) {
		m = fmaf(d.beta1, m, d.oneMinusBeta1 * g);
		v = fmaf(d.beta2, v, d.oneMinusBeta2 * g * g);
		w = Math::moved(s.keep, w, Math::quotient(s.scale * m, Math::root(v) + s.epsilon));
	}
};

struct adamRow {
	static constexpr bool first = true, second = false, ofRow = true, corrected = true, adaptive = true;
	__device__ __forceinline__ static float scaleOf(float &second, float meanSquare, const Decays &d, const StepNumbers &s) {
		second = fmaf(d.beta2, second, d.oneMinusBeta2 * meanSquare);
		return s.scale / (sqrtf(second) + s.epsilon);
	}
	template <class Math> __device__ __forceinline__ static void update(float &w, float &m, float &, float g, const Decays &d, const StepNumbers &s, float scale) {
		m = fmaf(d.beta1, m, d.oneMinusBeta1 * g);
		w = Math::moved(s.keep, w, scale * m);
	}
};

// scaled is RMSProp and AdaGrad, whose sum of squares is a second moment with beta2 and oneMinusBeta2 of 1. Its step has the
// learning rate as scale.
struct scaled {
	static constexpr bool first = false, second = true, ofRow = false, corrected = false, adaptive = true;
	template <class Math> __device__ __forceinline__ static void update(float &w, float &, float &v, float g, const Decays &d, const StepNumbers &s, float) {
		v = fmaf(d.beta2, v, d.oneMinusBeta2 * g * g);
		w = Math::moved(s.keep, w, Math::quotient(s.scale * g, Math::root(v) + s.epsilon));
	}
};

struct sgd {
	static constexpr bool first = false, second = false, ofRow = false, corrected = false, adaptive = false;
	template <class Math> __device__ __forceinline__ static void update(float &w, float &, float &, float g, const Decays &, const StepNumbers &s, float) {
		w = Math::moved(s.keep, w, s.rate * g);
	}
};

// A Table is a table of float32 values with the state of its optimizer: as in methods.go.
struct Table {
	float4 *values;         // (rows, quads)
	float4 *first, *second; // moments, or sums of squares, (rows, quads)
	float *secondOfRow;     // (rows)
	uint2 *narrow;          // (rows, quads) the values in float16, which updateRow keeps; or null
	uint32_t rows, quads, columns, unused;
	Decays decays;
};

// A Rule is of an optimizer whose numbers differ from row to row: as in methods.go.
struct Rule {
	float decay, epsilon, logBeta1, logBeta2; // logarithms of Adam's betas
};

// corrections returns by what the bias correction of update number n changes Adam's learning rate and epsilon.
__device__ __forceinline__ float2 corrections(const Rule &a, float n) {
	float left1 = -expm1f(a.logBeta1 * n), left2 = sqrtf(-expm1f(a.logBeta2 * n));
	return make_float2(left2 / left1, left2);
}

// numbersOf returns the numbers of an update of a row by the mean of so many independent samples. Where steps are as large
// as gradients, that is their sum divided by its standard deviation.
template <class method> __device__ __forceinline__ StepNumbers numbersOf(const Rule &a, const StepNumbers &step, float2 corrections, float samples) {
	StepNumbers s = {0, step.keep, step.rate, a.epsilon, step.rate};
	if constexpr (method::corrected) s.scale *= corrections.x, s.epsilon *= corrections.y;
	if constexpr (!method::adaptive) {
		s.rate *= root(samples);
		s.keep = 1 - s.rate * a.decay;
	}
	return s;
}

// optimize updates w, a row of so many columns with moments m and v, or second as the one of them all, by the gradient g.
template <class method, int F>
__device__ __forceinline__ void optimize(const Decays &d, uint32_t columns, const StepNumbers &s, float &second,
	Row<F> &w, Row<F> &m, Row<F> &v, const Row<F> &g) {
	float scale = 0;
	if constexpr (method::ofRow) scale = method::scaleOf(second, sum(partial(g, g)) / columns, d, s);
	auto update = [&](float &w, float &m, float &v, float g) { method::template update<Quick>(w, m, v, g, d, s, scale); };
#pragma unroll
	for (int f = 0; f < F; f++) {
		update(w.v[f].x, m.v[f].x, v.v[f].x, g.v[f].x);
		update(w.v[f].y, m.v[f].y, v.v[f].y, g.v[f].y);
		update(w.v[f].z, m.v[f].z, v.v[f].z, g.v[f].z);
		update(w.v[f].w, m.v[f].w, v.v[f].w, g.v[f].w);
	}
}

template <class method, int F>
__device__ __forceinline__ void optimize(const Table &t, const StepNumbers &s, size_t row, Row<F> &w, Row<F> &m, Row<F> &v, const Row<F> &g) {
	float second = 0;
	if constexpr (method::ofRow) second = t.secondOfRow[row];
	optimize<method>(t.decays, t.columns, s, second, w, m, v, g);
	__syncwarp();
	if (method::ofRow && laneNumber() == 0) t.secondOfRow[row] = second;
}

// keepNarrow writes a row to the copy of a table in float16.
template <int F> __device__ __forceinline__ void keepNarrow(const Table &t, size_t row, const Row<F> &x) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < t.quads) t.narrow[row * t.quads + i] = narrow(x.v[f], 1);
}

// updateRow updates a row of a table by its gradient.
template <class method, int F> __device__ __forceinline__ void updateRow(const Table &t, const StepNumbers &s, size_t row, const Row<F> &g) {
	size_t at = row * t.quads;
	Row<F> w = load<F>(t.values + at, t.quads), m, v;
	if constexpr (method::first) m = load<F>(t.first + at, t.quads);
	if constexpr (method::second) v = load<F>(t.second + at, t.quads);
	optimize<method>(t, s, row, w, m, v, g);
	if constexpr (method::first) store(t.first + at, t.quads, m);
	if constexpr (method::second) store(t.second + at, t.quads, v);
	store(t.values + at, t.quads, w);
	if (t.narrow) keepNarrow(t, row, w);
}
