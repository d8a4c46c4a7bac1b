// Step 1 of W2V-CL with an encoder: cl/step.cuh for rows that are composed.
//
//	rows: (V, N), composed
//	for each row with a share: its gradient, as step.cuh has it
//		gradient: (V, N), in 16 bits, times the row's weight
//		trained[row] = the step's number
//		own: (V, N), words' own vectors, which are part of rows: updated as rows of a table
//
// Rows without a share keep an old gradient: trained tells. Where products read all rows, subword_forget has set it to zero
// before.
#include "../cl/single.cuh"
#include "subword.cuh"

// Beside is what a composed row has beside tables.
struct Beside {
	float4 *own;          // (V, quads); or the rows themselves: there are none
	Gradients gradients;    // of several GPUs those of this one's rows
	uint32_t words, rows; // words: own is to be updated
	uint32_t shift, unused; // gradient has row number row >> shift
};

template <int F> struct Composed : Single<F> {
	using S = Single<F>;
	using S::values;
	static constexpr bool leftIsNew = true; // by the kernels just before
	struct Moments {
		typename S::Moments moments;
		typename S::Packed own;
		float weight;
	};
	const Beside &b;
	uint32_t stream;

	__device__ __forceinline__ Composed(const StepTable &t, uint32_t stream) : S(t, stream), b(*(const Beside *)t.leftLow), stream(stream) {}

	// Without vectors of words' own the row itself stands for all: no condition may make the compiler wait.
	template <class method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		S::template load<method>(r.moments, row);
		uint32_t of = row == none ? 0 : row; // words' own vectors are whole tables, moments are not
		S::load(r.own, b.own + (S::start(of) - S::start(this->t.sharing.placeOf(of))), row);
		r.weight = b.gradients.weights[row == none ? 0 : row];
	}

	template <class method>
	__device__ __forceinline__ void update(uint32_t row, float (&)[values], const float (&g)[values], Moments &r, const StepNumbers &s) const {
		Row<F> gradient;
#pragma unroll
		for (int i = 0; i < F; i++) gradient.v[i] = quadOf(g, 4 * i);
		b.gradients.keep(row, this->t.sharing.placeOf(row), gradient, r.weight, stream);
		if (!b.words) return;
		StepTable t = this->t;
		t.left = b.own;
		t.sharing.others = 0; // the rows of which are here alone
		float w[values];
#pragma unroll
		for (int i = 0; i < F; i++) setQuad(w, 4 * i, r.own.v[i]);
		S(t, stream).template update<method>(row, w, g, r.moments, s);
	}
};

#define COMPOSED(method, F, G, groups, blocks) \
	extern "C" __global__ void __launch_bounds__(groupThreads * groups, blocks) composed_##method##_##F(const __grid_constant__ StepLaunch a) { \
		train<Composed<F>, G, method>(a); \
	}

// As in step.cu.
ADAPTIVE(COMPOSED, 1, 8, 1, 2)
ADAPTIVE(COMPOSED, 2, 4, 2, 1)
ADAPTIVE(COMPOSED, 3, 2, 2, 1)
ADAPTIVE(COMPOSED, 4, 2, 2, 1)
ADAPTIVE(COMPOSED, 8, 2, 1, 1)

constexpr uint32_t never = 0xffffffffu; // no step has this number

// subword_come notes the rows of the jobs of a step, eight numbers each, of samples, and of shared negatives. A thread has
// one of these.
extern "C" __global__ void __launch_bounds__(256) subword_come(const uint32_t *jobs, const uint32_t *tiles, const uint32_t *samples, uint64_t slots,
	const uint32_t *shared, uint64_t negatives, uint32_t *coming, const StepNumbers *step, uint64_t rows) {
	uint32_t i = blockIdx.x * 256 + threadIdx.x, row;
	if (i < slots) row = samples[i];
	else if (i -= slots; i < negatives) row = shared[i];
	else if (i -= negatives; i < 8 * *tiles) row = jobs[8 * size_t(i)];
	else return;
	if (row < rows) coming[row] = step->stream; // a sample or a job may be of no row
}

// subword_forget sets the gradients of rows to zero that do not come in a step. A warp has 32 rows.
extern "C" __global__ void __launch_bounds__(128) subword_forget(const Beside *beside, const uint32_t *coming, const StepNumbers *step) {
	const Beside b = *beside;
	uint32_t first = blockIdx.x * 128 + threadIdx.x / 32 * 32, row = first + laneNumber();
	bool old = row < b.rows && coming[row] != step->stream && b.gradients.trained[row] != never;
	for (uint32_t left = __ballot_sync(warp, old); left; left &= left - 1) {
		size_t at = size_t((first + __ffs(left) - 1) >> b.shift) * b.gradients.rows.stride;
		for (uint32_t i = 4 * laneNumber(); i < b.gradients.rows.stride; i += 128) *(uint2 *)(b.gradients.rows.values + at + i) = make_uint2(0, 0);
	}
	if (old) b.gradients.trained[row] = never;
}
