// Rows of W that are composed of parts, such as n-grams: package sequential/composed has the same
// for the CPU. Before the kernels of a mode train a unit, mark finds its words and compose makes
// their rows of W. Behind it their changes go to the parts and to words' own rows:
//
//	compose  W_w = (o_w + Σ z_g) / (1+G)      over the G parts g of word w
//	changes  Δ_w = W_w - W_w as it was composed
//	push     z_g += r_g Σ Δ_w                 over the words w of part g, of which n_g have changed;
//	                                          r_g = rate min(1, most/n_g)
//	own      o_w += (1+G - Σ r_g) Δ_w
//
// All sums are in a fixed order. A group of eight lanes has a row, some chunks of it at a time.
#include <cstdint>

struct ComposedArgs {
	float4 *words;          // W: (chunks, vocabulary, 8); see Chunks of rows.cuh
	float4 *before;         // the same: W as it was composed, then Δ
	float4 *own;            // the same: o; null: words have no rows of their own
	float4 *parts;          // z: (chunks, all, 8)
	const uint32_t *starts; // (vocabulary+1): word w has the parts symbols[starts[w]] ... symbols[starts[w+1]-1]
	const uint32_t *symbols;
	const uint32_t *firsts; // (all+1): part g has the words users[firsts[g]] ... users[firsts[g+1]-1]
	const uint32_t *users;
	const uint32_t *order;  // (all): parts, those of many words ahead
	const uint32_t *tokens; // of the text
	uint8_t *state;         // (vocabulary): of words in this unit; absent between two units
	uint32_t *counts;       // (all): n_g; 0 between two units
	float *rates;           // (all): r_g of parts that change
	uint64_t first, end;    // tokens of the unit
	uint32_t vocabulary, all, chunks;
	uint32_t frequent; // parts of many words
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
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		if (a.state[w] == absent) continue;
		uint32_t first = a.starts[w], end = a.starts[w + 1];
		float share = 1.0f / (end - first + (a.own ? 1 : 0));
		for (uint32_t c = 0; c < a.chunks; c += together) {
			Some sum;
#pragma unroll 2
			for (uint32_t k = first; k < end; k++) sum.add(1, a.parts, a.all, __ldg(a.symbols + k), c, a.chunks);
			if (a.own) sum.add(1, a.own, a.vocabulary, w, c, a.chunks);
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

// rateOf returns r of a part whose n words have changed, and keeps it.
__device__ __forceinline__ float rateOf(const ComposedArgs &a, uint32_t g, uint32_t n) {
	float rate = n > a.most ? a.rate * (a.most / n) : a.rate;
	if (laneOfGroup() == 0) a.rates[g] = rate;
	return rate;
}

// sum adds up the changes of the words number first, first + step, ... of a part.
__device__ __forceinline__ Some sum(const ComposedArgs &a, uint32_t chunk, uint32_t first, uint32_t end, uint32_t step) {
	Some changes;
#pragma unroll 2
	for (uint32_t k = first; k < end; k += step) {
		uint32_t w = __ldg(a.users + k);
		if (a.state[w] == changed) changes.add(1, a.before, a.vocabulary, w, chunk, a.chunks);
	}
	return changes;
}

// A group has a part of few words, ...
extern "C" __global__ void composed_push(ComposedArgs a) {
	for (uint32_t i = a.frequent + groupNumber(); i < a.all; i += groupsOfGrid()) {
		uint32_t g = a.order[i], n = a.counts[g];
		if (n == 0) continue;
		float rate = rateOf(a, g, n);
		for (uint32_t c = 0; c < a.chunks; c += together)
			sum(a, c, a.firsts[g], a.firsts[g + 1], 1).addTo(rate, a.parts, a.all, g, c, a.chunks);
	}
}

// ... and a thread block a part of many.
extern "C" __global__ void __launch_bounds__(256) composed_push_frequent(ComposedArgs a) {
	constexpr int groups = 256 / lanesOfGroup;
	__shared__ float4 sums[together][groups][lanesOfGroup];
	int group = threadIdx.x / lanesOfGroup, lane = laneOfGroup();
	for (uint32_t i = blockIdx.x; i < a.frequent; i += gridDim.x) {
		uint32_t g = a.order[i], n = a.counts[g];
		if (n == 0) continue; // all threads of the block
		for (uint32_t c = 0; c < a.chunks; c += together) {
			Some changes = sum(a, c, a.firsts[g] + group, a.firsts[g + 1], groups);
#pragma unroll
			for (int k = 0; k < together; k++) sums[k][group][lane] = changes.v[k];
			__syncthreads();
			if (group < together && c + group < a.chunks) {
				float4 total = make_float4(0, 0, 0, 0);
				for (int k = 0; k < groups; k++) add(total, 1, sums[group][k][lane]);
				add(a.parts[at(c + group, a.all, g)], rateOf(a, g, n), total);
			}
			__syncthreads();
		}
	}
}

// own forgets the unit, too.
extern "C" __global__ void composed_own(ComposedArgs a) {
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		uint8_t state = a.state[w];
		if (state == absent) continue;
		if (state == changed) {
			float rest = 0;
			uint32_t first = a.starts[w], end = a.starts[w + 1];
			for (uint32_t k = first + laneOfGroup(); k < end; k += lanesOfGroup) {
				uint32_t g = a.symbols[k];
				rest += 1 - a.rates[g];
				a.counts[g] = 0;
			}
#pragma unroll
			for (int l = lanesOfGroup / 2; l > 0; l /= 2) rest += __shfl_xor_sync(lanesOfThisGroup(), rest, l);
			for (uint32_t c = 0; a.own && c < a.chunks; c++) add(a.own[at(c, a.vocabulary, w)], 1 + rest, a.before[at(c, a.vocabulary, w)]);
		}
		__syncwarp(lanesOfThisGroup()); // all have read it
		if (laneOfGroup() == 0) a.state[w] = absent;
	}
}
