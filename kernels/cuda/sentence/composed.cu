// Rows of W that are composed of parts, such as n-grams: package sequential/composed has the same
// for the CPU. Before the kernels of a mode train a unit, mark finds its words and compose makes
// their rows of W. Behind it their changes go to the parts and to words' own rows:
//
//	compose  W_w = (o_w + Σ z_g) / (1+G)      over the G parts g of word w
//	changes  Δ_w = W_w - W_w as it was composed; n_g of each part g of w grows by 1 if it is not zero
//	push     z_g += r_g Δ_w                   for the parts g of w; r_g = rate min(1, most/n_g)
//	         o_w += (1+G - Σ r_g) Δ_w
//
// A group of eight lanes has a word, some chunks of its rows at a time. Parts are read and added to by
// their words, not words by their parts: then all groups have about as much to do, and L2 adds.
#include <cstdint>

struct ComposedArgs {
	float4 *words;          // W: (chunks, vocabulary, 8); see Chunks of rows.cuh
	float4 *before;         // the same: W as it was composed, then Δ
	float4 *own;            // the same: o; null: words have no rows of their own
	float4 *parts;          // z: (chunks, all, 8)
	const uint32_t *starts; // (vocabulary+1): word w has the parts symbols[starts[w]] ... symbols[starts[w+1]-1]
	const uint32_t *symbols;
	const uint32_t *tokens; // of the text
	uint8_t *state;         // (vocabulary): of words in this unit; absent between two units
	uint32_t *counts;       // (all): n_g; 0 before a unit
	uint64_t first, end;    // tokens of the unit
	uint32_t vocabulary, all, chunks;
	float rate, most;
};

enum State : uint8_t { absent, present, changed };

constexpr int lanesOfGroup = 8;
constexpr int together = 4; // chunks whose loads are under way at a time

__device__ __forceinline__ uint32_t groupNumber() { return (blockIdx.x * blockDim.x + threadIdx.x) / lanesOfGroup; }
__device__ __forceinline__ uint32_t groupsOfGrid() { return gridDim.x * blockDim.x / lanesOfGroup; }
__device__ __forceinline__ int laneOfGroup() { return threadIdx.x % lanesOfGroup; }
__device__ __forceinline__ unsigned lanesOfThisGroup() { return 0xffu << (threadIdx.x % 32 / lanesOfGroup * lanesOfGroup); }

// at is the place of a lane's values of a row in a table of so many rows.
__device__ __forceinline__ size_t at(uint32_t chunk, uint32_t rows, uint32_t row) {
	return (size_t(chunk) * rows + row) * lanesOfGroup + laneOfGroup();
}

__device__ __forceinline__ void add(float4 &sum, float x, const float4 &v) {
	sum.x += x * v.x;
	sum.y += x * v.y;
	sum.z += x * v.z;
	sum.w += x * v.w;
}

// Some are a lane's values of some chunks of a row, from chunk first on.
struct Some {
	float4 v[together];

	__device__ __forceinline__ Some() {
#pragma unroll
		for (int i = 0; i < together; i++) v[i] = make_float4(0, 0, 0, 0);
	}
	__device__ __forceinline__ void add(float x, const float4 *table, uint32_t rows, uint32_t row, uint32_t first, uint32_t chunks) {
#pragma unroll
		for (int i = 0; i < together; i++)
			if (first + i < chunks) ::add(v[i], x, table[at(first + i, rows, row)]);
	}
	__device__ __forceinline__ void addTo(float x, float4 *table, uint32_t rows, uint32_t row, uint32_t first, uint32_t chunks) const {
#pragma unroll
		for (int i = 0; i < together; i++)
			if (first + i < chunks) ::add(table[at(first + i, rows, row)], x, v[i]);
	}
};

extern "C" __global__ void composed_mark(ComposedArgs a) {
	for (uint64_t i = a.first + blockIdx.x * blockDim.x + threadIdx.x; i < a.end; i += gridDim.x * blockDim.x) a.state[a.tokens[i]] = present;
}

