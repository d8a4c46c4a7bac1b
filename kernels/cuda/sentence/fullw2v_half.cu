// FULL-W2V and pWord2Vec with the table of contexts in float16 and, in fullw2v_halves.cu, that of words, too. The bytes of rows that many warps share
// limit fullw2v.cu; here they are half as many. A warp trains a sentence as there. The ring
// of context words, which has the only copy of their rows that changes, is float32 in
// shared memory. The three products of a window
//
//	S = L R^T, G = positive - sigmoid(S), L += rate G R, R += rate G^T L
//
// are done by the tensor cores (mma.m16n8k16): float16 factors, float32 sums. R is
// float16 in memory, L and G are rounded for the products. That takes a third of the
// instructions of fullw2v.cu, whose lanes multiply by themselves.
//
// Lane 4 g + t holds quarter t of row g: of the slots for L and S, of the outputs for R.
// In every chunk of 32 values it has 8, which are columns 2t and 2t+1 of four tiles of 8
// columns. It does not matter which columns these are: L and R have them in the same order.
#include "halves.cuh"
#include "sentence.cuh"

// transposed returns this lane's part of the transposed 8 x 8 tile.
__device__ __forceinline__ uint32_t transposed(uint32_t x) {
	uint32_t y;
	asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
	return y;
}

// multiply adds A B to d: A (16, 16) in tiles {above left, below left, above
// right, below right}, B (16, 8) in tiles {upper, lower}, d (16, 8) {above, below}.
__device__ __forceinline__ void multiply(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// multiply is the same without the tiles on the right and the lower one.
__device__ __forceinline__ void multiply(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		: "r"(a0), "r"(a1), "r"(b0));
}

// Halves are a table of float16 as HalfChunks has it. A lane reads and adds to 8 values
// of each chunk of 32.
template <int F> struct Halves {
	uint4 *mine;
	uint32_t toNextRow, toNextChunk;
	int chunks;

	__device__ __forceinline__ Halves(const SentenceArgs &a)
		: mine(static_cast<uint4 *>(a.contexts) + laneNumber() % 4), toNextRow(a.layout.toNextRow / 2),
		  toNextChunk(a.layout.toNextChunk / 2), chunks(a.layout.quads / 8) {}
	__device__ __forceinline__ size_t at(uint32_t row, int c) const { return __cvta_generic_to_global(mine + size_t(row) * toNextRow + size_t(c) * toNextChunk); }

	// load reads one chunk of a row that other warps change; see loadCurrent.
	__device__ __forceinline__ uint4 load(uint32_t row, int c, bool wanted) const {
		uint4 x;
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
			"mov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\nmov.b32 %3, 0;\n"
			"@p ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
			: "=&r"(x.x), "=&r"(x.y), "=&r"(x.z), "=&r"(x.w)
			: "l"(at(row, c)), "r"(wanted & c < chunks));
		return x;
	}

	// add adds to one chunk; see addCurrent.
	__device__ __forceinline__ void add(uint32_t row, int c, const uint32_t (&x)[4]) const {
#if __CUDA_ARCH__ >= 900
		asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::
			"l"(at(row, c)), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
#else
		asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;\nred.relaxed.gpu.global.add.noftz.f16x2 [%0+4], %2;\n"
			"red.relaxed.gpu.global.add.noftz.f16x2 [%0+8], %3;\nred.relaxed.gpu.global.add.noftz.f16x2 [%0+12], %4;" ::
			"l"(at(row, c)), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
#endif
	}
};

// Fragments are the quarter of a row that a lane has.
template <int F> struct Fragments {
	uint4 v[4 * F];

	__device__ __forceinline__ uint32_t tile(int j) const {
		const uint4 &x = v[j / 4];
		return j % 4 == 0 ? x.x : j % 4 == 1 ? x.y : j % 4 == 2 ? x.z : x.w;
	}
};

template <int F> __device__ __forceinline__ void load(Fragments<F> &r, const Halves<F> &table, uint32_t row, bool wanted) {
#pragma unroll
	for (int c = 0; c < 4 * F; c++) r.v[c] = table.load(row, c, wanted);
}

