// Rows of W that are composed of parts, such as n-grams: package sequential/composed has the same
// for the CPU. The kernels of a mode train W as a table for a unit. Then these bring its changes
// to the parts and to words' own rows, and compose W anew:
//
//	changes  Δ_w = W_w - W_w as it was composed
//	push     z_g += d_g Σ s_w Δ_w         over the words w of part g, of which n_g have changed;
//	                                      d_g = min(1, most/n_g)
//	compose  o_w += (1+G - Σ d_g s_w) Δ_w over the G parts g of word w
//	         W_w = (o_w + Σ z_g) / (1+G)
//
// All sums are in a fixed order. A group of eight lanes has a chunk of a row. Kernels go through
// the tables chunk after chunk: of one, all rows of parts that words share stay in the cache.
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
	const uint32_t *order; // (all): parts, those of many words ahead
	const float *shares;   // (vocabulary): s
	uint8_t *changed;      // (vocabulary): whether Δ is not zero
	float *damped;         // (all): d of parts that change
	uint32_t vocabulary, all, chunks;
	uint32_t frequent; // parts of many words
	float most;        // 0: any number
};

constexpr int lanesOfGroup = 8;

__device__ __forceinline__ uint32_t groupNumber() { return (blockIdx.x * blockDim.x + threadIdx.x) / lanesOfGroup; }
__device__ __forceinline__ uint32_t groupsOfGrid() { return gridDim.x * blockDim.x / lanesOfGroup; }
__device__ __forceinline__ int laneOfGroup() { return threadIdx.x % lanesOfGroup; }

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

extern "C" __global__ void composed_changes(ComposedArgs a) {
	for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
		bool any = false;
		for (uint32_t c = 0; c < a.chunks; c++) {
			size_t i = at(c, a.vocabulary, w);
			float4 d = a.words[i];
			add(d, -1, a.before[i]);
			a.before[i] = d;
			any |= d.x != 0 || d.y != 0 || d.z != 0 || d.w != 0;
		}
		unsigned group = 0xffu << (threadIdx.x % 32 / lanesOfGroup * lanesOfGroup);
		any = __any_sync(group, any);
		if (laneOfGroup() == 0) a.changed[w] = any;
	}
}

// sum adds up the changes of the words number first, first + step, ... of a part, and counts them.
__device__ __forceinline__ float4 sum(const ComposedArgs &a, uint32_t chunk, uint32_t first, uint32_t end, uint32_t step, int &count) {
	float4 changes = make_float4(0, 0, 0, 0);
#pragma unroll 4
	for (uint32_t k = first; k < end; k += step) {
		uint32_t w = __ldg(a.users + k);
		if (a.changed[w]) {
			add(changes, __ldg(a.shares + w), a.before[at(chunk, a.vocabulary, w)]);
			count++;
		}
	}
	return changes;
}

// push brings the changes of count words to a part.
__device__ __forceinline__ void push(const ComposedArgs &a, uint32_t chunk, uint32_t g, const float4 &changes, int count) {
	if (count == 0) return;
	float damped = a.most > 0 && count > a.most ? a.most / count : 1;
	add(a.parts[at(chunk, a.all, g)], damped, changes);
	if (chunk == 0 && laneOfGroup() == 0) a.damped[g] = damped;
}

// A group has a part of few words, ...
extern "C" __global__ void composed_push(ComposedArgs a) {
	for (uint32_t c = 0; c < a.chunks; c++)
		for (uint32_t i = a.frequent + groupNumber(); i < a.all; i += groupsOfGrid()) {
			uint32_t g = a.order[i];
			int count = 0;
			float4 changes = sum(a, c, a.firsts[g], a.firsts[g + 1], 1, count);
			push(a, c, g, changes, count);
		}
}

// ... and a thread block a part of many.
extern "C" __global__ void __launch_bounds__(256) composed_push_frequent(ComposedArgs a) {
	constexpr int groups = 256 / lanesOfGroup;
	__shared__ float4 sums[groups][lanesOfGroup];
	__shared__ int counts[groups];
	int group = threadIdx.x / lanesOfGroup, lane = laneOfGroup();
	for (uint32_t i = blockIdx.x; i < a.frequent * a.chunks; i += gridDim.x) {
		uint32_t c = i / a.frequent, g = a.order[i % a.frequent];
		int count = 0;
		float4 changes = sum(a, c, a.firsts[g] + group, a.firsts[g + 1], groups, count);
		sums[group][lane] = changes;
		if (lane == 0) counts[group] = count;
		__syncthreads();
		if (group == 0) {
			for (int k = 1; k < groups; k++) {
				add(changes, 1, sums[k][lane]);
				count += counts[k];
			}
			push(a, c, g, changes, count);
		}
		__syncthreads();
	}
}

extern "C" __global__ void composed_compose(ComposedArgs a) {
	for (uint32_t c = 0; c < a.chunks; c++)
		for (uint32_t w = groupNumber(); w < a.vocabulary; w += groupsOfGrid()) {
			uint32_t first = a.starts[w], end = a.starts[w + 1];
			size_t i = at(c, a.vocabulary, w);
			float4 row = make_float4(0, 0, 0, 0);
			if (a.own) {
				row = a.own[i];
				if (a.changed[w]) {
					float rest = 1, share = a.shares[w];
					for (uint32_t k = first; k < end; k++) rest += 1 - share * a.damped[a.symbols[k]];
					add(row, rest, a.before[i]);
					a.own[i] = row;
				}
			}
			float4 total = make_float4(0, 0, 0, 0);
#pragma unroll 4
			for (uint32_t k = first; k < end; k++) add(total, 1, a.parts[at(c, a.all, __ldg(a.symbols + k))]);
			add(total, 1, row);
			float share = 1.0f / (end - first + (a.own ? 1 : 0));
			row = make_float4(share * total.x, share * total.y, share * total.z, share * total.w);
			a.words[i] = row;
			a.before[i] = row;
		}
}
