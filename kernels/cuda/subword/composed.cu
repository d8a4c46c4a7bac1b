// Step 1 of tempered W2V-CL with an encoder: cl/tempered.cuh for rows that are composed.
//
//	rows: (V, N), composed  right: (V, N), frozen  samples: (S)
//	for each row with a share: its gradient, as tempered.cuh has it
//		gradient: (V, N), split for products, or in 16 bits for sums
//		trained[row] = the step's number
//		own: (V, N), words' own vectors, which are part of rows: updated as rows of a table
//
// Rows without a share keep an old gradient: trained tells. subword_forget sets it to zero, where
// products read all rows.
#define FORMAT_ONLY
#include "../cl/tempered.cu"
#include "subword.cuh"

// Beside is what a composed row has beside tables.
struct Beside {
	float4 *own;          // (V, quads); or the rows themselves: there are none
	Split split;          // of the gradient
	uint32_t *trained;    // (V)
	uint32_t words, rows; // words: own is to be updated
};

template <int F> struct Composed : Single<F> {
	using S = Single<F>;
	using S::values;
	struct Moments {
		typename S::Moments moments;
		typename S::Packed own;
	};
	const Beside &b;
	uint32_t stream;

	__device__ __forceinline__ Composed(const TemperedTable &t, uint32_t stream) : S(t, stream), b(*(const Beside *)t.leftLow), stream(stream) {}

	// Without vectors of words' own the row itself stands for all: no condition may make the compiler wait.
	template <Method method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		S::template load<method>(r.moments, row);
		S::load(r.own, b.own, row);
	}

	template <Method method>
	__device__ __forceinline__ void update(uint32_t row, float (&)[values], const float (&g)[values], Moments &r, const ClStep &s) const {
		const Split to = b.split;
#pragma unroll
		for (int i = 0; i < F; i++) {
			if (!S::has(i)) continue;
			float4 x = make_float4(g[4 * i], g[4 * i + 1], g[4 * i + 2], g[4 * i + 3]);
			put(to, row, 4 * S::at(i), x, gradientUnits);
		}
		if (laneNumber() == 0) b.trained[row] = stream;
		if (!b.words) return;
		TemperedTable t = this->t;
		t.left = b.own;
		float w[values];
#pragma unroll
		for (int i = 0; i < F; i++) w[4 * i] = r.own.v[i].x, w[4 * i + 1] = r.own.v[i].y, w[4 * i + 2] = r.own.v[i].z, w[4 * i + 3] = r.own.v[i].w;
		S(t, stream).template update<method>(row, w, g, r.moments, s);
	}
};

#define COMPOSED(method, F, G, groups, blocks) \
	extern "C" __global__ void __launch_bounds__(groupThreads * groups, blocks) composed_##method##_##F(const __grid_constant__ TemperedLaunch a) { \
		temper<Composed<F>, G, method>(a); \
	}
#define COMPOSED_METHODS(F, G, groups, blocks) COMPOSED(adam, F, G, groups, blocks) COMPOSED(adamRow, F, G, groups, blocks) COMPOSED(scaled, F, G, groups, blocks)

// As in tempered.cu.
COMPOSED_METHODS(1, 8, 1, 3)
COMPOSED_METHODS(2, 4, 2, 1)
COMPOSED_METHODS(3, 2, 2, 1)
COMPOSED_METHODS(4, 2, 2, 1)
COMPOSED_METHODS(8, 2, 1, 1)

constexpr uint32_t never = 0xffffffffu; // no step has this number

// subword_forget sets the gradients to zero that are of an older step. A warp has a row.
extern "C" __global__ void __launch_bounds__(128) subword_forget(const Beside *beside, const ClStep *step) {
	const Beside b = *beside;
	uint32_t row = blockIdx.x * 4 + threadIdx.x / 32;
	if (row >= b.rows) return;
	uint32_t trained = b.trained[row];
	if (trained == step->stream || trained == never) return;
	for (uint32_t i = 4 * laneNumber(); i < b.split.stride; i += 128) {
		*(uint2 *)(b.split.high + row * b.split.stride + i) = make_uint2(0, 0);
		if (b.split.low) *(uint2 *)(b.split.low + row * b.split.stride + i) = make_uint2(0, 0);
	}
	__syncwarp();
	if (laneNumber() == 0) b.trained[row] = never;
}