#ifdef HALVES
template <int F> using WordChunks = HalfChunks<F>;
#define FULLW2V_HALF(F, Q, warps) FULLW2V_HALF_FORMS(fullw2v_halves_##F##_##Q, F, Q, warps)
#else
template <int F> using WordChunks = Chunks<F>;
#define FULLW2V_HALF(F, Q, warps) FULLW2V_HALF_FORMS(fullw2v_half_##F##_##Q, F, Q, warps)
#endif

// A row in the ring has 16 bytes more than its values, so that the rows of two
// slots do not meet in the banks of shared memory.
template <int F> struct HalfRing : Ring<F, 0, 1> {
	WordChunks<F> table;

	// giveBack adds the change to the row of a word that left, as that of Ring does.
	__device__ __forceinline__ void giveBack(int slot, Dither &dither) const {
		if (slot < 0) return;
		uint32_t w = __shfl_sync(warp, this->word, slot);
		float part = fminf(1, __shfl_sync(warp, this->share, slot) * this->slow);
		Row<F> came = this->load(this->rows + slot), change = zeros<F>();
		add(change, part, this->load(slot));
		add(change, -part, came);
		addChange(table, w, came, change, true, dither);
	}
};

// multiplyRows computes the scores of the context words with the outputs r: mine is where this lane's part of the first rows is.
template <int F, int Q> __device__ __forceinline__ void multiplyRows(float (&even)[4], float (&odd)[4], const float4 *mine, int stride, const Fragments<F> &r) {
#pragma unroll
	for (int c = 0; c < 4 * F; c++) {
		uint32_t left[Q][4];
#pragma unroll
		for (int q = 0; q < Q; q++) {
			float4 x = mine[q * 8 * stride + 8 * c], y = mine[q * 8 * stride + 8 * c + 1];
			left[q][0] = bits(__floats2half2_rn(x.x, x.y)), left[q][1] = bits(__floats2half2_rn(x.z, x.w));
			left[q][2] = bits(__floats2half2_rn(y.x, y.y)), left[q][3] = bits(__floats2half2_rn(y.z, y.w));
		}
		if constexpr (Q == 2) {
			multiply(even, left[0][0], left[1][0], left[0][1], left[1][1], r.tile(4 * c), r.tile(4 * c + 1));
			multiply(odd, left[0][2], left[1][2], left[0][3], left[1][3], r.tile(4 * c + 2), r.tile(4 * c + 3));
		} else { // of even the upper half counts, of odd the lower
			multiply(even, left[0][0], left[0][2], left[0][1], left[0][3], r.tile(4 * c), r.tile(4 * c + 1));
			multiply(odd, left[0][0], left[0][2], left[0][1], left[0][3], r.tile(4 * c + 2), r.tile(4 * c + 3));
		}
	}
}

// coefficients makes of scores the coefficients of rows, by slots and by outputs. It returns this lane's part of the loss.
template <int Q>
__device__ __forceinline__ float coefficients(uint32_t (&gradient)[Q], uint32_t (&across)[Q], const float (&even)[4], const float (&odd)[4], int times, int width) {
	int g = laneNumber() / 4, t = laneNumber() % 4;
	float loss = 0;
#pragma unroll
	for (int q = 0; q < Q; q++) {
		float often = __shfl_sync(warp, times, 8 * q + g), steps[2];
#pragma unroll
		for (int n = 0; n < 2; n++) {
			int k = 2 * t + n;
			float score = even[2 * q + n] + odd[2 * (Q == 2 ? q : 1) + n];
			Logistic y = fastLogistic(k == 0 ? -score : score);
			float step = k < width ? often * y.sigmoid : 0;
			steps[n] = k == 0 ? step : -step;
			loss += k < width ? often * __logf(y.factor) : 0;
		}
		gradient[q] = bits(__floats2half2_rn(steps[0], steps[1]));
		across[q] = transposed(gradient[q]);
	}
	return loss;
}

