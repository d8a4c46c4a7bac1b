// The Format of a step (step.cuh) with half precision: frozen rows are read as bfloat16, moments are stored as bfloat16.
// The values that a step changes stay float32: a table has them rounded in one plane and their other bits in another. So reading
// frozen rows takes half the bytes, and nothing is written twice. A score with a shared negative uses the rounded row of left.
#pragma once
#include "step.cuh"

// Pairs are P pairs of values that lie side by side, 8 or 16 bytes. The first value of a pair
// is in the lower bits.
template <int P> struct Pairs {
	uint32_t pair[P];
};

// stream reads values that only this warp changes, once.
__device__ __forceinline__ void stream(Pairs<4> &u, const uint32_t *p) {
	asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		: "=r"(u.pair[0]), "=r"(u.pair[1]), "=r"(u.pair[2]), "=r"(u.pair[3]) : "l"(__cvta_generic_to_global(p)));
}

__device__ __forceinline__ void stream(Pairs<2> &u, const uint32_t *p) {
	asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(u.pair[0]), "=r"(u.pair[1]) : "l"(__cvta_generic_to_global(p)));
}

// put writes values that the next step gathers, putStream those that are not needed soon.
__device__ __forceinline__ void put(uint32_t *p, const Pairs<4> &u) { *(uint4 *)p = make_uint4(u.pair[0], u.pair[1], u.pair[2], u.pair[3]); }
__device__ __forceinline__ void put(uint32_t *p, const Pairs<2> &u) { *(uint2 *)p = make_uint2(u.pair[0], u.pair[1]); }
__device__ __forceinline__ void putStream(uint32_t *p, const Pairs<4> &u) { __stcs((uint4 *)p, make_uint4(u.pair[0], u.pair[1], u.pair[2], u.pair[3])); }
__device__ __forceinline__ void putStream(uint32_t *p, const Pairs<2> &u) { __stcs((uint2 *)p, make_uint2(u.pair[0], u.pair[1])); }

// mix makes bits of a number that look random: enough for rounding.
__device__ __forceinline__ uint32_t mix(uint32_t x) {
	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	return x ^ x >> 12;
}

constexpr uint32_t golden = 0x9e3779b9u;

// value is value number i.
template <int P> __device__ __forceinline__ float value(const Pairs<P> &u, int i) {
	return __uint_as_float(i % 2 ? u.pair[i / 2] & 0xffff0000u : u.pair[i / 2] << 16);
}

// again is value in other instructions: otherwise the compiler would keep the values from
// dots to gradient, for which there are no registers.
template <int P> __device__ __forceinline__ float again(const Pairs<P> &u, int i) {
	return __uint_as_float(__byte_perm(u.pair[i / 2], 0, i % 2 ? 0x3244 : 0x1044));
}

// join gives back every bit: rounding went up if the lower bits begin with a one.
template <int P> __device__ __forceinline__ float join(const Pairs<P> &rounded, const Pairs<P> &low, int i) {
	uint32_t h = rounded.pair[i / 2], l = low.pair[i / 2];
	return __uint_as_float(i % 2 ? __byte_perm(l, h, 0x7632) - ((l & 0x80000000u) >> 15) : __byte_perm(l, h, 0x5410) - ((l & 0x8000u) << 1));
}

// upper makes a pair of the upper bits of two values.
__device__ __forceinline__ uint32_t upper(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }

// nearest rounds to the nearest bfloat16, of two as near the larger one by size.
template <int P> __device__ __forceinline__ void nearest(Pairs<P> &u, const float (&x)[2 * P]) {
#pragma unroll
	for (int i = 0; i < P; i++) u.pair[i] = upper(__float_as_uint(x[2 * i]) + 0x8000u, __float_as_uint(x[2 * i + 1]) + 0x8000u);
}

template <int P> __device__ __forceinline__ void lowerBits(Pairs<P> &u, const float (&x)[2 * P]) {
#pragma unroll
	for (int i = 0; i < P; i++) u.pair[i] = __byte_perm(__float_as_uint(x[2 * i]), __float_as_uint(x[2 * i + 1]), 0x5410);
}

// atRandom rounds up with the probability that keeps the mean: otherwise a change of a
// second moment, a thousandth of it, would be lost. random is the pairs' own number.
template <int P> __device__ __forceinline__ void atRandom(Pairs<P> &u, const float (&x)[2 * P], uint32_t random) {
#pragma unroll
	for (int i = 0; i < P; i++) {
		uint32_t bits = mix(random + i * golden);
		u.pair[i] = upper(__float_as_uint(x[2 * i]) + (bits & 0xffffu), __float_as_uint(x[2 * i + 1]) + (bits >> 16));
	}
}

