// Rows that are means of rows of parts, such as n-grams, and of words' own, and the way back: compose.go of kernels/composed has
// the same for the CPU. It lists all that belongs together.
#pragma once
#include "rows.cuh"

template <int n> struct Count { static constexpr int value = n; };

// inSome calls f for so many things, some at a time.
template <int most, class Function> __device__ __forceinline__ void inSome(int count, Function f) {
	while (count > 0) {
		if (count >= most) f(Count<most>{}), count -= most;
		else if (count >= 2) f(Count<2>{}), count -= 2;
		else f(Count<1>{}), count--;
	}
}

// Kernels of a size have rows of more than 32 sure quads. has reports whether a lane has quad f of a row.
template <int F> constexpr int sure = F <= 4 ? F - 1 : 4;
template <int F> __device__ __forceinline__ bool has(int f, int quads) { return f < sure<F> || laneNumber() + 32 * f < quads; }

// addRows adds rows of a table to x, in the order of the lanes that want a row: those have its number and its weight.
template <int F, class Values> __device__ __forceinline__ void addRows(Row<F> &x, Values table, int quads, uint32_t number, float weight, uint32_t wanted) {
	const uint32_t at = number * quads; // of at most 64 GB
	inSome<F <= 3 ? 4 : 2>(__popc(wanted), [&](auto count) {
		constexpr int n = decltype(count)::value;
		Row<F> r[n];
		float c[n];
#pragma unroll
		for (int k = 0; k < n; k++) {
			int lane = __ffs(wanted) - 1;
			wanted &= wanted - 1;
			c[k] = __shfl_sync(warp, weight, lane);
			uint32_t from = __shfl_sync(warp, at, lane) + laneNumber();
#pragma unroll
			for (int f = 0; f < F; f++) r[k].v[f] = has<F>(f, quads) ? table[from + 32 * f] : make_float4(0, 0, 0, 0);
		}
#pragma unroll
		for (int k = 0; k < n; k++) add(x, c[k], r[k]);
	});
}

// addMembers adds rows of a list, those that are wanted, as often as it says. It calls ready when it needs more than the list,
// and first before it reads the first row.
template <int F, class Values, class Ready, class Wanted, class First>
__device__ __forceinline__ bool addMembers(Row<F> &x, Values table, int quads, const uint2 *list, uint32_t from, uint32_t end,
	Ready ready, Wanted wanted, First first) {
	bool some = false;
	auto memberAt = [&](uint32_t from) { return from + laneNumber() < end ? __ldg(list + from + laneNumber()) : uint2{}; };
	uint2 member = memberAt(from);
	ready();
	for (; from < end; from += 32) {
		uint32_t lanes = __ballot_sync(warp, from + laneNumber() < end && wanted(member.x));
		if (lanes && !some) first(), some = true;
		uint2 next = memberAt(from + 32);
		addRows(x, table, quads, member.x, float(member.y), lanes);
		member = next;
	}
	return some;
}

// composed returns a row: the mean of its own, unless that is null, and of the rows of parts that stand in a list. weight is 1 over their number.
template <int F, class Values>
__device__ __forceinline__ Row<F> composed(const float4 *own, Values parts, int quads, const uint2 *list, uint32_t from, uint32_t end, float weight) {
	Row<F> x = own ? load<F>(own, quads) : zeros<F>();
	addMembers(x, parts, quads, list, from, end, [] {}, [](uint32_t) { return true; }, [] {});
	scale(x, weight);
	return x;
}

// addShared adds to values that others add to at the same time.
__device__ __forceinline__ void addShared(float4 *to, float x, const float4 &v) {
#if __CUDA_ARCH__ >= 900
	asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "f"(x * v.x), "f"(x * v.y), "f"(x * v.z), "f"(x * v.w) : "memory");
#else
	atomicAdd(&to->x, x * v.x);
	atomicAdd(&to->y, x * v.y);
	atomicAdd(&to->z, x * v.z);
	atomicAdd(&to->w, x * v.w);
#endif
}

// spread adds a change of a row to the parts that stand in a list, with how many n-grams each stands for, at the rates that rateOf
// returns, and to the row of its own.
template <int F, class Rate>
__device__ __forceinline__ void spread(float4 *own, float4 *parts, int quads, const uint2 *list, uint32_t from, uint32_t end, const Row<F> &change, Rate rateOf) {
	float rest = 0;
	for (; from < end; from += 32) {
		uint2 member = from + laneNumber() < end ? __ldg(list + from + laneNumber()) : uint2{};
		uint32_t count = min(32u, end - from);
		float rate = rateOf(member.x);
		rest += member.y * (1 - rate);
#pragma unroll 8
		for (uint32_t j = 0; j < count; j++) {
			float4 *part = parts + size_t(__shfl_sync(warp, member.x, j)) * quads + laneNumber();
			float x = __shfl_sync(warp, rate, j);
#pragma unroll
			for (int f = 0; f < F; f++)
				if (laneNumber() + 32 * f < quads) addShared(part + 32 * f, x, change.v[f]);
		}
	}
	rest = sum(rest);
	if (!own) return;
	Row<F> row = load<F>(own, quads);
	add(row, 1 + rest, change);
	store(own, quads, row);
}
