// An iteration of large-batch CBOW on a stretch of the text, whose places have windows. words and rows are in stretch_rows.cu.
//
//	X: (V, N)  C: (V, N)  h: (T, N)  s: (T, N)  H shared negatives in either step
//	jobs    beside the iteration before: the jobs of rows that occur (step.cuh), and how often each was updated
//	means   h_p = mean of X over the window of place p
//	(step 1 is step.cuh, with left C and frozen h; then with the new C)
//	words   Y_wn = X_w . C_n for words that occur and the H negatives n
//	scores  c_p = sigmoid(C_t . h_p + bias) - 1, t the word at p;  b_pn = K/H sigmoid(mean of Y over the window + bias)_n
//	places  s_q = sum of c_p C_t over the windows p that have q in them;  d_q = sum of b_p over the same
//	rows    gradient of a row: (sum of s_q + sum of d_qn C_n over its places q and n) / number of the windows
//
// The gradient of window p would be e_p = c_p C_t + sum of b_pn C_n. As it is linear in C, the part of the negatives is summed up as
// H numbers a place, and becomes rows of N once a word. Likewise a score with a negative is the mean of those of the words.
// So of (T, N) there are h and s: h is written once and read twice, s written and read once.
#include "stretch.cuh"

// A thread of stretch_jobs has a job.
extern "C" __global__ void __launch_bounds__(256) stretch_jobs(const __grid_constant__ StretchArgs a) {
	startNext();
	const Stretch &s = a.stretch;
	uint32_t i = blockIdx.x * 256 + threadIdx.x;
	if (i == 0) {
		*s.tileCount = s.tiles;
		*s.next = 0;
		*a.loss = Loss{};
	}
	if (i >= s.tiles * tileRows) return;
	uint2 o = s.order[i];
	uint32_t row = none, start = 0, samples = 0;
	float updates = 1;
	if (o.x != none) {
		row = s.rows[o.x], start = s.slots[o.x], samples = s.slots[o.x + 1] - start;
		if ((o.y & 0xffff) == 0) updates = a.updates[row] += 1;
	}
	s.jobs[i] = jobOf(a.rule, row, start, samples, updates, o.y);
}

// The places of a thread block follow one another, because their windows share most rows.
struct Places {
	uint32_t start, end;

	__device__ __forceinline__ Places(const StretchArgs &a) : start(blockIdx.x * a.places), end(min(a.stretch.count, start + a.places)) {}
};

// A Reader reads rows of a table that begin at quads. A lane that has fewer quads than others reads the row's last one in their place.
template <int F> struct Reader {
	const float4 *table;
	int quads;
	uint32_t last; // quad F - 1 of the lane

	__device__ __forceinline__ Reader(const float4 *table, int quads) : table(table), quads(quads), last(min(laneNumber() + 32 * (F - 1), quads - 1)) {}
	__device__ __forceinline__ Row<F> operator()(uint32_t at) const {
		const float4 *row = table + at;
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = row[f < sure<F> ? laneNumber() + 32 * f : f < F - 1 ? min(laneNumber() + 32 * f, quads - 1) : last];
		return r;
	}
};

// storeOnce writes a row that is read once or twice, and so need not stay in L2.
template <int F> __device__ __forceinline__ void storeOnce(float4 *row, int quads, const Row<F> &x) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (has<F>(f, quads)) __stcs(row + laneNumber() + 32 * f, x.v[f]);
}

// A warp, or each half of it, sums up for several neighbouring places at a time: most of what their sums have is in all of them.
template <int F> constexpr int neighbours = F <= 1 ? 4 : F <= 4 ? 2 : 1;

// addAround adds to R sums values of the places from begin to end, in their order. Each L lanes have sums of their own.
// have(q) tells a lane which place it has; in(r) whether sum r has the value of it. fetch(i) reads that of lane i of the L lanes, which
// may have no place; add(r, value) adds it to sum r. counts are how many values the sums have.
template <int L, int R, int ahead, class Have, class In, class Fetch, class Add>
__device__ __forceinline__ void addAround(uint32_t (&counts)[R], uint32_t begin, uint32_t end, uint32_t most, Have have, In in, Fetch fetch, Add add) {
#pragma unroll
	for (int r = 0; r < R; r++) counts[r] = 0;
	const uint32_t l = laneNumber();
	for (uint32_t done = 0; done < most; done += L) {
		const uint32_t q = begin + done + l % L;
		have(min(q, end - 1));
		uint32_t wanted[R], all = 0;
#pragma unroll
		for (int r = 0; r < R; r++) {
			wanted[r] = __ballot_sync(warp, q < end && in(r));
			all |= L == 32 ? wanted[r] : wanted[r] | wanted[r] >> 16;
			if (L < 32) wanted[r] = wanted[r] >> l / L * L & 0xffff;
			counts[r] += __popc(wanted[r]);
		}
		if (L < 32) all &= 0xffff;
#pragma unroll 1
		for (int i = 0; all; i += ahead, all >>= ahead) {
			decltype(fetch(0)) value[ahead];
#pragma unroll
			for (int k = 0; k < ahead; k++) value[k] = fetch(i + k);
#pragma unroll
			for (int k = 0; k < ahead; k++)
#pragma unroll
				for (int r = 0; r < R; r++)
					if (wanted[r] & 1u << k) add(r, value[k]);
#pragma unroll
			for (int r = 0; r < R; r++) wanted[r] >>= ahead;
		}
	}
}

