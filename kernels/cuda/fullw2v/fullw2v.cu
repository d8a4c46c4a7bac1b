// FULL-W2V: a warp, or a team of warps if rows are long, trains a sentence, window by
// window in order (section 3.1). sequential/fullw2v.go has the same for the CPU.
//
//	words: (V, N)  contexts: (V, N)
//	for each word t of the sentence:
//		word t+W_f enters the ring, word t-W_f-1 leaves it
//		outputs: word t and K negatives
//		S = L R^T, G = rate (positive - sigmoid(S)), L += G R, R += G^T L
//
// The rows of context words live in a ring in shared memory from the window they
// enter to the window they leave (section 3.2). The rows of outputs are in registers
// for the window. L2 adds their changes to memory, so none is lost and none waits.
//
// The published code has a thread block of N threads for a sentence, which needs
// barriers for its dots; a warp needs none, and many more sentences fit the chip. A
// warp waits for memory; so everything is asked for early: numbers of outputs eight
// windows before they are used, their rows one window before.
//
// Registers decide how many values of a row a warp has. Where they cannot hold the
// outputs of this window, their changes and the outputs of the next window, the last
// are brought into shared memory (staged); a spilled register had to wait for its row.
#include "fullw2v.cuh"

// Products are the dot products of a part of a window: C context words meet T outputs
// at once, which gives C T of them. The lanes' parts are summed together; lane l gets
// number l mod G, and number 32 + l mod R of those above 32. Number n is context n / T
// with output n % T.
constexpr int powerOfTwo(int n) { return n <= 1 ? 1 : 2 * powerOfTwo((n + 1) / 2); }

template <int T, int C> struct Products {
	static constexpr int G = C * T >= 32 ? 32 : powerOfTwo(C * T), R = C * T > 32 ? powerOfTwo(C * T - 32) : 0;
	static constexpr int stride = T <= 8 ? 8 : 16; // of coefficients in memory, and of outputs
};

// Whether rows of the next window's outputs are staged.
template <int F, int E, int T> constexpr bool staged = T * (4 * F + E) > 24;

// A Team is the warps of a thread block, which train a sentence: one, or, if many, as
// many as rows need, each with 4 F + E chunks of every row in its own shared memory. All
// warps do the same with the same numbers, and they sum their parts of the dots.
template <int F, int E, int T, int C, bool many> struct Team {
	using P = Products<T, C>;
	static constexpr int most = 64; // dots of an exchange
	int warps, number;              // of all, of this one
	float4 *memory;                 // of this warp
	float *coefficients, *parts;    // parts: (2, warps, most), in turn
	int turn = 0;

	// A warp has its ring, of so many slots, in shared memory, and the staged rows.
	__device__ __forceinline__ Team(int slots) : warps(many ? blockDim.x / 32 : 1), number(many ? threadIdx.x / 32 : 0) {
		int quads = (2 * slots + 1 + (staged<F, E, T> ? T : 0)) * Ring<F, E>::stride, all = quads + C * P::stride / 4;
		memory = shared + number * all;
		coefficients = reinterpret_cast<float *>(memory + quads);
		parts = reinterpret_cast<float *>(shared + warps * all);
	}

	// sum makes a lane's parts of numbers l mod G and 32 + l mod R their sums over the
	// warps, in which all warps agree to the last bit. One barrier is enough: parts
	// are written again when all have passed the next.
	__device__ __forceinline__ void sum(float &score, float &rest) {
		float *all = parts + turn * warps * most;
		turn ^= 1;
		int l = laneNumber(), i = l % P::G, j = 32 + l % max(P::R, 1);
		if (l < P::G) all[number * most + i] = score;
		if (l < P::R) all[number * most + j] = rest;
		__syncthreads();
		score = rest = 0;
		for (int w = 0; w < warps; w++) {
			score += all[w * most + i];
			if (P::R > 0) rest += all[w * most + j];
		}
	}
};

