// Rows of W that are composed of parts, such as n-grams: package kernels/composed has the same
// for the CPU. Before the kernels of a mode train a block, mark finds its words and compose makes
// their rows of W. Behind it their changes go to the parts and to words' own rows:
//
//	compose  W_w = (o_w + Σ s_g z_g) / (1+G)  over the parts g of word w, which stand for G = Σ s_g n-grams
//	changes  Δ_w = W_w - W_w as it was composed; n_g of each part g of w grows by 1 if it is not zero
//	push     z_g += r_g Δ_w                   for the parts g of w; r_g = rate min(1, most/n_g)
//	         o_w += (1+G - Σ s_g r_g) Δ_w
//
// A warp has four chunks of a word at a time. Parts are read and added to by their words, not words by their
// parts: then all warps have about as much to do, and L2 adds.
#include "rows.cuh"

struct ComposedArgs {
	float4 *words;          // W: (vocabulary, N)
	float4 *before;         // the same: W as it was composed, then Δ
	float4 *own;            // the same: o; null: words have no rows of their own
	float4 *parts;          // z: (all, N)
	const uint32_t *starts; // (vocabulary+1): word w has the parts symbols[starts[w]] ... symbols[starts[w+1]-1]
	const uint32_t *symbols;
	const float *sizes;     // s of each symbol
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

constexpr int lanesOfChunk = 8, together = 4; // chunks that a warp has at a time

__device__ __forceinline__ uint32_t warpNumber() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }
__device__ __forceinline__ uint32_t warpsOfGrid() { return gridDim.x * blockDim.x / 32; }
__device__ __forceinline__ uint32_t passes(const ComposedArgs &a) { return (a.layout.quads / lanesOfChunk + together - 1) / together; }

// addShared adds to values that others add to at the same time.
__device__ __forceinline__ void addShared(float4 *to, float x, const float4 &v) {
#if __CUDA_ARCH__ >= 900
	asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(x * v.x), "f"(x * v.y), "f"(x * v.z), "f"(x * v.w) : "memory");
#else
	atomicAdd(&to->x, x * v.x);
	atomicAdd(&to->y, x * v.y);
	atomicAdd(&to->z, x * v.z);
	atomicAdd(&to->w, x * v.w);
#endif
}

// A Share is four chunks of a word, of which this lane has a value of one.
struct Share {
	uint32_t word, first, end; // its parts
	uint32_t chunk;
	bool has; // there is such a chunk

	__device__ __forceinline__ Share(const ComposedArgs &a, uint32_t number, uint32_t pass)
		: word(a.list[number]), first(a.starts[word]), end(a.starts[word + 1]),
		  chunk(pass * together + laneNumber() / lanesOfChunk), has(chunk * lanesOfChunk < a.layout.quads) {}

	// of is this lane's part of a row, if it has one.
	__device__ __forceinline__ float4 *of(float4 *table, const Layout &l, uint32_t row) const {
		return table + size_t(row) * l.toNextRow + size_t(chunk) * l.toNextChunk + laneNumber() % lanesOfChunk;
	}
	// partOf is this lane's part of the 32 from number k on, and its size; 0 behind the last.
	__device__ __forceinline__ uint32_t partOf(const ComposedArgs &a, uint32_t k, float &size) const {
		uint32_t i = k + laneNumber();
		size = i < end ? __ldg(a.sizes + i) : 0;
		return i < end ? __ldg(a.symbols + i) : 0;
	}
	__device__ __forceinline__ float4 &ofWord(float4 *table, const ComposedArgs &a) const { return *of(table, a.layout, word); }
};

extern "C" __global__ void composed_mark(ComposedArgs a) {
	for (uint64_t i = a.first + blockIdx.x * blockDim.x + threadIdx.x; i < a.end; i += gridDim.x * blockDim.x) {
		uint32_t w = a.tokens[i];
		if (a.state[w] == absent && atomicExch(a.state + w, present) == absent) a.list[atomicAdd(a.length, 1u)] = w;
	}
}

extern "C" __global__ void __launch_bounds__(256, 4) composed_compose(ComposedArgs a) {
	uint32_t n = passes(a), all = *a.length * n;
	for (uint32_t i = warpNumber(); i < all; i += warpsOfGrid()) {
		Share s(a, i / n, i % n);
		float4 row = a.own && s.has ? s.ofWord(a.own, a) : make_float4(0, 0, 0, 0);
		float all = 0;
		for (uint32_t k = s.first; k < s.end; k += 32) {
			float size;
			uint32_t g = s.partOf(a, k, size), count = min(32u, s.end - k);
			all += size;
#pragma unroll 8
			for (uint32_t j = 0; j < count; j++) {
				uint32_t part = __shfl_sync(warp, g, j);
				float x = __shfl_sync(warp, size, j);
				if (s.has) add(row, x, *s.of(a.parts, a.layout, part));
			}
		}
		float share = 1 / (sum(all) + (a.own ? 1 : 0));
		if (!s.has) continue;
		s.ofWord(a.words, a) = s.ofWord(a.before, a) = make_float4(share * row.x, share * row.y, share * row.z, share * row.w);
	}
}

extern "C" __global__ void composed_changes(ComposedArgs a) {
	uint32_t n = *a.length;
	for (uint32_t i = warpNumber(); i < n; i += warpsOfGrid()) {
		bool any = false;
		Share s(a, i, 0);
		for (uint32_t pass = 0; pass < passes(a); pass++) {
			s = Share(a, i, pass);
			if (!s.has) continue;
			float4 d = s.ofWord(a.words, a), &before = s.ofWord(a.before, a);
			add(d, -1, before);
			before = d;
			any |= d.x != 0 || d.y != 0 || d.z != 0 || d.w != 0;
		}
		if (!__any_sync(warp, any)) continue;
		if (laneNumber() == 0) a.state[s.word] = changed;
		for (uint32_t k = s.first + laneNumber(); k < s.end; k += 32) atomicAdd(a.counts + a.symbols[k], 1);
	}
}

extern "C" __global__ void __launch_bounds__(256, 4) composed_push(ComposedArgs a) {
	uint32_t n = passes(a), all = *a.length * n;
	for (uint32_t i = warpNumber(); i < all; i += warpsOfGrid()) {
		Share s(a, i / n, i % n);
		if (a.state[s.word] != changed) continue;
		float4 change = s.has ? s.ofWord(a.before, a) : make_float4(0, 0, 0, 0);
		float rest = 0;
		for (uint32_t k = s.first; k < s.end; k += 32) {
			float size;
			uint32_t g = s.partOf(a, k, size), count = min(32u, s.end - k), users = a.counts[g];
			float rate = users > a.most ? a.rate * (a.most / users) : a.rate;
			rest += size * (1 - rate);
#pragma unroll 8
			for (uint32_t j = 0; j < count; j++) {
				uint32_t part = __shfl_sync(warp, g, j);
				float x = __shfl_sync(warp, rate, j);
				if (s.has) addShared(s.of(a.parts, a.layout, part), x, change);
			}
		}
		rest = sum(rest);
		if (a.own && s.has) add(s.ofWord(a.own, a), 1 + rest, change);
	}
}
