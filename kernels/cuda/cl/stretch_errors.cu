// The errors of an iteration, see stretch.cu: means of windows are multiplied with the H rows of C, and coefficients with these.
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

// errors has eight places in a group of warps, a place a warp.
template <int F> __device__ __forceinline__ void errors(const StretchArgs &a) {
	const Stretch &s = a.stretch;
	const int quads = a.contexts.quads, l = laneNumber(), w = threadIdx.x / 32 % tileRows;
	const uint32_t groups = blockDim.x / groupThreads, step = gridDim.x * groups * tileRows;
	uint32_t p = (blockIdx.x * groups + threadIdx.x / groupThreads) * tileRows + w;
	const Negatives<F> tile(a, a.ofErrors);
	awaitInputs();
	tile.bringKept();
	float4 *mean = a.means + size_t(p) * quads;
	auto meanOf = [&](uint32_t place) { return place < s.count ? load<F>(mean, quads) : zeros<F>(); };
	Row<F> next = meanOf(p);
	float loss = 0;
	for (; p - w < s.count; p += step) {
		const Row<F> h = next;
		float4 *to = mean;
		const bool there = p < s.count;
		const Row<F> c = load<F>(a.contexts.values + size_t(s.words[there ? p : 0]) * quads, quads);
		mean += size_t(step) * quads;
		next = meanOf(p + step);
#pragma unroll
		for (int f = 0; f < F; f++) Single<F>::split(tile.left(w) + 4 * (l + 32 * f), tileRows * tile.length, h.v[f]);
		float ofNegatives = 0;
		tile.each([&](uint32_t place, uint32_t first) {
			awaitGroup();
			tile.scores(place);
			awaitGroup();
			ofNegatives += tile.coefficients(min(int(tile.negatives), int(tile.d.shared - first)), a.weight, a.bias);
			awaitGroup();
			tile.template gradient<true>(place, first > 0);
		});
		const Logistic y = fastLogistic(-(sum(partial(h, c)) + a.bias));
		awaitGroup();
		Row<F> e = load<F>((const float4 *)tile.gradientOf(w), 32 * F);
		add(e, -y.sigmoid, c);
		if (!there) continue;
		store(to, quads, e);
		loss += a.weight * ofNegatives + (l == 0 ? __logf(y.factor) : 0);
	}
	report(a.loss, __float2ll_rn(loss * unitsOfLoss), loss < 1e12f);
}

// Thread blocks that keep rows of C have up to so many groups of warps.
constexpr int groupsOf(int F) { return F <= 1 ? 2 : F <= 3 ? small ? 1 : 3 : F <= 4 ? 2 : 1; }
constexpr int residentGroups(int F) { return F <= 1 ? 2 : 1; }

#define KERNEL(name, F) \
	extern "C" __constant__ constexpr DenseKernel name##_dense = Single<F>::Tile::kernel(groupsOf(F)); \
	extern "C" __global__ void __launch_bounds__(groupThreads * groupsOf(F), residentGroups(F)) name(const __grid_constant__ StretchArgs a)
#define ERRORS(F, ...) KERNEL(stretch_errors_##F, F) { errors<F>(a); }

// For N up to 128 F.
#if SMALL
ERRORS(3)
#else
SIZES(ERRORS)
#endif