// window trains a window. r are the rows of its outputs, and times says how often this
// lane's slot is a context. It sets added to the changes of r, and returns this lane's
// part of the loss.
template <int F, int E, int T, int C, bool many>
__device__ __forceinline__ float window(const FullW2VArgs &a, Team<F, E, T, C, many> &team, Ring<F, E> &ring,
	const Row<F, E> (&r)[T], Row<F, E> (&added)[T], int times, float rate) {
	using P = Products<T, C>;
	int width = 1 + a.negatives, l = laneNumber();
#pragma unroll
	for (int k = 0; k < T; k++) added[k] = zeros<F, E>();
	float loss = 0;
	for (unsigned rest = __ballot_sync(warp, times > 0); rest;) {
		Row<F, E> left[C];
		int slot[C];
#pragma unroll
		for (int c = 0; c < C; c++) {
			slot[c] = rest ? __ffs(rest) - 1 : ring.slots;
			rest &= rest - 1;
			left[c] = ring.load(slot[c]);
		}
		float x[P::G], y[P::R > 0 ? P::R : 1];
#pragma unroll
		for (int n = 0; n < P::G + P::R; n++) {
			float &to = n < P::G ? x[n] : y[n - P::G];
			to = n < C * T ? partial(left[n / T], r[n % T]) : 0;
		}
		int n = l % P::G, mine = slot[0];
#pragma unroll
		for (int c = 1; c < C; c++) mine = n / T == c ? slot[c] : mine;
		float often = __shfl_sync(warp, times, mine & 31);
		if (mine == ring.slots) often = 0;
		float score = sums<P::G>(x), scoreOfRest = 0;
		if constexpr (many) {
			if constexpr (P::R > 0) scoreOfRest = sums<P::R>(y);
			team.sum(score, scoreOfRest);
		}
		float part = pair(score, n % T, width, often, rate);
		if (l < P::G && n < C * T) loss += part;
		__syncwarp();
		if (n < C * T) team.coefficients[n / T * P::stride + n % T] = score;
		if constexpr (P::R > 0) { // all of the last context word
			n = 32 + l % P::R;
			often = slot[C - 1] < ring.slots ? __shfl_sync(warp, times, slot[C - 1] & 31) : 0;
			if constexpr (!many) scoreOfRest = sums<P::R>(y);
			score = scoreOfRest;
			part = pair(score, n % T, width, often, rate);
			if (l < P::R && n < C * T) loss += part;
			if (n < C * T) team.coefficients[n / T * P::stride + n % T] = score;
		}
		__syncwarp();
#pragma unroll
		for (int c = 0; c < C; c++) {
			if constexpr (staged<F, E, T>) left[c] = ring.load(slot[c]); // no registers to keep it
			Row<F, E> updated = left[c];
#pragma unroll
			for (int k = 0; k < T; k++) {
				float x = team.coefficients[c * P::stride + k];
				add(updated, x, r[k]);
				add(added[k], x, left[c]);
			}
			ring.store(slot[c], updated);
		}
	}
	return loss;
}

