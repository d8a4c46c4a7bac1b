// The Format of a step (step.cuh) of float32 values.
#pragma once
#include "step.cuh"

// stream reads values that only this warp changes, once.
__device__ __forceinline__ float4 stream(const float4 *p) {
	float4 x;
	asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(__cvta_generic_to_global(p)));
	return x;
}

// Single is float32 values in rows of quads, of which a lane has every 32nd, at most F. A
// lane that has fewer reads the row's last quad in their place, takes it as zeros and does not
// write it. Long rows of frozen tables wait in registers, others in shared memory.
template <int F> struct Single {
	using Tile = Dense<2, 128 * F, F <= 4 && !small ? 64 : 32>;
	static constexpr int values = 4 * F, sure = F <= 4 ? F - 1 : 4; // quads that every lane has
	static constexpr bool early = F <= 2; // there are registers for moments while other rows of the tile are trained
	static constexpr bool staged = F <= 3, leftIsNew = false; // leftIsNew: see Step
	static constexpr int rowBytes = 512 * F; // of a frozen row in shared memory
	using Packed = ::Row<F>;
	struct Moments { Packed m, v; float ofRow; };

	const StepTable &t;
	uint32_t quads;

	__device__ __forceinline__ Single(const StepTable &t, uint32_t) : t(t), quads(t.stride / 4) {}

	__device__ __forceinline__ static int number(int i) { return laneNumber() + 32 * i; }
	__device__ __forceinline__ bool has(int i) const { return i < sure || number(i) < quads; }
	__device__ __forceinline__ uint32_t at(int i) const { return i < sure ? number(i) : min(uint32_t(number(i)), quads - 1); }
	__device__ __forceinline__ size_t start(uint32_t row) const { return size_t(row) * quads; } // in quads

	// load loads a row of moments.
	__device__ __forceinline__ void load(Packed &r, const void *table, uint32_t row) const {
		const float4 *from = (const float4 *)table + start(row == none ? 0 : t.sharing.placeOf(row));
#pragma unroll
		for (int i = 0; i < F; i++) r.v[i] = stream(from + at(i));
	}

	// bringLeft starts to bring a row of left to the place of its gradient.
	__device__ __forceinline__ void bringLeft(const Tile &tile, int w, uint32_t row) const {
		const float4 *from = (const float4 *)t.left + start(row == none ? 0 : row);
#pragma unroll
		for (int i = 0; i < F; i++) copyShared(sharedAt(tile.gradientOf(w)) + 16 * number(i), from + at(i), has(i) ? 16 : 0);
	}

	// leftOf returns this lane's values of the row when it is there. It writes them for the products.
	__device__ __forceinline__ void leftOf(const Tile &tile, int w, float (&x)[values]) const {
#pragma unroll
		for (int i = 0; i < F; i++) {
			float4 y = *quad(tile.gradientOf(w), 4 * i);
			setQuad(x, 4 * i, y);
			if (tile.d.shared) split(tile.left(w) + 4 * number(i), tileRows * Tile::length, y);
		}
	}

	template <class method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		if constexpr (method::first) load(r.m, t.first, row);
		if constexpr (method::second) load(r.v, t.second, row);
		if constexpr (method::ofRow) r.ofRow = t.secondOfRow[row == none ? 0 : t.sharing.placeOf(row)];
	}

	// gather loads a row of a frozen table.
	__device__ __forceinline__ void gather(Packed &r, const void *table, uint32_t row) const {
		const float4 *from = (const float4 *)table + start(row);
#pragma unroll
		for (int i = 0; i < F; i++) {
			float4 &x = r.v[i];
			asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(__cvta_generic_to_global(from + at(i))));
		}
	}

	// stage starts to bring rows of a frozen table, those whose ids the lanes have from number first on, to end at most.
	template <int G> __device__ __forceinline__ void stage(uint32_t to, const void *table, uint32_t ids, uint32_t first, uint32_t end) const {
#pragma unroll
		for (int n = 0; n < G; n++) {
			const float4 *from = (const float4 *)table + start(__shfl_sync(warp, ids, (first + n) % 32));
			if (first + n < end)
#pragma unroll
				for (int i = 0; i < F; i++) copyShared(to + 16 * laneNumber() + n * rowBytes + 512 * i, from + at(i), has(i) ? 16 : 0);
		}
	}

	__device__ __forceinline__ Packed waiting(const char *from, int n) const {
		Packed r;
#pragma unroll
		for (int i = 0; i < F; i++) r.v[i] = *(const float4 *)(from + n * rowBytes + 16 * number(i));
		return r;
	}

	__device__ __forceinline__ float dot(const float (&x)[values], const Packed &r) const {
		float s = 0;
#pragma unroll
		for (int i = 0; i < values; i++) s = fmaf(x[i], (&r.v[i / 4].x)[i % 4], s);
		return s;
	}

	__device__ __forceinline__ void add(float (&g)[values], float c, const Packed &r) const {
#pragma unroll
		for (int i = 0; i < values; i++) g[i] = fmaf(c, (&r.v[i / 4].x)[i % 4], g[i]);
	}

	// quad is where the values i, i+1, ... i+3 of this lane are in a row of float32 in shared memory.
	__device__ __forceinline__ static float4 *quad(float *row, int i) { return (float4 *)row + number(i / 4); }

	// split writes a quad in two planes of bfloat16.
	__device__ __forceinline__ static void split(uint16_t *to, int plane, float4 x) {
		uint2 high, low;
		splitPair(x.x, x.y, high.x, low.x);
		splitPair(x.z, x.w, high.y, low.y);
		*(uint2 *)to = high;
		*(uint2 *)(to + plane) = low;
	}

	// loadShared brings the shared negatives from first on as chunk c.
	__device__ __forceinline__ void loadShared(const Tile &tile, uint32_t c, uint32_t first) const {
		bring<small ? 4 : 8>(tile, c, first, quads, [&](uint32_t row, int i) { return __ldg((const float4 *)t.negatives + size_t(row) * quads + i); });
	}

	// bring brings rows, whose quads valueOf returns, as chunk c of the shared negatives; together are on their way at a time.
	template <int together, class Value>
	__device__ __forceinline__ static void bring(const Tile &tile, uint32_t c, uint32_t first, int quads, Value valueOf) {
		constexpr int ofRow = Tile::columns / 4;
#pragma unroll together
		for (int n = threadIdx.x; n < Tile::negatives * ofRow; n += blockDim.x) {
			int h = (n / ofRow + blockIdx.x) % Tile::negatives, i = n % ofRow; // not all thread blocks begin with the same row
			float4 x = make_float4(0, 0, 0, 0);
			if (first + h < tile.d.shared && i < quads) x = valueOf(tile.number(first + h), i);
			split(tile.right(c, h) + 4 * i, Tile::negatives * Tile::length, x);
		}
	}

	template <class method>
	__device__ __forceinline__ void update(uint32_t row, const float (&x)[values], const float (&g)[values], Moments &moments, const StepNumbers &s) const {
		const size_t own = start(t.sharing.placeOf(row));
		float4 *left = (float4 *)t.left + start(row), *first = (float4 *)t.first + own, *second = (float4 *)t.second + own;
		::Row<F> w, gradient;
#pragma unroll
		for (int i = 0; i < F; i++) w.v[i] = quadOf(x, 4 * i), gradient.v[i] = has(i) ? quadOf(g, 4 * i) : make_float4(0, 0, 0, 0);
		optimize<method>(t.decays, t.columns, s, moments.ofRow, w, moments.m, moments.v, gradient);
		if (method::ofRow && laneNumber() == 0) t.secondOfRow[t.sharing.placeOf(row)] = moments.ofRow;
#pragma unroll
		for (int i = 0; i < F; i++) {
			if (!has(i)) continue;
			left[at(i)] = w.v[i];
			if constexpr (method::first) __stcs(first + at(i), moments.m.v[i]);
			if constexpr (method::second) __stcs(second + at(i), moments.v.v[i]);
		}
#pragma unroll 1
		for (uint32_t n = 0; several && n < t.sharing.others; n++) {
			float4 *copy = (float4 *)t.sharing.copies[n] + start(row);
#pragma unroll
			for (int i = 0; i < F; i++)
				if (has(i)) copy[at(i)] = w.v[i];
		}
	}
};
