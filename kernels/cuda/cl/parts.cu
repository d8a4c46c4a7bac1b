// Rows of W that are means of rows of parts, such as n-grams, and of words' own, in CBOW and in
// skip-gram: see kernels/composed/compose.go.
//
//	parts: (U, N)  own: (V, N)  X: (V, N)
//	compose  X_w = (own_w + sum of parts_g) / number of rows     for words that occur
//	train    gradient of part g: sum of gradient_w / number of rows over its words that occur
//
// Both read float16 (subword.cuh). Each of several GPUs composes some columns of X for all: see cbow_group.go.
#include "stretch.cuh"

struct PartsArgs {
	Table parts;             // (U, N)
	float4 *composed;        // X, (V, wide)
	const float4 *own;       // (V, quads); null: words have no rows of their own
	uint2 *narrow;           // (U, quads), the parts in float16, which all keep that write parts
	const uint32_t *starts;  // (V+1)
	const uint2 *members;    // parts of word v from starts[v] on, and how often it has each
	const uint2 *users;      // words of part after part, and how often they have it
	const uint4 *jobs;       // (U) of train: a part, where its users begin and end, 0
	const uint2 *gradient;   // (V, quads) float16, times weights
	const uint32_t *trained; // (V), the stream of the last step that wrote a word's gradient
	const float *weights;    // (V), 1 over the number of a word's rows
	const StepNumbers *step; // of parts
	float *updates;          // (U), whose numbers correct them by a rule; null: the step's numbers do
	const uint32_t *list;    // words to compose; null: all
	const uint32_t *met;     // (V), the stream of the last step that reads a row of X; null: each may read all
	float4 *copies[7];       // X of the other GPUs that train the model
	Rule rule;
	uint32_t words;          // to compose
	uint32_t wide, first;    // quads of rows of X, and the first that this GPU has
	uint32_t frequent;       // parts come first: a thread block has one, of others a warp
	uint32_t others;
};

// addMembers adds rows of a list, those that are wanted. It calls ready before it reads them, and first before the first of them.
template <int F, class Ready, class Wanted, class First>
__device__ __forceinline__ bool addMembers(Row<F> &x, const uint2 *table, int quads, const uint2 *list, uint32_t from, uint32_t end,
	Ready ready, Wanted wanted, First first) {
	bool some = false;
	auto memberAt = [&](uint32_t from) { return from + laneNumber() < end ? __ldg(list + from + laneNumber()) : uint2{}; };
	uint2 member = memberAt(from);
	ready();
	for (; from < end; from += 32) {
		uint32_t lanes = __ballot_sync(warp, from + laneNumber() < end && wanted(member.x));
		if (lanes && !some) first(), some = true;
		uint2 next = memberAt(from + 32);
		addRows(x, Slim{table}, quads, member.x, float(member.y), lanes);
		member = next;
	}
	return some;
}

template <int F> __device__ __forceinline__ void compose(const PartsArgs &a) {
	const uint32_t i = blockIdx.x * blockWarps + warpOfBlock();
	if (i >= a.words) return;
	const int quads = a.parts.quads;
	const uint32_t v = a.list ? a.list[i] : i;
	if (a.met && a.met[v] != a.step->stream) return;
	Row<F> x = zeros<F>();
	addMembers(x, a.narrow, quads, a.members, a.starts[v], a.starts[v + 1], [&] {
		awaitInputs();
		if (a.own) x = load<F>(a.own + size_t(v) * quads, quads);
	}, [](uint32_t) { return true; }, [] {});
	scale(x, a.weights[v]);
	const size_t at = size_t(v) * a.wide + a.first;
	store(a.composed + at, quads, x);
	for (uint32_t other = 0; other < a.others; other++) store(a.copies[other] + at, quads, x);
}

template <int F> __device__ __forceinline__ void toNarrow(const PartsArgs &a, size_t u, const Row<F> &x) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < a.parts.quads) a.narrow[u * a.parts.quads + i] = narrow(x.v[f], 1);
}

// train trains the part of a job: in a thread block, whose warps share its words, or in a warp. The thread blocks of frequent parts are among
// the others: those read from L2, these from memory.
template <int F, class method> __device__ __forceinline__ void train(const PartsArgs &a) {
	__shared__ float4 sumOf[blockWarps][32 * F];
	const uint32_t every = gridDim.x / max(a.frequent, 1u), number = blockIdx.x / every, w = warpOfBlock();
	const bool together = number < a.frequent && blockIdx.x % every == 0;
	const uint32_t i = together ? number : a.frequent + (blockIdx.x - min(a.frequent, number + 1)) * blockWarps + w;
	if (i >= a.parts.rows) return;
	const uint4 job = __ldg(a.jobs + i);
	const uint32_t u = job.x, stream = a.step->stream;
	auto at = [&](uint32_t w) { return job.y + uint32_t(uint64_t(job.z - job.y) * w / blockWarps); };
	Row<F> g = zeros<F>();
	auto wanted = [&](uint32_t word) { return a.trained[word] == stream; };
	bool some = addMembers(g, a.gradient, a.parts.quads, a.users, together ? at(w) : job.y, together ? at(w + 1) : job.z, awaitInputs, wanted, [&] {
		if (w == 0 || !together) prefetch<method>(a.parts, u);
	});
	if (together) {
		store(sumOf[w], 32 * F, g);
		some = __syncthreads_or(some);
		if (w > 0) return;
		for (int other = 1; other < blockWarps; other++) add(g, 1, load<F>(sumOf[other], 32 * F));
	}
	if (!some) return;
	const float updates = a.updates ? a.updates[u] + 1 : 1;
	__syncwarp();
	if (a.updates && laneNumber() == 0) a.updates[u] = updates;
	const StepNumbers s = a.updates ? numbersOf<method>(a.rule, *a.step, corrections(a.rule, updates), 1) : *a.step;
	scale(g, 1 / gradientUnits);
	toNarrow<F>(a, u, updateRow<method>(a.parts, s, u, g));
}

#define KERNEL(name, F) extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) name(const __grid_constant__ PartsArgs a)
#define COMPOSE(F, ...) \
	KERNEL(parts_compose_##F, F) { compose<F>(a); } \
	KERNEL(parts_narrow_##F, F) { \
		size_t u = size_t(blockIdx.x) * blockWarps + warpOfBlock(); \
		if (u < a.parts.rows) toNarrow<F>(a, u, load<F>(a.parts.values + u * a.parts.quads, a.parts.quads)); \
	}
#define TRAIN(method, F) KERNEL(parts_train_##method##_##F, F) { train<F, method>(a); }
#define TRAIN_OF_SIZE(F, ...) METHODS(TRAIN, F)

SIZES(COMPOSE)
SIZES(TRAIN_OF_SIZE)
