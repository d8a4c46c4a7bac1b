// Rows of W that are means of rows of parts, such as n-grams, and of words' own, in CBOW and in
// skip-gram: see kernels/composed/compose.go.
//
//	parts: (U, N)  own: (V, N)  X: (V, N)
//	compose  X_w = (own_w + sum of parts_g) / number of rows     for words that occur
//	train    gradient of part g: sum of gradient_w / number of rows over its words that occur
//
// Both read float16: the copy of the parts, and Gradients (subword.cuh). A job is as in tiles.go.
#include "stretch.cuh"

// partsArgs of partrows.go is the same.
struct PartsArgs {
	Table parts;             // (U, N)
	float4 *composed;        // X, (V, quads)
	const float4 *own;       // (V, quads); null: words have no rows of their own
	const uint32_t *starts;  // (V+1)
	const uint2 *members;    // parts of word v from starts[v] on, and how often it has each
	const uint2 *users;      // words of part after part, and how often they have it
	const uint4 *jobs;       // (tiles, 8) of train: a part or none, where its users begin and end, and piece and 2^16 pieces
	Gradients gradients;
	const StepNumbers *step; // of parts
	float *updates;          // (U), whose numbers correct them by a rule; null: the step's numbers do
	const uint32_t *list;    // words to compose; null: all
	const uint32_t *met;     // (V), the stream of the last step that reads a row of X; null: each may read all
	Rule rule;
	uint32_t words, unused;  // to compose
};

template <int F> __device__ __forceinline__ void compose(const PartsArgs &a) {
	const uint32_t i = blockIdx.x * blockWarps + warpOfBlock();
	if (i >= a.words) return;
	const int quads = a.parts.quads;
	const uint32_t v = a.list ? a.list[i] : i;
	if (a.met && a.met[v] != a.step->stream) return;
	const float4 *own = a.own ? a.own + size_t(v) * quads : nullptr;
	const Row<F> x = composed<F>(own, Slim{a.parts.narrow}, quads, a.members, a.starts[v], a.starts[v + 1], a.gradients.weights[v]);
	store(a.composed + size_t(v) * quads, quads, x);
}

// train trains the part of a job, whose first piece adds up what its words give it.
template <int F, class method> __device__ __forceinline__ void train(const PartsArgs &a) {
	__shared__ float4 sumOf[blockWarps][32 * F];
	__shared__ bool someOf[blockWarps];
	const uint32_t w = warpOfBlock();
	const uint4 job = __ldg(a.jobs + blockIdx.x * blockWarps + w);
	const uint32_t u = job.x, pieces = job.w >> 16, stream = a.step->stream;
	const bool owner = u != none && (job.w & 0xffff) == 0;
	Row<F> g = zeros<F>();
	bool some = addMembers(g, Slim{(const uint2 *)a.gradients.rows.values}, a.parts.quads, a.users, job.y, job.z,
		awaitInputs, [&](uint32_t word) { return a.gradients.trained[word] == stream; }, [&] { if (owner) prefetch<method>(a.parts, u); });
	if (pieces > 1) { // so it is in all jobs of a thread block
		if (!owner) store(sumOf[w], 32 * F, g);
		if (laneNumber() == 0) someOf[w] = some;
		__syncthreads();
		for (uint32_t other = w + 1; owner && other < w + pieces; other++) {
			if (someOf[other]) add(g, 1, load<F>(sumOf[other], 32 * F));
			some |= someOf[other];
		}
	}
	if (!some || !owner) return;
	const float updates = a.updates ? a.updates[u] + 1 : 1;
	__syncwarp();
	if (a.updates && laneNumber() == 0) a.updates[u] = updates;
	// As one sample: the gradient is a sum of means of words already.
	const StepNumbers s = a.updates ? numbersOf<method>(a.rule, *a.step, corrections(a.rule, updates), 1) : *a.step;
	scale(g, 1 / gradientUnits);
	updateRow<method>(a.parts, s, u, g);
}

#define KERNEL(name, F) extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) name(const __grid_constant__ PartsArgs a)
#define COMPOSE(F, ...) \
	KERNEL(parts_compose_##F, F) { \
		awaitInputs(); \
		compose<F>(a); \
	} \
	KERNEL(parts_narrow_##F, F) { \
		size_t u = size_t(blockIdx.x) * blockWarps + warpOfBlock(); \
		if (u < a.parts.rows) keepNarrow(a.parts, u, load<F>(a.parts.values + u * a.parts.quads, a.parts.quads)); \
	}
#define TRAIN(method, F) \
	KERNEL(parts_train_##method##_##F, F) { train<F, method>(a); }
#define TRAIN_OF_SIZE(F, ...) METHODS(TRAIN, F)

SIZES(COMPOSE)
SIZES(TRAIN_OF_SIZE)
