// The kernels of an iteration that multiply rows with the H rows of C, or coefficients with them: words and rows, see stretch.cu.
#include "stretch.cuh"

// A Negatives is the tile of a group of eight warps, which tensor cores multiply with the H rows of C in shared memory: see dense.cuh.
template <int F> struct Negatives : Single<F>::Tile {
	using Tile = typename Single<F>::Tile;
	const float4 *contexts;
	int quads;
	const bool all; // are in shared memory

	__device__ __forceinline__ Negatives(const StretchArgs &a, const DenseShape &d)
		: Tile(d), contexts(a.contexts.values), quads(a.contexts.quads), all(d.kept * Tile::negatives >= d.shared) {
		this->draw(a.stretch.negativeWords);
		__syncthreads();
	}

	// bring brings the negatives from first on to the place of chunk c.
	__device__ __forceinline__ void bring(uint32_t c, uint32_t first) const {
		Single<F>::template bring<4>(*this, c, first, quads, [&](uint32_t row, int i) { return contexts[size_t(row) * quads + i]; });
	}

	// bringKept brings the chunks that stay.
	__device__ __forceinline__ void bringKept() const {
		for (uint32_t c = 0; all && c < this->d.kept; c++) bring(c, c * Tile::negatives);
		__syncthreads();
	}

	// each calls f for each chunk, with its place and the first of its negatives.
	template <class Function> __device__ __forceinline__ void each(Function f) const {
		for (uint32_t c = 0, first = 0; first < this->d.shared; c++, first += Tile::negatives) {
			if (!all) {
				awaitGroup();
				bring(0, first);
				awaitGroup();
			}
			f(all ? c : 0, first);
		}
	}
};

// words has eight words in a group of warps, a row a warp.
template <int F> __device__ __forceinline__ void words(const StretchArgs &a) {
	const Stretch &s = a.stretch;
	const int quads = a.contexts.quads, l = laneNumber(), w = threadIdx.x / 32 % tileRows;
	const uint32_t step = gridDim.x * (blockDim.x / groupThreads) * tileRows, last = s.rowCount - 1;
	uint32_t i = (blockIdx.x * (blockDim.x / groupThreads) + threadIdx.x / groupThreads) * tileRows + w;
	auto rowOf = [&](uint32_t word) { return load<F>(a.composed + size_t(word) * quads, quads); };
	uint32_t word = s.rows[min(i, last)], word1 = s.rows[min(i + step, last)];
	Row<F> x = rowOf(word);
	const Negatives<F> tile(a, a.ofWords);
	awaitInputs();
	tile.bringKept();
	for (; i - w <= last; i += step) {
#pragma unroll
		for (int f = 0; f < F; f++) Single<F>::split(tile.left(w) + 4 * (l + 32 * f), tileRows * tile.length, x.v[f]);
		float *to = (float *)a.scores + size_t(word) * a.chunks * chunk;
		x = rowOf(word1);
		bool mine = i <= last && 2 * l < tile.negatives;
		word = word1, word1 = s.rows[min(i + 2 * step, last)];
		tile.each([&](uint32_t place, uint32_t first) {
			awaitGroup();
			tile.scores(place);
			awaitGroup();
			float2 y = make_float2(0, 0);
#pragma unroll
			for (int p = 0; p < tile.parts; p++) {
				float2 more = *(const float2 *)(tile.sumsOf(p, w) + 2 * l % tile.negatives);
				y.x += more.x, y.y += more.y;
			}
			if (mine) *(float2 *)(to + first + 2 * l) = y;
		});
	}
}

// A Sum is of the places of a job: s, the negatives' d of a chunk, two a lane, and in how many windows they are.
template <int F> struct Sum {
	Row<F> s;
	float2 d;
	float windows;
};

// add adds to a sum what places have from a slot on: d of a chunk, and if everything is asked for s and windows too.
template <bool everything, int F> __device__ __forceinline__ void add(Sum<F> &x, const StretchArgs &a, uint32_t slot, uint32_t count, uint32_t number) {
	constexpr int ahead = F <= 2 ? 4 : 2; // places on their way together
	const int quads = a.contexts.quads, l = laneNumber();
	x.d = make_float2(0, 0);
	for (uint32_t done = 0; done < count; done += 32) {
		bool mine = done + l < count;
		uint32_t places = mine ? a.stretch.places[slot + done + l] : 0;
		if (everything && mine) x.windows += a.inside[places];
		int k = 0;
		inSome<ahead>(min(32u, count - done), [&](auto some) {
			constexpr int n = decltype(some)::value;
			Row<F> r[n];
			float2 d[n];
#pragma unroll
			for (int i = 0; i < n; i++) {
				const size_t q = __shfl_sync(warp, places, k++);
				const float4 *s = a.sums + q * quads + l;
				d[i] = ((const float2 *)(a.errors + (q * a.chunks + number) * chunkQuads))[l];
#pragma unroll
				for (int f = 0; everything && f < F; f++) r[i].v[f] = has<F>(f, quads) ? __ldcs(s + 32 * f) : make_float4(0, 0, 0, 0);
			}
#pragma unroll
			for (int i = 0; i < n; i++) {
				x.d.x += d[i].x, x.d.y += d[i].y;
				if (everything) add(x.s, 1, r[i]);
			}
		});
	}
}