extern "C" __global__ void composed_compose(ComposedArgs a) {
	unsigned lanes = lanesOfThisGroup();
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		if (a.state[w] == absent) continue;
		uint32_t first = a.starts[w], end = a.starts[w + 1];
		float share = 1.0f / (end - first + (a.own ? 1 : 0));
		for (uint32_t c = 0; c < a.chunks; c += together) {
			Some sum;
			if (a.own) sum.add(1, a.own, a.vocabulary, w, c, a.chunks);
			for (uint32_t k = first; k < end; k += lanesOfGroup) {
				uint32_t mine = k + laneOfGroup() < end ? __ldg(a.symbols + k + laneOfGroup()) : 0;
#pragma unroll 4
				for (int j = 0; j < lanesOfGroup; j++) {
					uint32_t g = __shfl_sync(lanes, mine, j, lanesOfGroup);
					if (k + j < end) sum.add(1, a.parts, a.all, g, c, a.chunks);
				}
			}
#pragma unroll
			for (int i = 0; i < together; i++) {
				if (c + i >= a.chunks) break;
				float4 row = make_float4(share * sum.v[i].x, share * sum.v[i].y, share * sum.v[i].z, share * sum.v[i].w);
				a.words[at(c + i, a.vocabulary, w)] = row;
				a.before[at(c + i, a.vocabulary, w)] = row;
			}
		}
	}
}

extern "C" __global__ void composed_changes(ComposedArgs a) {
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		if (a.state[w] == absent) continue;
		bool any = false;
		for (uint32_t c = 0; c < a.chunks; c++) {
			size_t i = at(c, a.vocabulary, w);
			float4 d = a.words[i];
			add(d, -1, a.before[i]);
			a.before[i] = d;
			any |= d.x != 0 || d.y != 0 || d.z != 0 || d.w != 0;
		}
		if (!__any_sync(lanesOfThisGroup(), any)) continue;
		if (laneOfGroup() == 0) a.state[w] = changed;
		for (uint32_t k = a.starts[w] + laneOfGroup(); k < a.starts[w + 1]; k += lanesOfGroup) atomicAdd(a.counts + a.symbols[k], 1);
	}
}

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

// push adds the change of a word to all its parts, and to its own row. It forgets the word, but counts stay.
extern "C" __global__ void composed_push(ComposedArgs a) {
	unsigned lanes = lanesOfThisGroup();
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		uint8_t state = a.state[w];
		if (state == absent) continue;
		if (state == changed) {
			uint32_t first = a.starts[w], end = a.starts[w + 1];
			float rest = 0;
			for (uint32_t c = 0; c < a.chunks; c += together) {
				Some change;
				change.add(1, a.before, a.vocabulary, w, c, a.chunks);
				for (uint32_t k = first; k < end; k += lanesOfGroup) {
					uint32_t g = 0;
					float rate = 0;
					if (k + laneOfGroup() < end) {
						g = __ldg(a.symbols + k + laneOfGroup());
						uint32_t n = a.counts[g];
						rate = n > a.most ? a.rate * (a.most / n) : a.rate;
						if (c == 0) rest += 1 - rate;
					}
#pragma unroll
					for (int j = 0; j < lanesOfGroup; j++) {
						uint32_t to = __shfl_sync(lanes, g, j, lanesOfGroup);
						float x = __shfl_sync(lanes, rate, j, lanesOfGroup);
						if (k + j < end)
#pragma unroll
							for (int i = 0; i < together; i++)
								if (c + i < a.chunks) addShared(a.parts + at(c + i, a.all, to), x, change.v[i]);
					}
				}
				if (c == 0)
#pragma unroll
					for (int l = lanesOfGroup / 2; l > 0; l /= 2) rest += __shfl_xor_sync(lanes, rest, l);
				if (a.own) change.addTo(1 + rest, a.own, a.vocabulary, w, c, a.chunks);
			}
		}
		__syncwarp(lanes); // all have read it
		if (laneOfGroup() == 0) a.state[w] = absent;
	}
}
