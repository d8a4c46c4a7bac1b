// The products of a window's context words and outputs, on a warp or a team of warps: see windows.cuh.
#pragma once
#include <type_traits>

#include "halves.cuh"
#include "sentence.cuh"

// Products are the dot products of a part of a window: C context words meet T outputs
// at once, which gives C T of them. The lanes' parts are summed together; lane l gets
// number l mod G, and number 32 + l mod R of those above 32. Number n is context n / T
// with output n % T.
constexpr int powerOfTwo(int n) { return n <= 1 ? 1 : 2 * powerOfTwo((n + 1) / 2); }

template <int T, int C> struct Products {
	static constexpr int G = C * T >= 32 ? 32 : powerOfTwo(C * T), R = C * T > 32 ? powerOfTwo(C * T - 32) : 0;
	static constexpr int stride = T <= 8 ? 8 : 16; // of coefficients in memory
};

// Whether registers hold the rows of the next window's outputs, too. Otherwise float32 rows are
// staged, and others are read when their window begins.
template <int F, int E, int T> constexpr bool ahead = T * (4 * F + E) <= 24;
template <int F, int E, int T, class Contexts> constexpr bool staged = !ahead<F, E, T> && std::is_same_v<Contexts, Chunks<F, E>>;

// A Team is the warps of a thread block, which train a sentence: one, or, if many, as
// many as rows need, each with 4 F + E chunks of every row in its own shared memory. All
// warps do the same with the same numbers, and they sum their parts of the dots.
template <int F, int E, int T, int C, bool many> struct Team {
	using P = Products<T, C>;
	static constexpr bool several = many;
	static constexpr int most = 64; // dots of an exchange
	int warps, number;              // of all, of this one
	float4 *memory;                 // of this warp
	float *coefficients, *parts;    // parts: (2, warps, most), in turn
	int turn = 0;

	// A warp has so many rows in shared memory, behind so many quads of others.
	__device__ __forceinline__ Team(int rows, int behind = 0) : warps(many ? blockDim.x / 32 : 1), number(many ? threadIdx.x / 32 : 0) {
		int quads = rows * Ring<F, E>::stride, all = quads + C * P::stride / 4;
		memory = shared + behind + number * all;
		coefficients = reinterpret_cast<float *>(memory + quads);
		parts = reinterpret_cast<float *>(shared + behind + warps * all);
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

// updateRow updates the row left of a slot by its coefficients with the outputs r, and adds to their changes.
template <int F, int E, int T, class Rows>
__device__ __forceinline__ void updateRow(Rows &rows, int slot, const Row<F, E> &left, const float *coefficients, const Row<F, E> (&r)[T], Row<F, E> (&added)[T]) {
	Row<F, E> updated = left;
#pragma unroll
	for (int k = 0; k < T; k++) {
		float x = coefficients[k];
		add(updated, x, r[k]);
		add(added[k], x, left);
	}
	rows.update(slot, left, updated);
}

// window trains a window. r are the rows of its outputs, and times says how often this
// lane's slot is a context. It sets added to the changes of r, and returns this lane's
// part of the loss.
template <int F, int E, int T, int C, bool many, class Rows>
__device__ __forceinline__ float window(const SentenceArgs &a, Team<F, E, T, C, many> &team, Rows &rows,
	const Row<F, E> (&r)[T], Row<F, E> (&added)[T], int times, float rate) {
	using P = Products<T, C>;
	int width = widthOf<T>(a), l = laneNumber();
#pragma unroll
	for (int k = 0; k < T; k++) added[k] = zeros<F, E>();
	float loss = 0;
	for (unsigned rest = __ballot_sync(warp, times > 0); rest;) {
		Row<F, E> left[C];
		int slot[C];
		uint64_t all[(C + 7) / 8] = {}; // a byte for each slot
#pragma unroll
		for (int c = 0; c < C; c++) {
			slot[c] = rest ? __ffs(rest) - 1 : rows.slots;
			rest &= rest - 1;
			all[c / 8] |= uint64_t(slot[c]) << 8 * (c % 8);
			left[c] = rows.load(slot[c]);
		}
		float x[P::G], y[P::R > 0 ? P::R : 1];
#pragma unroll
		for (int n = 0; n < P::G + P::R; n++) {
			float &to = n < P::G ? x[n] : y[n - P::G];
			to = n < C * T ? partial(left[n / T], r[n % T]) : 0;
		}
		int n = l % P::G, mine = int((C > 8 && n / T >= 8 ? all[C > 8] : all[0]) >> 8 * (n / T % 8)) & 0xff;
		float often = __shfl_sync(warp, times, mine & 31);
		if (mine == rows.slots) often = 0;
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
			often = slot[C - 1] < rows.slots ? __shfl_sync(warp, times, slot[C - 1] & 31) : 0;
			if constexpr (!many) scoreOfRest = sums<P::R>(y);
			score = scoreOfRest;
			part = pair(score, n % T, width, often, rate);
			if (l < P::R && n < C * T) loss += part;
			if (n < C * T) team.coefficients[n / T * P::stride + n % T] = score;
		}
		__syncwarp();
#pragma unroll
		for (int c = 0; c < C; c++) {
			if constexpr (!ahead<F, E, T>) left[c] = rows.load(slot[c]); // no registers to keep it
			updateRow(rows, slot[c], left[c], team.coefficients + c * P::stride, r, added);
		}
	}
	return loss;
}

// mean is window for CBOW: the mean of the context words meets the outputs, and its step goes
// to each of them whole.
template <int F, int E, int T, int C, bool many, class Rows>
__device__ __forceinline__ float mean(const SentenceArgs &a, Team<F, E, T, C, many> &team, Rows &rows,
	const Row<F, E> (&r)[T], Row<F, E> (&added)[T], int times, float rate) {
	static_assert(C == 1, "one product");
	using P = Products<T, C>;
	int l = laneNumber(), k = l % P::G;
	Row<F, E> sum = zeros<F, E>(), step = zeros<F, E>(), left = zeros<F, E>();
	unsigned present = __ballot_sync(warp, times > 0);
	for (unsigned rest = present; rest; rest &= rest - 1) {
		int slot = __ffs(rest) - 1;
		add(sum, __shfl_sync(warp, times, slot), rows.load(slot));
	}
	add(left, __fdividef(1, __reduce_add_sync(warp, unsigned(times))), sum);
	float x[P::G];
#pragma unroll
	for (int i = 0; i < P::G; i++) x[i] = i < T ? partial(left, r[i < T ? i : 0]) : 0;
	float score = sums<P::G>(x), none = 0;
	if constexpr (many) team.sum(score, none);
	float part = pair(score, k, widthOf<T>(a), 1, rate);
	__syncwarp();
	if (l < T) team.coefficients[l] = score;
	__syncwarp();
#pragma unroll
	for (int i = 0; i < T; i++) {
		float g = team.coefficients[i];
		add(step, g, r[i]);
		added[i] = zeros<F, E>();
		add(added[i], g, left);
	}
	for (unsigned rest = present; rest; rest &= rest - 1) {
		int slot = __ffs(rest) - 1;
		Row<F, E> old = rows.load(slot), now = old;
		add(now, __shfl_sync(warp, times, slot), step);
		rows.update(slot, old, now);
	}
	return l < T ? part : 0;
}

// pairByPair is window of word t in the order of the published FULL-W2V: each output meets the context words one after the other, and
// each pair changes both of its rows before the next. Context word c and output d - c wait for no other pair of the same d.
template <int F, int E, int T, int C, bool many, class Rows>
__device__ __forceinline__ float pairByPair(const SentenceArgs &a, Team<F, E, T, C, many> &team, Rows &rows,
	const Row<F, E> (&r)[T], Row<F, E> (&added)[T], int t, float rate) {
	int l = laneNumber(), place = t - rows.radius + l, mine = rows.slot(place);
	bool here = l <= 2 * rows.radius && l != rows.radius && place >= 0 && place < rows.n;
	float loss = 0;
	for (int k = 0; k < T; k++) added[k] = r[k];
	for (unsigned rest = __ballot_sync(warp, here); rest;) {
		Row<F, E> left[C];
		int slot[C];
		float often = 0; // that of context word l
#pragma unroll
		for (int c = 0; c < C; c++) {
			slot[c] = __shfl_sync(warp, rest ? mine : rows.slots, (__ffs(rest) - 1) & 31);
			unsigned same = __ballot_sync(warp, here && mine == slot[c]);
			if (l == c) often = __popc(same);
			rest &= ~same;
			left[c] = rows.load(slot[c]);
		}
#pragma unroll
		for (int d = 0; d < T + C - 1; d++) {
			float x[C > 2 ? 8 : 2] = {}, none = 0;
			int first = max(d - T + 1, 0), end = min(d + 1, C); // context words
#pragma unroll
			for (int c = first; c < end; c++) x[c] = partial(left[c], added[d - c]);
			float score = sums(x);
			if constexpr (many) team.sum(score, none);
			loss += pair(score, l <= d ? d - l : T, widthOf<T>(a), often, rate);
#pragma unroll
			for (int c = first; c < end; c++) {
				Row<F, E> old = left[c];
				float step = __shfl_sync(warp, score, c);
				add(left[c], step, added[d - c]);
				add(added[d - c], step, old);
			}
		}
		for (int c = 0; c < C; c++) rows.update(slot[c], left[c], left[c]);
	}
	for (int k = 0; k < T; k++) add(added[k], -1, r[k]);
	return loss;
}
