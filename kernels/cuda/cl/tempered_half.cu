// A step of W2V-CL as in tempered.cuh, with half precision: tables and moments as in
// cl_half.cu. A score with a shared negative is that of the rounded row of left.
#include "tempered.cuh"
#include "half.cuh"

// Rounded is values in rows of groups of P pairs, of which a lane has every 32nd, at most
// F. A lane that has fewer reads the row's last group in their place, takes them as zeros
// and does not write them. Rows of right wait in shared memory.
template <int P, int F> struct Rounded {
	using Tile = Dense<1, 64 * P * F, 64>;
	static constexpr int each = 2 * P, values = each * F, sure = F - 1; // groups that every lane has
	static constexpr bool early = true, staged = true;
	static constexpr int rowBytes = 128 * P * F; // of a row of right in shared memory
	static constexpr int pieces = rowBytes / 16, together = pieces < 32 ? 32 / pieces : 1; // of a row; rows that an instruction brings
	struct Packed { Pairs<P> v[F]; };
	struct Moments { Packed m, v; float ofRow; };

	const TemperedTable &t;
	uint32_t last; // of this lane's groups, as offset in bytes
	uint32_t rounding;
	const char *source; // of what this lane brings of row 0 of right

	__device__ __forceinline__ Rounded(const TemperedTable &t, uint32_t stream)
		: t(t), last(4 * P * min(uint32_t(number(F - 1)), t.stride / each - 1)), rounding(quarter(philox(t.seed, streamRounding, stream, 0), 0)), source((const char *)t.right + 16 * (laneNumber() % pieces)) {}

	__device__ __forceinline__ static int number(int i) { return laneNumber() + 32 * i; }
	__device__ __forceinline__ bool has(int i) const { return i < sure || number(i) * each < t.stride; }
	__device__ __forceinline__ size_t start(uint32_t row) const { return size_t(row) * (2 * t.stride); } // in bytes
	// at is where group i of this lane is in the row that begins at p.
	template <class T> __device__ __forceinline__ uint32_t *at(T *p, int i) const { return (uint32_t *)((char *)p + (i < sure ? 4 * P * number(i) : last)); }

	// load loads a row of moments.
	__device__ __forceinline__ void load(Packed &r, const void *table, uint32_t row) const {
		const char *from = (const char *)table + start(row == none ? 0 : t.sharing.placeOf(row));
#pragma unroll
		for (int i = 0; i < F; i++) stream(r.v[i], at(from, i));
	}

	// begin starts to bring a row of left: rounded to where the products read it, and the lower bits to the place of its
	// gradient.
	__device__ __forceinline__ void begin(const Tile &tile, int w, uint32_t row) const {
		size_t piece = 16 * (laneNumber() % pieces), from = start(row == none ? 0 : row) + piece, fromLow = start(row == none ? 0 : t.sharing.placeOf(row)) + piece;
		uint32_t to = sharedAt(tile.left(w)) + 16 * (laneNumber() % pieces), toLow = sharedAt(tile.gradientOf(w)) + 16 * (laneNumber() % pieces);
		if constexpr (together > 1) { // half of the lanes bring either
			bool low = laneNumber() >= pieces;
			copyShared(low ? toLow : to, low ? (const char *)t.leftLow + fromLow : (const char *)t.left + from, bytes(0));
		} else {
#pragma unroll
			for (int i = 0; i < (pieces + 31) / 32; i++) {
				if (pieces % 32 && laneNumber() + 32 * i >= pieces) continue;
				copyShared(to + 512 * i, (const char *)t.left + from + 512 * i, bytes(i));
				copyShared(toLow + 512 * i, (const char *)t.leftLow + fromLow + 512 * i, bytes(i));
			}
		}
	}

	// end returns this lane's values of the row when it is there.
	__device__ __forceinline__ void end(const Tile &tile, int w, float (&x)[values]) const {
#pragma unroll
		for (int i = 0; i < F; i++) {
			Pairs<P> high = *(const Pairs<P> *)((const char *)tile.left(w) + 4 * P * number(i));
			Pairs<P> low = *(const Pairs<P> *)((const char *)tile.gradientOf(w) + 4 * P * number(i));
#pragma unroll
			for (int k = 0; k < each; k++) x[each * i + k] = join(high, low, k);
		}
	}

	template <Method method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		if constexpr (hasFirst(method)) load(r.m, t.first, row);
		if constexpr (hasSecond(method)) load(r.v, t.second, row);
		if constexpr (method == adamRow) r.ofRow = t.secondOfRow[row == none ? 0 : t.sharing.placeOf(row)];
	}

	// bytes is how many bytes there are of piece i of this lane: of what is behind the row, none.
	__device__ __forceinline__ int bytes(int i) const { return 8 * (laneNumber() % pieces + 32 * i) < t.stride ? 16 : 0; }

	// stage starts to bring rows of right, those whose ids the lanes have from number first on, to end at most.
	template <int G> __device__ __forceinline__ void stage(uint32_t to, uint32_t ids, uint32_t first, uint32_t end) const {
#pragma unroll
		for (int n = 0; n < G; n += together) {
			uint32_t mine = first + n + laneNumber() / pieces % together;
			const char *from = source + start(__shfl_sync(warp, ids, mine % 32));
			if (mine < end)
#pragma unroll
				for (int i = 0; i < (pieces + 31) / 32; i++)
					if (pieces % 32 == 0 || laneNumber() + 32 * i < pieces || together > 1) // this is known but for some lanes of one size
						copyShared(to + 16 * laneNumber() + n * rowBytes + 512 * i, from + 512 * i, bytes(i));
		}
	}

	__device__ __forceinline__ Packed waiting(const char *from, int n) const {
		Packed r;
#pragma unroll
		for (int i = 0; i < F; i++) r.v[i] = *(const Pairs<P> *)(from + n * rowBytes + 4 * P * number(i));
		return r;
	}

	__device__ __forceinline__ float dot(const float (&x)[values], const Packed &r) const {
		float s = 0;
#pragma unroll
		for (int i = 0; i < values; i++) s = fmaf(x[i], value(r.v[i / each], i % each), s);
		return s;
	}

	__device__ __forceinline__ void add(float (&g)[values], float c, const Packed &r) const {
#pragma unroll
		for (int i = 0; i < values; i++) g[i] = fmaf(c, again(r.v[i / each], i % each), g[i]);
	}

	// quad is where the values i, i+1, ... i+3 of this lane are in a row of float32 in shared memory.
	__device__ __forceinline__ static float4 *quad(float *row, int i) { return (float4 *)(row + each * number(i / each) + i % each); }

	// take reads such a row, add adds it.
	__device__ __forceinline__ void take(float (&g)[values], float *from) const {
#pragma unroll
		for (int i = 0; i < values; i += 4) {
			float4 y = *quad(from, i);
			g[i] = y.x, g[i + 1] = y.y, g[i + 2] = y.z, g[i + 3] = y.w;
		}
	}

	__device__ __forceinline__ void add(float (&g)[values], float *from) const {
#pragma unroll
		for (int i = 0; i < values; i += 4) {
			float4 y = *quad(from, i);
			g[i] += y.x, g[i + 1] += y.y, g[i + 2] += y.z, g[i + 3] += y.w;
		}
	}

	__device__ __forceinline__ void store(float *to, const float (&g)[values]) const {
#pragma unroll
		for (int i = 0; i < values; i += 4) *quad(to, i) = make_float4(g[i], g[i + 1], g[i + 2], g[i + 3]);
	}

	// loadShared starts to bring the shared negatives from first on as chunk c.
	__device__ __forceinline__ void loadShared(const Tile &tile, uint32_t c, uint32_t first) const {
		constexpr int ofRow = Tile::columns / 8;
#pragma unroll 4
		for (uint32_t n = threadIdx.x; n < Tile::negatives * ofRow; n += blockDim.x) {
			uint32_t h = n / ofRow, i = n % ofRow;
			bool wanted = first + h < tile.d.shared && 8 * i < t.stride;
			copyShared(sharedAt(tile.right(c, h) + 8 * i), (const char *)t.right + (wanted ? start(tile.number(first + h)) + 16 * i : 0), wanted ? 16 : 0);
		}
	}

	template <Method method>
	__device__ __forceinline__ void update(uint32_t row, float (&x)[values], const float (&g)[values], const Moments &moments, const ClStep &s) const {
		float scale = 0;
		if constexpr (method == adamRow) {
			float squares = 0;
#pragma unroll
			for (int i = 0; i < values; i++)
				if (has(i / each)) squares = fmaf(g[i], g[i], squares);
			float second = t.beta2 * moments.ofRow + t.oneMinusBeta2 * (sum(squares) / t.columns);
			scale = s.scale / (sqrtf(second) + s.epsilon);
			if (laneNumber() == 0) t.secondOfRow[t.sharing.placeOf(row)] = second;
		}
		uint32_t random = mix(rounding + row * golden);
		size_t own = start(t.sharing.placeOf(row));
		char *left = (char *)t.left + start(row), *low = (char *)t.leftLow + own, *first = (char *)t.first + own, *second = (char *)t.second + own;
#pragma unroll
		for (int i = 0; i < F; i++) {
			float w[each], mean[each], square[each];
#pragma unroll
			for (int k = 0; k < each; k++) {
				float y = g[each * i + k];
				w[k] = x[each * i + k];
				if constexpr (hasFirst(method)) mean[k] = value(moments.m.v[i], k);
				if constexpr (hasSecond(method)) square[k] = value(moments.v.v[i], k);
				if constexpr (method == adam) adamValue(w[k], mean[k], square[k], y, t, s);
				else if constexpr (method == scaled) scaledValue(w[k], square[k], y, t, s);
				else if constexpr (method == adamRow) momentumValue(w[k], mean[k], y, t, s.keep, scale);
				else w[k] = s.keep * w[k] - s.rate * y;
			}
			if (!has(i)) continue;
			Pairs<P> u;
			nearest(u, w);
			put(at(left, i), u);
#pragma unroll 1
			for (uint32_t n = 0; several && n < t.sharing.others; n++) put(at((char *)t.sharing.copies[n] + start(row), i), u);
			lowerBits(u, w);
			putStream(at(low, i), u);
			if constexpr (hasFirst(method)) {
				nearest(u, mean);
				putStream(at(first, i), u);
			}
			if constexpr (hasSecond(method)) {
				atRandom(u, square, random + P * number(i) * golden);
				putStream(at(second, i), u);
			}
		}
	}
};

// In thread blocks of up to so many groups of warps. A multiprocessor must have registers for so many thread
// blocks.
#define CL(method, name, P, F, G, groups, blocks) \
	extern "C" __global__ void __launch_bounds__(groupThreads * groups, blocks) tempered_half_##method##_##name(const __grid_constant__ TemperedLaunch a) { \
		temper<Rounded<P, F>, G, method>(a); \
	}
#define CL_METHODS(name, P, F, G, groups, blocks) CL(adam, name, P, F, G, groups, blocks) CL(adamRow, name, P, F, G, groups, blocks) CL(sgd, name, P, F, G, groups, blocks) CL(scaled, name, P, F, G, groups, blocks)

// For N up to 128 times the name.
CL_METHODS(1, 2, 1, 8, 1, 3)
CL_METHODS(2, 4, 1, 4, 1, 2)
CL_METHODS(3, 2, 3, 4, 1, 2)
CL_METHODS(4, 4, 2, 4, 2, 1)
CL_METHODS(6, 4, 3, 2, 1, 1)
CL_METHODS(8, 4, 4, 2, 1, 1)
