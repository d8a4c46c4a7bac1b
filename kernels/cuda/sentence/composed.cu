// Rows of W that are composed of parts, such as n-grams: package kernels/composed has the same
// for the CPU. Before the kernels of a mode train a block, mark finds its words and compose makes
// their rows of W. Behind it their changes go to the parts and to words' own rows:
//
//	compose  W_w = (o_w + Σ s_g z_g) / (1+G)  over the parts g of word w, which stand for G = Σ s_g n-grams
//	changes  Δ_w = W_w - W_w as it was composed; n_g of each part g of w grows by 1 if it is not zero
//	push     z_g += r_g Δ_w                   for the parts g of w; r_g = rate min(1, most/n_g)
//	         o_w += (1+G - Σ s_g r_g) Δ_w
//
// A warp has a word. Parts are read and added to by their words, not words by their parts: then all warps have about as much
// to do, and L2 adds.
#include "composed.cuh"
#include "methods.cuh"

struct ComposedArgs {
	float4 *words;          // W: (vocabulary, N)
	float4 *before;         // the same: W as it was composed, then Δ
	float4 *own;            // the same: o; null: words have no rows of their own
	float4 *parts;          // z: (all, N)
	const uint32_t *starts; // (vocabulary+1): word w has the parts members[starts[w]] ... members[starts[w+1]-1]
	const uint2 *members;   // a part, and its s
	const float *weights;   // (vocabulary): 1 over the number of a word's rows
	const uint32_t *tokens; // of the text
	uint32_t *list;         // (vocabulary): the words of this block
	uint32_t *length;       // of list; 0 before a block, as the next two
	uint32_t *state;        // (vocabulary): of words in this block
	uint32_t *counts;       // (all): n_g
	uint64_t first, end;    // tokens of the block
	Layout layout; // of all these tables
	float rate, most;
};

enum State : uint32_t { absent, present, changed };

__device__ __forceinline__ uint32_t warpNumber() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }
__device__ __forceinline__ uint32_t warpsOfGrid() { return gridDim.x * blockDim.x / 32; }

extern "C" __global__ void composed_mark(ComposedArgs a) {
	for (uint64_t i = a.first + blockIdx.x * blockDim.x + threadIdx.x; i < a.end; i += gridDim.x * blockDim.x) {
		uint32_t w = a.tokens[i];
		if (a.state[w] == absent && atomicExch(a.state + w, present) == absent) a.list[atomicAdd(a.length, 1u)] = w;
	}
}

template <int F> __device__ __forceinline__ void compose(const ComposedArgs &a) {
	const int quads = a.layout.quads;
	for (uint32_t i = warpNumber(); i < *a.length; i += warpsOfGrid()) {
		const size_t word = a.list[i], at = word * quads;
		const Row<F> row = composed<F>(a.own ? a.own + at : nullptr, a.parts, quads, a.members, a.starts[word], a.starts[word + 1], a.weights[word]);
		store(a.words + at, quads, row);
		store(a.before + at, quads, row);
	}
}

template <int F> __device__ __forceinline__ void changes(const ComposedArgs &a) {
	const int quads = a.layout.quads;
	for (uint32_t i = warpNumber(); i < *a.length; i += warpsOfGrid()) {
		const size_t word = a.list[i], at = word * quads;
		Row<F> change = load<F>(a.words + at, quads);
		add(change, -1, load<F>(a.before + at, quads));
		store(a.before + at, quads, change);
		bool any = false;
#pragma unroll
		for (int f = 0; f < F; f++) any |= change.v[f].x != 0 || change.v[f].y != 0 || change.v[f].z != 0 || change.v[f].w != 0;
		if (!__any_sync(warp, any)) continue;
		if (laneNumber() == 0) a.state[word] = changed;
		for (uint32_t k = a.starts[word] + laneNumber(); k < a.starts[word + 1]; k += 32) atomicAdd(a.counts + a.members[k].x, 1);
	}
}

template <int F> __device__ __forceinline__ void push(const ComposedArgs &a) {
	const int quads = a.layout.quads;
	for (uint32_t i = warpNumber(); i < *a.length; i += warpsOfGrid()) {
		const size_t word = a.list[i], at = word * quads;
		if (a.state[word] != changed) continue;
		const Row<F> change = load<F>(a.before + at, quads);
		spread<F>(a.own ? a.own + at : nullptr, a.parts, quads, a.members, a.starts[word], a.starts[word + 1], change, [&](uint32_t part) {
			uint32_t users = a.counts[part];
			return users > a.most ? a.rate * (a.most / users) : a.rate;
		});
	}
}

#define KERNEL(name, F) extern "C" __global__ void __launch_bounds__(256, F <= 3 ? 4 : 2) composed_##name##_##F(ComposedArgs a) { name<F>(a); }
#define OF_SIZE(F, ...) KERNEL(compose, F) KERNEL(changes, F) KERNEL(push, F)
SIZES(OF_SIZE)
