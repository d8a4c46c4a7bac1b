// An iteration of large-batch CBOW on a stretch of the text, whose places have windows.
//
//	X: (V, N)  C: (V, N)  h: (T, N)  s: (T, N)  H shared negatives in either step
//	begin   jobs of the rows that occur, for step.cuh
//	means   h_p = mean of X over the window of place p
//	(step 1 is step.cuh, with left C and frozen h; then with the new C)
//	words   Y_wn = X_w . C_n for words that occur and the H targets n
//	places  c_p = sigmoid(C_t . h_p + bias) - 1, t the word at p;  b_pn = K/H sigmoid(mean of Y over the window + bias)_n
//	        s_q = sum of c_p C_t over the windows p that have q in them;  d_q = sum of b_p over the same
//	rows    gradient of a row: (sum of s_q + sum of d_qn C_n over its places q and n) / number of the windows
//
// The gradient of window p would be e_p = c_p C_t + sum of b_pn C_n. As it is linear in C, the part of the negatives is summed up as
// H numbers a place, and becomes rows of N once a word. Likewise a score with a negative is the mean of those of the words.
// So of (T, N) there are h and s: h is written once and read twice, s written and read once. Places that
// follow one another share most of the rows in their windows, which come from L1.
//
// Sums have one order. Losses are integers.
#include "stretch.cuh"

// stretch_begin makes the jobs of an iteration, and counts the updates of rows. A thread has a job.
extern "C" __global__ void __launch_bounds__(256) stretch_begin(const __grid_constant__ StretchArgs a) {
	startNext();
	const Stretch &s = a.stretch;
	uint32_t i = blockIdx.x * 256 + threadIdx.x;
	if (i == 0) {
		*a.tiles = s.tiles;
		*a.next = 0;
		*a.loss = Loss{};
	}
	if (i >= s.tiles * tileRows) return;
	uint2 o = s.order[i];
	Job j = {none, 0, 0, 0, 1, 1, o.y & 0xffff, o.y >> 16};
	if (o.x != none) {
		uint32_t start = s.slots[o.x], samples = s.slots[o.x + 1] - start, each = (samples + j.parts - 1) / j.parts, first = min(j.part * each, samples);
		j.row = s.rows[o.x], j.slot = start + first, j.count = min(each, samples - first), j.samples = samples;
		if (j.part == 0) {
			float n = a.updates[j.row] + 1;
			a.updates[j.row] = n;
			float2 c = corrections(a, n);
			j.scale = c.x, j.epsilon = c.y;
		}
	}
	a.jobs[i] = j;
}

template <int F> __device__ __forceinline__ void means(const StretchArgs &a) {
	const Stretch &s = a.stretch;
	const int quads = a.contexts.quads, l = laneNumber();
	uint32_t end = min(s.count, (blockIdx.x + 1) * blockPlaces);
	for (uint32_t p = blockIdx.x * blockPlaces + warpOfBlock(); p < end; p += blockWarps) {
		uint32_t from = s.from[p], to = s.to[p];
		Row<F> x = zeros<F>();
		for (uint32_t q = from; q < to; q += 32) {
			bool mine = q + l < to && q + l != p;
			addRows<false>(x, Wide{a.composed}, quads, mine ? s.words[q + l] : 0, 1, __ballot_sync(warp, mine));
		}
		scale(x, 1.0f / (to - from - 1));
#pragma unroll
		for (int f = 0; f < F; f++)
			if (int i = l + 32 * f; i < quads) __stcs(a.means + size_t(p) * quads + i, x.v[f]);
	}
}

extern __shared__ uint4 stretchMemory[];

// words has 32 targets in a thread block; thread blocks share the words.
template <int F> __device__ __forceinline__ void words(const StretchArgs &a) {
	constexpr int together = F <= 2 ? 4 : F <= 4 ? 2 : 1, batch = 16; // words, targets
	const Stretch &s = a.stretch;
	const int quads = a.contexts.quads, l = laneNumber(), chunks = (a.shared + chunk - 1) / chunk, first = blockIdx.x % chunks * chunk;
	float *scores = (float *)(a.scores + first / pair * chunk) + first / chunk % 2;
	float4 *rows = (float4 *)stretchMemory;
	for (int i = threadIdx.x; i < chunk * quads; i += 32 * blockWarps) {
		int n = first + i / quads;
		rows[i] = n < a.shared ? a.contexts.values[size_t(s.targets[n]) * quads + i % quads] : make_float4(0, 0, 0, 0);
	}
	__syncthreads();
	uint32_t warps = gridDim.x / chunks * blockWarps;
	for (uint32_t i = (blockIdx.x / chunks * blockWarps + warpOfBlock()) * together; i < s.rowCount; i += warps * together) {
		Row<F> x[together];
		uint32_t word[together];
#pragma unroll
		for (int k = 0; k < together; k++) {
			word[k] = s.rows[min(i + k, s.rowCount - 1)];
			x[k] = load<F>(a.composed + size_t(word[k]) * quads, quads);
		}
#pragma unroll 1
		for (int n0 = 0; n0 < chunk; n0 += batch) {
			float y[together][batch];
#pragma unroll
			for (int n = 0; n < batch; n++) {
				Row<F> r = load<F>(rows + (n0 + n) * quads, quads);
#pragma unroll
				for (int k = 0; k < together; k++) y[k][n] = partial(x[k], r);
			}
#pragma unroll
			for (int k = 0; k < together; k++) {
				float score = sums<batch>(y[k]);
				if (l < batch) scores[size_t(word[k]) * a.pairs * pair + 2 * (n0 + l)] = score;
			}
		}
	}
}