// window trains a window: r are the outputs, of which this lane has a quarter of
// output; Q groups of 8 slots hold the context words, and times says how often this
// lane's slot is one; output has a share of C. It returns this lane's part of the loss.
template <int F, int Q>
__device__ __forceinline__ float window(const SentenceArgs &a, HalfRing<F> &ring, const Halves<F> &table, const Fragments<F> &r,
	uint32_t output, int times, float rate, float share, Dither &dither) {
	int g = laneNumber() / 4, t = laneNumber() % 4, width = 1 + a.negatives;
	float4 *mine = shared + g * ring.stride + 2 * t; // of slot g
	uint32_t gradient[Q], across[Q];
	float even[4] = {0, 0, 0, 0}, odd[4] = {0, 0, 0, 0}; // two sums: one would wait for itself
	multiplyRows<F, Q>(even, odd, mine, ring.stride, r);
	float loss = coefficients(gradient, across, even, odd, times, width);
	float part = rate * contextPart(share, ring.slow);
	uint32_t added[4][4]; // to chunk c in place c mod 4
#pragma unroll
	for (int c = 0; c < 4 * F; c++) {
		float x[Q][8];
#pragma unroll
		for (int q = 0; q < Q; q++) {
			float4 *at = mine + q * 8 * ring.stride + 8 * c;
			*reinterpret_cast<float4 *>(x[q]) = at[0];
			*reinterpret_cast<float4 *>(x[q] + 4) = at[1];
		}
#pragma unroll
		for (int i = 0; i < 4; i++) {
			uint32_t row = transposed(r.tile(4 * c + i)), left[Q];
#pragma unroll
			for (int q = 0; q < Q; q++) left[q] = transposed(bits(__floats2half2_rn(x[q][2 * i], x[q][2 * i + 1])));
			float step[4] = {}, sum[4] = {}; // G R, G^T L
			if constexpr (Q == 2) {
				multiply(step, gradient[0], gradient[1], row);
				multiply(sum, across[0], 0, across[1], 0, left[0], left[1]);
			} else {
				multiply(step, gradient[0], 0, 0, across[0], row, left[0]);
				sum[0] = step[2], sum[1] = step[3];
			}
#pragma unroll
			for (int q = 0; q < Q; q++) {
				x[q][2 * i] = fmaf(rate, step[2 * q], x[q][2 * i]);
				x[q][2 * i + 1] = fmaf(rate, step[2 * q + 1], x[q][2 * i + 1]);
			}
			added[c % 4][i] = dither.step(r.tile(4 * c + i), part * sum[0], part * sum[1]);
		}
#pragma unroll
		for (int q = 0; q < Q; q++) {
			float4 *at = mine + q * 8 * ring.stride + 8 * c;
			at[0] = *reinterpret_cast<float4 *>(x[q]);
			at[1] = *reinterpret_cast<float4 *>(x[q] + 4);
		}
		if (c % 4 == 3 && g < width) {
#pragma unroll
			for (int i = 0; i < 4; i++)
				if (c - 3 + i < table.chunks) table.add(output, c - 3 + i, added[i]);
		}
	}
	__syncwarp(); // rows of the ring are other lanes' now
	return loss;
}

// reload loads a row again, if wanted.
template <int F> __device__ __forceinline__ void reload(Fragments<F> &r, const Halves<F> &table, uint32_t row, bool wanted) {
	Fragments<F> changed;
	load(changed, table, row, wanted);
#pragma unroll
	for (int c = 0; c < 4 * F; c++)
		if (wanted) r.v[c] = changed.v[c];
}

// fill brings the first words of a sentence to the ring.
template <int F> __device__ __forceinline__ void fill(HalfRing<F> &ring, const uint32_t *kept, int count) {
	ring.clear();
	for (int i = 0; i < count; i++) {
		int into = ring.enter(kept[i], i);
		ring.bring(into, loadCurrent(ring.table, kept[i], into >= 0));
	}
}