// rows trains the rows of tiles of jobs, and writes what their parts are to be trained by. A group of eight warps
// has a tile; the first tiles are the longest, so every second run goes backwards.
template <int F, class method> __device__ __forceinline__ void rows(const StretchArgs &a) {
	__shared__ float windows[4][tileRows]; // of groups
	const int quads = a.contexts.quads, l = laneNumber(), w = threadIdx.x / 32 % tileRows;
	const uint32_t tiles = a.stretch.tiles, group = threadIdx.x / groupThreads, groups = gridDim.x * (blockDim.x / groupThreads);
	const uint32_t mine = uniform(blockIdx.x * (blockDim.x / groupThreads) + group);
	auto numberOf = [&](uint32_t n) { return n * groups + (n % 2 ? groups - 1 - mine : mine); };
	// A lane has a word of a job.
	auto jobOf = [&](uint32_t n) { return ((const uint32_t *)(a.stretch.jobs + min(numberOf(n), tiles - 1) * tileRows + w))[l % (sizeof(Job) / 4)]; };
	uint32_t job = 0, next = jobOf(0);
	auto word = [&](int i) { return __shfl_sync(warp, job, i); };
	const Negatives<F> tile(a, a.ofRows);
	tile.bringKept(); // C was trained before the kernel before this one began
	awaitInputs();
	for (uint32_t n = 0; n * groups < tiles; n++) {
		job = next, next = jobOf(n + 1);
		if (numberOf(n) >= tiles) continue;
		const uint32_t row = word(0), pieces = word(7);
		const bool owner = row != none && word(6) == 0;
		if (a.words.values && owner) prefetch<method>(a.words, row);
		Sum<F> x = {zeros<F>(), {0, 0}, 0};
		add<true>(x, a, word(1), word(2), 0);
		x.windows = sum(x.windows);
		tile.each([&](uint32_t place, uint32_t first) {
			if (first) awaitGroup();
			if (first && first % chunk == 0) add<false>(x, a, word(1), word(2), first / chunk);
			if (int at = 2 * l - int(first % chunk); at >= 0 && at < tile.negatives) {
				uint32_t high, low;
				splitPair(x.d.x, x.d.y, high, low);
				*(uint32_t *)(tile.factors(w) + at) = high;
				*(uint32_t *)(tile.factors(tileRows + w) + at) = low;
			}
			awaitGroup();
			tile.template gradient<true>(place, first > 0);
		});
		awaitGroup();
		Row<F> &g = x.s;
		add(g, 1, load<F>((const float4 *)tile.gradientOf(w), 32 * F));
		if (pieces > 1) { // so it is in all jobs of a tile
			if (!owner) {
				store((float4 *)tile.gradientOf(w), 32 * F, g);
				if (l == 0) windows[group][w] = x.windows;
			}
			awaitGroup();
			for (uint32_t other = w + 1; owner && other < w + pieces; other++) {
				add(g, 1, load<F>((const float4 *)tile.gradientOf(other), 32 * F));
				x.windows += windows[group][other];
			}
			awaitGroup();
		}
		if (!owner) continue;
		scale(g, 1 / x.windows);
		if (a.ofParts.trained) a.ofParts.keep(row, row, g, a.ofParts.weights[row], a.stretch.steps[1].stream);
		const float2 corrections = make_float2(__uint_as_float(word(4)), __uint_as_float(word(5)));
		if (a.words.values) updateRow<method>(a.words, numbersOf<method>(a.rule, a.stretch.steps[0], corrections, word(3)), row, g);
	}
}

// Thread blocks that keep rows of C have up to so many groups of warps.
constexpr int groupsOf(int F) { return F <= 1 ? 2 : F <= 3 ? small ? 1 : 3 : F <= 4 ? 2 : 1; }
constexpr int residentGroups(int F) { return F <= 1 ? 2 : 1; }

#define KERNEL(name, F) \
	extern "C" __constant__ constexpr DenseKernel name##_dense = Single<F>::Tile::kernel(groupsOf(F)); \
	extern "C" __global__ void __launch_bounds__(groupThreads * groupsOf(F), residentGroups(F)) name(const __grid_constant__ StretchArgs a)
#define WORDS(F, ...) KERNEL(stretch_words_##F, F) { words<F>(a); }
#define ROWS(method, F) KERNEL(stretch_rows_##method##_##F, F) { rows<F, method>(a); }
#define ROWS_OF_SIZE(F, ...) METHODS(ROWS, F)

// For N up to 128 F.
#if SMALL
WORDS(3)
METHODS(ROWS, 3)
#else
SIZES(WORDS)
SIZES(ROWS_OF_SIZE)
#endif