template <int F> __device__ __forceinline__ void means(const StretchArgs &a) {
	constexpr int R = neighbours<F>, ahead = F <= 2 ? 4 : F <= 4 ? 2 : 1;
	const Stretch &s = a.stretch;
	const Places t(a);
	const int quads = a.contexts.quads, window = s.window;
	const Reader<F> rowAt(a.composed, quads);
	awaitInputs();
	for (uint32_t p0 = t.start + R * warpOfBlock(); p0 < t.end; p0 += R * blockWarps) {
		uint32_t from[R], to[R], counts[R], q, at;
		Row<F> x[R];
#pragma unroll
		for (int r = 0; r < R; r++) {
			const uint32_t p = min(p0 + r, t.end - 1);
			from[r] = s.from[p], to[r] = s.to[p], x[r] = zeros<F>();
		}
		addAround<32, R, ahead>(
			counts, p0 - min(p0, window), min(s.count, p0 + R + window), R + 2 * window,
			[&](uint32_t place) { q = place, at = s.words[q] * quads; },
			[&](int r) { return q >= from[r] && q < to[r] && q != p0 + r; },
			[&](int i) { return rowAt(__shfl_sync(warp, at, i)); },
			[&](int r, const Row<F> &row) { add(x[r], 1, row); });
#pragma unroll
		for (int r = 0; r < R; r++) {
			if (p0 + r >= t.end) break;
			scale(x[r], 1.0f / counts[r]);
			storeOnce(a.means + size_t(p0 + r) * quads, quads, x[r]);
		}
	}
}

// positives computes c of the places of a thread block. It returns their losses.
template <int F> __device__ __forceinline__ float positives(const StretchArgs &a, const Places &t) {
	constexpr int together = F <= 1 ? 4 : 2;
	const int quads = a.contexts.quads, l = laneNumber();
	float loss = 0;
	for (uint32_t p = t.start + together * warpOfBlock(); p < t.end; p += together * blockWarps) {
		float z[together];
		Row<F> x[together], y[together];
		uint32_t word = a.stretch.words[min(p + l % together, t.end - 1)];
#pragma unroll
		for (int k = 0; k < together; k++) {
			const float4 *h = a.means + size_t(min(p + k, t.end - 1)) * quads, *c = a.contexts.values + size_t(__shfl_sync(warp, word, k)) * quads;
#pragma unroll
			for (int f = 0; f < F; f++) {
				int i = l + 32 * f;
				x[k].v[f] = i < quads ? __ldcs(h + i) : make_float4(0, 0, 0, 0);
			}
			y[k] = load<F>(c, quads);
		}
#pragma unroll
		for (int k = 0; k < together; k++) z[k] = partial(x[k], y[k]);
		Logistic y0 = fastLogistic(-(sums<together>(z) + a.bias));
		if (uint32_t mine = p + l; l < together && mine < t.end) {
			a.ofPositive[mine] = -y0.sigmoid;
			loss += __logf(y0.factor);
		}
	}
	return loss;
}

// coefficients returns b of a place by the sums of the scores of the words in its window. It adds to the sum of the losses.
__device__ __forceinline__ float4 coefficients(const StretchArgs &a, float4 sum, uint32_t words, uint32_t live, float &loss) {
	const float share = inverse(words);
	auto of = [&](float sum, uint32_t n) {
		const Logistic x = fastLogistic(fmaf(sum, share, a.bias));
		if (n < live) loss += __logf(x.factor);
		return n < live ? a.weight * x.sigmoid : 0;
	};
	return make_float4(of(sum.x, 0), of(sum.y, 1), of(sum.z, 2), of(sum.w, 3));
}