// sentence trains n words that subsampling has left of a sentence that begins
// with token first of the text.
template <int F, int Q, bool bounded>
__device__ __forceinline__ float sentence(const SentenceArgs &a, uint32_t epoch, uint64_t first, const uint32_t *kept, int n, float rate) {
	using Draw = Outputs<8>;
	constexpr bool ahead = F <= 4; // there are registers for the next window's outputs
	int radius = a.radius, width = 1 + a.negatives, l = laneNumber(), g = l / 4;
	HalfRing<F> ring = {{Chunks<F>(a.words, a.layout), a.shares, 2 * radius + 2, 8 * Q}, WordChunks<F>(a.words, a.layout)};
	ring.slow = slowness<bounded>(a, rate);
	Halves<F> contexts(a);
	Dither dither = {randomBits(a.seed, streamNegatives, epoch, first + l) ^ l};
	Windows windows(a, kept, n);
	fill(ring, kept, min(radius + 1, n));
	Draw draw;
	draw.begin(a, epoch, first, kept, 0, n);
	uint32_t batch = draw.end(a, epoch); // outputs of this batch of windows
	unsigned again = repeated<8>(batch, batch, width);
	draw.begin(a, epoch, first, kept, Draw::windows, n);
	uint32_t coming = kept[min(radius + 1, n - 1)];
	uint32_t now = __shfl_sync(warp, batch, g); // this lane's output of this window
	Fragments<F> r;
	load(r, contexts, now, g < width);
	float loss = 0;
	__syncwarp();
	for (int t = 0; t < n;) {
		uint32_t batchNext = draw.end(a, epoch);
		unsigned againNext = repeated<8>(batchNext, batch, width);
		draw.begin(a, epoch, first, kept, t + 2 * Draw::windows, n);
#pragma unroll 1
		for (int j = 0; j < Draw::windows && t < n; j++, t++) {
			uint32_t entering = coming;
			coming = kept[min(t + radius + 2, n - 1)];
			// Where rows come and go is settled here, while rows are on the way.
			int times = ring.times(around(t, windows.next(t)));
			int into = t + radius + 1 < n ? ring.enter(entering, t + radius + 1) : -1;
			Row<F> rowEntering = loadCurrent(ring.table, entering, into >= 0);
			int from = t >= radius ? ring.leave(t - radius) : -1;
			bool last = j + 1 == Draw::windows;
			int after = last ? 0 : (j + 1) * 8;
			uint32_t soon = __shfl_sync(warp, last ? batchNext : batch, after + g);
			unsigned stale = (last ? againNext : again) >> after & 0xff; // rows that this window changes
			Fragments<F> next;
			if constexpr (ahead) load(next, contexts, soon, g < width);
			loss += window<F, Q>(a, ring, contexts, r, now, times, rate, contextShare<bounded>(a, now), dither);
			ring.bring(into, rowEntering);
			ring.giveBack(from, dither);
			__syncwarp();
			if constexpr (!ahead) {
				load(next, contexts, soon, g < width);
			} else if (stale) {
				reload(next, contexts, soon, stale >> g & 1);
			}
			r = next;
			now = soon;
		}
		batch = batchNext;
		again = againNext;
	}
	for (int i = max(n - radius, 0); i < n; i++) ring.giveBack(ring.leave(i), dither);
	return loss;
}

#define FULLW2V_HALF_FORMS(name, F, Q, warps) \
	FULLW2V_HALF_FORM(name, F, Q, warps, false) \
	FULLW2V_HALF_FORM(name##_bounded, F, Q, warps, true)
#define FULLW2V_HALF_FORM(name, F, Q, warps, bounded) \
	ALONE(name, warps, Trained{sentence<F, Q, bounded>(a, epoch, first, kept, n, rate), contexts(a, kept, n) * (1 + a.negatives)})

// For N up to 128 F, K up to 7 and W_f up to 4 Q - 1.
FULLW2V_HALF(1, 1, 16)
FULLW2V_HALF(1, 2, 15)
FULLW2V_HALF(2, 1, 12)
FULLW2V_HALF(2, 2, 12)
FULLW2V_HALF(3, 1, 8)
FULLW2V_HALF(3, 2, 8)
FULLW2V_HALF(4, 1, 8)
FULLW2V_HALF(4, 2, 8)
FULLW2V_HALF(8, 1, 6)
FULLW2V_HALF(8, 2, 3)