// A Tile is the places of a thread block, those around them whose windows may have one of these in them, and those in
// the windows of all these. It has what is known of them in shared memory.
struct Tile {
	uint32_t start, end, first, last, firstWord, lastWord;
	float2 *ofNegatives;         // (last - first, 32) b
	float *ofTarget;             // (last - first) c
	uint32_t *from, *to, *words; // (last - first) each, and (lastWord - firstWord)

	__device__ __forceinline__ Tile(const Stretch &s) {
		start = blockIdx.x * blockPlaces, end = min(s.count, start + blockPlaces);
		first = start - min(start, s.window), last = min(s.count, end + s.window);
		firstWord = first - min(first, s.window), lastWord = min(s.count, last + s.window);
		const uint32_t most = blockPlaces + 2 * s.window;
		ofNegatives = (float2 *)stretchMemory, ofTarget = (float *)(ofNegatives + most * chunk);
		from = (uint32_t *)ofTarget + most, to = from + most, words = to + most;
		for (uint32_t p = firstWord + threadIdx.x; p < lastWord; p += blockDim.x) {
			words[p - firstWord] = s.words[p];
			if (p >= first && p < last) from[p - first] = s.from[p], to[p - first] = s.to[p];
		}
		__syncthreads();
	}
	__device__ __forceinline__ bool has(uint32_t p) const { return p >= start && p < end; }
	__device__ __forceinline__ uint32_t word(uint32_t p) const { return words[p - firstWord]; }

	// inWindows returns which of the 32 places from p on have q in their windows, whose radius is at most so large.
	__device__ __forceinline__ uint32_t inWindows(uint32_t p, uint32_t q, uint32_t window) const {
		p += laneNumber();
		return __ballot_sync(warp, p != q && p < last && p <= q + window && from[p - first] <= q && q < to[p - first]);
	}
};