// negatives computes b of the places of a thread block, of a chunk of negatives. It returns their losses.
__device__ __forceinline__ float negatives(const StretchArgs &a, const Places &t, uint32_t number) {
	constexpr int L = chunkQuads, R = 4;
	const Stretch &s = a.stretch;
	const uint32_t l = laneNumber(), quad = l % L, wide = a.chunks * L, before = number * chunk + 4 * quad, window = s.window;
	const float4 *scores = a.scores + number * L + quad;
	float all = 0;
	for (uint32_t p0 = t.start + R * (2 * warpOfBlock() + l / L), p = p0; p - l / L * R < t.end; p = p0 += 2 * R * blockWarps) {
		p = min(p0, t.end - 1);
		uint32_t from[R], to[R], counts[R], q, at;
		float4 sum[R] = {};
#pragma unroll
		for (int r = 0; r < R; r++) {
			const uint32_t mine = min(p + r, t.end - 1);
			from[r] = s.from[mine], to[r] = s.to[mine];
		}
		addAround<L, R, 4>(
			counts, p - min(p, window), min(s.count, p + R + window), R + 2 * window,
			[&](uint32_t place) { q = place, at = s.words[q] * wide; },
			[&](int r) { return q >= from[r] && q < to[r] && q != p + r; },
			[&](int i) { return scores[__shfl_sync(warp, at, i, L)]; },
			[&](int r, float4 y) { add(sum[r], 1, y); });
#pragma unroll
		for (int r = 0; r < R; r++) {
			float loss = 0;
			float4 b = coefficients(a, sum[r], counts[r], a.shared - min(a.shared, before), loss);
			if (p0 + r >= t.end) break;
			a.ofNegatives[size_t(p + r) * wide + number * L + quad] = b;
			all += loss;
		}
	}
	return a.weight * all;
}

// scores computes c before it waits, as it needs no scores of words.
template <int F> __device__ __forceinline__ void scores(const StretchArgs &a) {
	const Places t(a);
	float loss = positives<F>(a, t);
	awaitInputs();
	for (uint32_t n = 0; n < a.chunks; n++) loss += negatives(a, t, n);
	report(a.loss, __float2ll_rn(loss * unitsOfLoss), loss < 1e12f);
}

// errors computes d of the places of a thread block, of a chunk of negatives.
__device__ __forceinline__ void errors(const StretchArgs &a, const Places &t, uint32_t number) {
	constexpr int L = chunkQuads, R = 4;
	const Stretch &s = a.stretch;
	const uint32_t l = laneNumber(), wide = a.chunks * L, mine = number * L + l % L, window = s.window;
	for (uint32_t q0 = t.start + R * (2 * warpOfBlock() + l / L), q = q0; q - l / L * R < t.end; q = q0 += 2 * R * blockWarps) {
		q = min(q0, t.end - 1);
		uint32_t counts[R], p, from, to;
		float4 d[R] = {};
		addAround<L, R, 4>(
			counts, q - min(q, window), min(s.count, q + R + window), R + 2 * window,
			[&](uint32_t place) { p = place, from = s.from[p], to = s.to[p]; },
			[&](int r) { return from <= q + r && q + r < to && p != q + r; },
			[&](int i) { return a.ofNegatives[size_t(__shfl_sync(warp, p, i, L)) * wide + mine]; },
			[&](int r, float4 b) { add(d[r], 1, b); });
#pragma unroll
		for (int r = 0; r < R; r++)
			if (q0 + r < t.end) a.errors[size_t(q + r) * wide + mine] = d[r];
	}
}

// places computes d and s of the places of a thread block.
template <int F> __device__ __forceinline__ void places(const StretchArgs &a) {
	constexpr int R = neighbours<F>, ahead = F <= 2 ? 4 : F <= 4 ? 2 : 1;
	const Stretch &s = a.stretch;
	const Places t(a);
	const int quads = a.contexts.quads, window = s.window;
	const Reader<F> rowAt(a.contexts.values, quads);
	struct Value { float c; Row<F> row; };
	awaitInputs();
	for (uint32_t n = 0; n < a.chunks; n++) errors(a, t, n);
	for (uint32_t q0 = t.start + R * warpOfBlock(); q0 < t.end; q0 += R * blockWarps) {
		uint32_t p, from, to, at, windows[R];
		float c;
		Row<F> x[R];
#pragma unroll
		for (int r = 0; r < R; r++) x[r] = zeros<F>();
		addAround<32, R, ahead>(
			windows, q0 - min(q0, window), min(s.count, q0 + R + window), R + 2 * window,
			[&](uint32_t place) { p = place, from = s.from[p], to = s.to[p], at = s.words[p] * quads, c = a.ofPositive[p]; },
			[&](int r) { return from <= q0 + r && q0 + r < to && p != q0 + r; },
			[&](int i) { return Value{__shfl_sync(warp, c, i), rowAt(__shfl_sync(warp, at, i))}; },
			[&](int r, const Value &v) { add(x[r], v.c, v.row); });
#pragma unroll
		for (int r = 0; r < R; r++) {
			if (q0 + r >= t.end) break;
			if (laneNumber() == 0) a.inside[q0 + r] = windows[r];
			storeOnce(a.sums + size_t(q0 + r) * quads, quads, x[r]);
		}
	}
}

#define KERNEL(name, F) extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) name(const __grid_constant__ StretchArgs a)
#define OF_SIZE(F, ...) \
	KERNEL(stretch_means_##F, F) { means<F>(a); } \
	KERNEL(stretch_scores_##F, F) { scores<F>(a); } \
	KERNEL(stretch_places_##F, F) { places<F>(a); }

// For N up to 128 F.
SIZES(OF_SIZE)