// sentence trains n words that subsampling has left of a sentence that begins
// with token first of the text.
template <int F, int E, int T, int C, bool many>
__device__ __forceinline__ float sentence(const FullW2VArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	constexpr int S = Products<T, C>::stride;
	using Draw = Outputs<S>;
	int radius = a.radius, width = 1 + a.negatives, l = laneNumber(), slots = 2 * radius + 2;
	Team<F, E, T, C, many> team(slots);
	int chunk = team.number * (4 * F + E); // first of this warp
	Ring<F, E> ring = {Chunks<F, E>(a.words, a.vocabulary, a.quads, chunk), a.shares, slots, slots + 1};
	ring.memory = team.memory;
	Chunks<F, E> contexts(static_cast<float4 *>(a.contexts), a.vocabulary, a.quads, chunk);
	ring.clear();
	for (int i = 0; i <= radius && i < n; i++) {
		int into = ring.enter(kept[i], i);
		ring.bring(into, loadCurrent(ring.words, kept[i], into >= 0));
	}

	Draw draw;
	draw.begin(a, epoch, first, kept, 0, n);
	uint32_t batch = draw.end(a, epoch); // outputs of this batch of windows
	unsigned again = repeated<S>(batch, batch, width);
	draw.begin(a, epoch, first, kept, Draw::windows, n);
	uint32_t coming = kept[min(radius + 1, n - 1)];
	uint32_t now = __shfl_sync(warp, batch, l % S); // outputs of this window
	Row<F, E> r[T];
#pragma unroll
	for (int k = 0; k < T; k++) r[k] = loadCurrent(contexts, __shfl_sync(warp, now, k), k < width);
	float loss = 0;
	for (int t = 0; t < n;) {
		uint32_t batchNext = draw.end(a, epoch);
		unsigned againNext = repeated<S>(batchNext, batch, width);
		draw.begin(a, epoch, first, kept, t + 2 * Draw::windows, n);
#pragma unroll 1
		for (int j = 0; j < Draw::windows && t < n; j++, t++) {
			uint32_t entering = coming;
			coming = kept[min(t + radius + 2, n - 1)];
			// Where rows come and go is settled here, while rows are on the way.
			int times = ring.places - (l == ring.slot(t)); // that this lane's slot is a context
			int into = t + radius + 1 < n ? ring.enter(entering, t + radius + 1) : -1;
			Row<F, E> rowEntering = loadCurrent(ring.words, entering, into >= 0);
			int from = t >= radius ? ring.leave(t - radius) : -1;
			bool last = j + 1 == Draw::windows;
			int after = last ? 0 : (j + 1) * S;
			uint32_t soon = __shfl_sync(warp, last ? batchNext : batch, after + l % S);
			unsigned stale = (last ? againNext : again) >> after; // rows that this window changes
			Row<F, E> added[T], next[T];
#pragma unroll
			for (int k = 0; k < T; k++) {
				uint32_t output = __shfl_sync(warp, soon, k);
				if constexpr (staged<F, E, T>)
					stageCurrent(contexts, output, k < width, ring.at(ring.end() + k));
				else
					next[k] = loadCurrent(contexts, output, k < width);
			}
			loss += window(a, team, ring, r, added, times, rate);
#pragma unroll
			for (int k = 0; k < T; k++) addCurrent(contexts, __shfl_sync(warp, now, k), added[k], k < width);
			ring.bring(into, rowEntering);
			ring.giveBack(from);
			if constexpr (staged<F, E, T>) arrived();
#pragma unroll
			for (int k = 0; k < T; k++) {
				if constexpr (staged<F, E, T>) next[k] = ring.load(ring.end() + k);
				if (stale >> k & 1) next[k] = loadCurrent(contexts, __shfl_sync(warp, soon, k), k < width);
				r[k] = next[k];
			}
			if constexpr (staged<F, E, T>) __syncwarp(); // before other rows come there
			now = soon;
		}
		batch = batchNext;
		again = againNext;
	}
	for (int i = max(n - radius, 0); i < n; i++) ring.giveBack(ring.leave(i));
	return loss;
}

// fullw2v_renumber gives the words of the text the numbers they have here.
extern "C" __global__ void fullw2v_renumber(uint32_t *tokens, uint64_t count, uint64_t successor, uint64_t vocabulary) {
	for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
		tokens[i] = tokens[i] * successor % vocabulary;
}

#define TRAIN(train, F, E, T, C, many) \
	train(a, [&](uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) { return sentence<F, E, T, C, many>(a, epoch, first, kept, n, rate); })

// For K below T, and rows of up to 4 F + E chunks of 32 values. C is as many context
// words as there are registers for; for W_f = 5, five. So many warps must fit on a
// multiprocessor: 12 train 850 million words a second, 8, with all the registers they
// can use, 745.
#define FULLW2V(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32, warps) fullw2v_##F##_##E##_##T##_##C(const __grid_constant__ FullW2VArgs a) { \
		TRAIN(train, F, E, T, C, false); \
	}
FULLW2V(1, 0, 6, 6, 12)
FULLW2V(1, 0, 6, 5, 12)
FULLW2V(2, 0, 6, 6, 8)
FULLW2V(2, 0, 6, 5, 8)
FULLW2V(2, 2, 6, 6, 8)
FULLW2V(2, 2, 6, 5, 8)
FULLW2V(3, 0, 6, 6, 8)
FULLW2V(3, 0, 6, 5, 8)
FULLW2V(1, 0, 11, 2, 8)
FULLW2V(1, 0, 16, 2, 8)

// For rows of up to 4 F + E chunks for each warp of the team. So many warps are the most,
// and must fit on a multiprocessor.
#define FULLW2V_TEAM(F, E, T, C, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps) fullw2v_team_##F##_##E##_##T##_##C(const __grid_constant__ FullW2VArgs a) { \
		TRAIN(trainBlock, F, E, T, C, true); \
	}
FULLW2V_TEAM(2, 0, 6, 6, 8)
FULLW2V_TEAM(2, 0, 6, 5, 8)
FULLW2V_TEAM(1, 0, 11, 2, 12)
FULLW2V_TEAM(1, 1, 11, 2, 8)
FULLW2V_TEAM(1, 0, 16, 2, 8)
FULLW2V_TEAM(1, 1, 16, 2, 8)