// targets computes c of the places of a tile. It returns the losses of places of its own.
template <int F> __device__ __forceinline__ float targets(const StretchArgs &a, const Tile &t) {
	constexpr int together = F <= 1 ? 4 : 2;
	const int quads = a.contexts.quads, l = laneNumber();
	float loss = 0;
	for (uint32_t p = t.first + together * warpOfBlock(); p < t.last; p += together * blockWarps) {
		float z[together];
		Row<F> x[together], y[together];
		uint32_t word = t.word(min(p + l % together, t.last - 1));
#pragma unroll
		for (int k = 0; k < together; k++) {
			const float4 *h = a.means + size_t(min(p + k, t.last - 1)) * quads, *c = a.contexts.values + size_t(__shfl_sync(warp, word, k)) * quads;
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
		if (uint32_t mine = p + l; l < together && mine < t.last) {
			t.ofTarget[mine - t.first] = -y0.sigmoid;
			if (t.has(mine)) loss += __logf(y0.factor);
		}
	}
	return loss;
}

// negatives computes b of the places of a tile, of a pair of chunks of negatives. It returns the losses of both.
__device__ __forceinline__ float2 negatives(const StretchArgs &a, const Tile &t, uint32_t number) {
	constexpr int together = 6; // words of a window, as most of them have
	const int l = laneNumber();
	const bool live = number * pair + l < a.shared, also = number * pair + chunk + l < a.shared, both = number * pair + chunk < a.shared;
	const char *scores = (const char *)(a.scores + number * chunk + l);
	const uint32_t bytes = a.pairs * chunk * sizeof(float2); // of a word
	float2 loss = make_float2(0, 0);
	for (uint32_t p = t.first + warpOfBlock(); p < t.last; p += blockWarps) {
		const uint32_t from = t.from[p - t.first], to = t.to[p - t.first];
		float2 sum = make_float2(0, 0);
		for (uint32_t k0 = from; k0 + 1 < to; k0 += together) {
			float2 y[together];
#pragma unroll
			for (int k = 0; k < together; k++) {
				uint32_t q = k0 + k + (k0 + k >= p); // not p
				y[k] = q < to ? *(const float2 *)(scores + uint64_t(t.word(q)) * bytes) : make_float2(0, 0);
			}
#pragma unroll
			for (int k = 0; k < together; k++) sum.x += y[k].x, sum.y += y[k].y;
		}
		const float count = to - from - 1;
		Logistic x = fastLogistic(sum.x / count + a.bias), y = {0, 1};
		if (both) y = fastLogistic(sum.y / count + a.bias);
		t.ofNegatives[(p - t.first) * chunk + l] = make_float2(live ? a.weight * x.sigmoid : 0, also ? a.weight * y.sigmoid : 0);
		if (live && t.has(p)) loss.x += a.weight * __logf(x.factor);
		if (also && t.has(p)) loss.y += a.weight * __logf(y.factor);
	}
	return loss;
}

template <int F> __device__ __forceinline__ void places(const StretchArgs &a) {
	const Stretch &s = a.stretch;
	const Tile t(s);
	const int quads = a.contexts.quads, l = laneNumber();
	float loss = targets<F>(a, t);
	for (uint32_t n = 0; n < a.pairs; n++) {
		if (n) __syncthreads();
		float2 more = negatives(a, t, n);
		loss += more.x;
		loss += more.y;
		__syncthreads();
		for (uint32_t q = t.start + warpOfBlock(); q < t.end; q += blockWarps) {
			float2 d = make_float2(0, 0);
			for (uint32_t p = q - min(q, s.window); p < t.last && p <= q + s.window; p += 32)
				for (uint32_t in = t.inWindows(p, q, s.window); in; in &= in - 1) {
					float2 b = t.ofNegatives[(p - t.first + __ffs(in) - 1) * chunk + l];
					d.x += b.x, d.y += b.y;
				}
			a.errors[(size_t(q) * a.pairs + n) * chunk + l] = d;
		}
	}
	for (uint32_t q = t.start + warpOfBlock(); q < t.end; q += blockWarps) {
		Row<F> x = zeros<F>();
		uint32_t windows = 0;
		for (uint32_t p = q - min(q, s.window); p < t.last && p <= q + s.window; p += 32) {
			uint32_t in = t.inWindows(p, q, s.window), mine = min(p + l, t.last - 1);
			windows += __popc(in);
			addRows<true>(x, Wide{a.contexts.values}, quads, t.word(mine), t.ofTarget[mine - t.first], in);
		}
		if (l == 0) a.inside[q] = windows;
#pragma unroll
		for (int f = 0; f < F; f++)
			if (int i = l + 32 * f; i < quads) __stcs(a.sums + size_t(q) * quads + i, x.v[f]);
	}
	report(a.loss, __float2ll_rn(loss * unitsOfLoss), loss < 1e12f);
}

// A Streamed table is read once.
struct Streamed {
	const float4 *values;
	__device__ __forceinline__ float4 operator[](uint32_t i) const { return __ldcs(values + i); }
};

// sumOf returns the sum of s of a job's places, in the columns that the GPU has, and in how many windows they are.
template <int F> __device__ __forceinline__ Row<F> sumOf(const StretchArgs &a, const Job &j, float &windows) {
	const int quads = a.words.quads, l = laneNumber();
	Row<F> g = zeros<F>();
	windows = 0;
	for (uint32_t done = 0; done < j.count; done += 32) {
		bool mine = done + l < j.count;
		uint32_t q = mine ? a.stretch.places[j.slot + done + l] : 0;
		if (mine) windows += a.inside[q];
		addColumns<false>(g, Streamed{a.sums + a.first}, quads, a.contexts.quads, q, 1, __ballot_sync(warp, mine));
	}
	windows = sum(windows);
	return g;
}

// errorOf returns the sum of d of a job's places, of a pair of chunks of negatives.
__device__ __forceinline__ float2 errorOf(const StretchArgs &a, const Job &j, uint32_t number) {
	const int l = laneNumber();
	float2 d = make_float2(0, 0);
	for (uint32_t done = 0; done < j.count; done += 32) {
		uint32_t q = done + l < j.count ? a.stretch.places[j.slot + done + l] : 0, count = min(32u, j.count - done);
#pragma unroll 8
		for (uint32_t k = 0; k < count; k++) {
			float2 e = a.errors[(size_t(__shfl_sync(warp, q, k)) * a.pairs + number) * chunk + l];
			d.x += e.x, d.y += e.y;
		}
	}
	return d;
}

// A Negatives is a pair of chunks of negatives for the jobs of a thread block.
struct Negatives {
	float d[pair][blockWarps];
	uint32_t at[pair]; // where their rows of C begin
};

// addNegatives adds the sum of d_n C_n to the gradients of the jobs, (8, 32 F) in shared memory. A row of C is read for several jobs at once.
template <int F> __device__ __forceinline__ void addNegatives(const StretchArgs &a, float4 *gradients, const Negatives &of, int count) {
	constexpr int together = F == 1 ? 2 : 4; // jobs of a thread
	const int quads = a.words.quads;
	for (int i = threadIdx.x; i < blockWarps / together * quads; i += 32 * blockWarps) {
		const int quad = i % quads, job = i / quads * together;
		const float4 *contexts = a.contexts.values + a.first + quad;
		float4 *to = gradients + job * 32 * F + quad, g[together];
#pragma unroll
		for (int k = 0; k < together; k++) g[k] = to[k * 32 * F];
#pragma unroll(8 / together)
		for (int n = 0; n < count; n++) {
			const float4 c = contexts[of.at[n]];
#pragma unroll
			for (int k = 0; k < together; k++) {
				const float d = of.d[n][job + k];
				g[k].x = fmaf(d, c.x, g[k].x), g[k].y = fmaf(d, c.y, g[k].y), g[k].z = fmaf(d, c.z, g[k].z), g[k].w = fmaf(d, c.w, g[k].w);
			}
		}
#pragma unroll
		for (int k = 0; k < together; k++) to[k * 32 * F] = g[k];
	}
}

// rows trains the rows of a tile of jobs, the columns that the GPU has, or if they are composed writes what their parts are to be trained by.
template <int F, class method> __device__ __forceinline__ void rows(const StretchArgs &a) {
	__shared__ float windowsOf[blockWarps];
	__shared__ __align__(16) Negatives negatives;
	const int quads = a.words.quads, l = laneNumber(), w = warpOfBlock();
	float4 *gradients = (float4 *)stretchMemory, *mine = gradients + w * 32 * F; // (8, 32 F)
	const Job j = a.jobs[blockIdx.x * tileRows + w];
	if (a.ownRows && j.row != none && j.part == 0) prefetch<method>(a.words, j.row);
	float windows = 0;
	store(mine, 32 * F, sumOf<F>(a, j, windows));
	if (l == 0) windowsOf[w] = windows;
	for (uint32_t number = 0; number < a.pairs; number++) {
		float2 d = errorOf(a, j, number);
		if (number) __syncthreads();
		negatives.d[l][w] = d.x, negatives.d[chunk + l][w] = d.y;
		const uint32_t first = number * pair, count = min(a.shared - first, uint32_t(pair));
		if (threadIdx.x < count) negatives.at[threadIdx.x] = a.stretch.targets[first + threadIdx.x] * a.contexts.quads;
		__syncthreads();
		addNegatives<F>(a, gradients, negatives, count);
	}
	__syncthreads();
	if (j.row == none || j.part) return;
	Row<F> g = load<F>(mine, 32 * F);
#pragma unroll 1
	for (uint32_t other = w + 1; other < w + j.parts; other++) {
		add(g, 1, load<F>(gradients + other * 32 * F, 32 * F));
		windows += windowsOf[other];
	}
	scale(g, 1 / windows);
	if (a.gradient) {
		Row<F> part = g;
		scale(part, a.weights[j.row] * gradientUnits);
#pragma unroll
		for (int f = 0; f < F; f++)
			if (int i = l + 32 * f; i < quads) a.gradient[size_t(j.row) * quads + i] = narrow(part.v[f], 1);
		if (l == 0) a.trained[j.row] = a.iteration;
	}
	if (a.ownRows) updateRow<method>(a.words, numbersOf<method>(a, a.steps[0], make_float2(j.scale, j.epsilon), j.samples), j.row, g);
}

#define OF_SIZE(F, ...) \
	extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) stretch_means_##F(const __grid_constant__ StretchArgs a) { begin(), means<F>(a); } \
	extern "C" __global__ void __launch_bounds__(32 * blockWarps) stretch_words_##F(const __grid_constant__ StretchArgs a) { begin(), words<F>(a); } \
	extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) stretch_places_##F(const __grid_constant__ StretchArgs a) { begin(), places<F>(a); }
#define ROWS(method, F) \
	extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) stretch_rows_##method##_##F(const __grid_constant__ StretchArgs a) { begin(), rows<F, method>(a); }
#define ROWS_OF_SIZE(F, ...) METHODS(ROWS, F)

// For N up to 128 F.
SIZES(OF_SIZE)
SIZES(ROWS_OF_SIZE)