// Rounded is values in rows of groups of P pairs, of which a lane has every 32nd, at most
// F. A lane that has fewer reads the row's last group in their place, takes them as zeros
// and does not write them. Frozen rows wait in shared memory.
template <int P, int F> struct Rounded {
	using Tile = Dense<1, 64 * P * F, 64>;
	static constexpr int each = 2 * P, values = each * F, sure = F - 1; // groups that every lane has
	static constexpr bool early = true, staged = true, leftIsNew = false;
	static constexpr int rowBytes = 128 * P * F; // of a frozen row in shared memory
	static constexpr int pieces = rowBytes / 16, together = pieces < 32 ? 32 / pieces : 1; // of a row; rows that an instruction brings
	struct Packed { Pairs<P> v[F]; };
	struct Moments { Packed m, v; float ofRow; };

	const StepTable &t;
	uint32_t last; // of this lane's groups, as offset in bytes
	uint32_t rounding;

	__device__ __forceinline__ Rounded(const StepTable &t, uint32_t stream)
		: t(t), last(4 * P * min(uint32_t(number(F - 1)), t.stride / each - 1)), rounding(quarter(philox(t.seed, streamRounding, stream, 0), 0)) {}

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

	// bringLeft starts to bring a row of left: rounded to where the products read it, and the lower bits to the place of its
	// gradient.
	__device__ __forceinline__ void bringLeft(const Tile &tile, int w, uint32_t row) const {
		size_t piece = 16 * (laneNumber() % pieces), from = start(row == none ? 0 : row) + piece;
		size_t fromLow = start(row == none ? 0 : t.sharing.placeOf(row)) + piece;
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

	// leftOf returns this lane's values of the row when it is there.
	__device__ __forceinline__ void leftOf(const Tile &tile, int w, float (&x)[values]) const {
#pragma unroll
		for (int i = 0; i < F; i++) {
			Pairs<P> high = *(const Pairs<P> *)((const char *)tile.left(w) + 4 * P * number(i));
			Pairs<P> low = *(const Pairs<P> *)((const char *)tile.gradientOf(w) + 4 * P * number(i));
#pragma unroll
			for (int k = 0; k < each; k++) x[each * i + k] = join(high, low, k);
		}
	}

	template <class method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		if constexpr (method::first) load(r.m, t.first, row);
		if constexpr (method::second) load(r.v, t.second, row);
		if constexpr (method::ofRow) r.ofRow = t.secondOfRow[row == none ? 0 : t.sharing.placeOf(row)];
	}

	// bytes is how many bytes there are of piece i of this lane: of what is behind the row, none.
	__device__ __forceinline__ int bytes(int i) const { return 8 * (laneNumber() % pieces + 32 * i) < t.stride ? 16 : 0; }

	// stage starts to bring rows of a frozen table, those whose ids the lanes have from number first on, to end at most.
	template <int G> __device__ __forceinline__ void stage(uint32_t to, const void *table, uint32_t ids, uint32_t first, uint32_t end) const {
		const char *source = (const char *)table + 16 * (laneNumber() % pieces); // of what this lane brings of row 0
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

	// loadShared starts to bring the shared negatives from first on as chunk c.
	__device__ __forceinline__ void loadShared(const Tile &tile, uint32_t c, uint32_t first) const {
		constexpr int ofRow = Tile::columns / 8;
#pragma unroll 4
		for (uint32_t n = threadIdx.x; n < Tile::negatives * ofRow; n += blockDim.x) {
			uint32_t h = n / ofRow, i = n % ofRow;
			bool wanted = first + h < tile.d.shared && 8 * i < t.stride;
			copyShared(sharedAt(tile.right(c, h) + 8 * i), (const char *)t.negatives + (wanted ? start(tile.number(first + h)) + 16 * i : 0), wanted ? 16 : 0);
		}
	}

	template <class method>
	__device__ __forceinline__ void update(uint32_t row, const float (&x)[values], const float (&g)[values], Moments &moments, const StepNumbers &s) const {
		::Row<values / 4> w, m, v, gradient;
		auto of = [](::Row<values / 4> &r, int i) -> float & { return (&r.v[i / 4].x)[i % 4]; };
#pragma unroll
		for (int i = 0; i < values; i++) {
			of(w, i) = x[i], of(gradient, i) = has(i / each) ? g[i] : 0;
			if constexpr (method::first) of(m, i) = value(moments.m.v[i / each], i % each);
			if constexpr (method::second) of(v, i) = value(moments.v.v[i / each], i % each);
		}
		optimize<method>(t.decays, t.columns, s, moments.ofRow, w, m, v, gradient);
		if (method::ofRow && laneNumber() == 0) t.secondOfRow[t.sharing.placeOf(row)] = moments.ofRow;
		uint32_t random = mix(rounding + row * golden);
		size_t own = start(t.sharing.placeOf(row));
		char *left = (char *)t.left + start(row), *low = (char *)t.leftLow + own, *first = (char *)t.first + own, *second = (char *)t.second + own;
#pragma unroll
		for (int i = 0; i < F; i++) {
			if (!has(i)) continue;
			auto groupOf = [i](const ::Row<values / 4> &r) -> const float(&)[each] { return *(const float(*)[each])(&r.v[each / 4 * i]); };
			Pairs<P> u;
			nearest(u, groupOf(w));
			put(at(left, i), u);
#pragma unroll 1
			for (uint32_t n = 0; several && n < t.sharing.others; n++) put(at((char *)t.sharing.copies[n] + start(row), i), u);
			lowerBits(u, groupOf(w));
			putStream(at(low, i), u);
			if constexpr (method::first) {
				nearest(u, groupOf(m));
				putStream(at(first, i), u);
			}
			if constexpr (method::second) {
				atRandom(u, groupOf(v), random + P * number(i) * golden);
				putStream(at(second, i), u);
			}
		}
	}
};
