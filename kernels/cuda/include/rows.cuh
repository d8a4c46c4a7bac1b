// Rows of a table as a warp holds them: float4 number i of a row is with lane
// i mod 32. A table's rows are padded with zeros to whole float4s ("quads"),
// which no kernel changes: their dots and gradients are zero.
#pragma once
#include <cstdint>

constexpr unsigned warp = 0xffffffffu; // lanes of a warp

__device__ __forceinline__ int laneNumber() { return threadIdx.x & 31; }

// uniform returns x, which is the same in all lanes. So the compiler learns that they go on together where x decides: without,
// it makes longer code, for the case that they do not.
__device__ __forceinline__ uint32_t uniform(uint32_t x) { return __shfl_sync(warp, x, 0); }

// A Row is up to 128 F values of a row and 32 E behind them, of which a lane has
// every 32nd.
template <int F, int E = 0> struct Row {
	float4 v[F];
	float w[E];
};
template <int F> struct Row<F, 0> {
	float4 v[F];
};

template <int F, int E = 0> __device__ __forceinline__ Row<F, E> zeros() {
	Row<F, E> r;
#pragma unroll
	for (int f = 0; f < F; f++) r.v[f] = make_float4(0, 0, 0, 0);
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++) r.w[e] = 0;
	return r;
}

// load reads a row of quads float4s that does not change while the kernel runs,
// or that this warp alone changes.
template <int F> __device__ __forceinline__ Row<F> load(const float4 *row, int quads) {
	Row<F> r = zeros<F>();
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) r.v[f] = row[i];
	return r;
}

template <int F> __device__ __forceinline__ void store(float4 *row, int quads, const Row<F> &r) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) row[i] = r.v[f];
}

// narrow rounds to float16 in some units, widen is the way back.
__device__ __forceinline__ uint2 narrow(float4 x, float units) {
	uint2 r;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r.x) : "f"(units * x.y), "f"(units * x.x));
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r.y) : "f"(units * x.w), "f"(units * x.z));
	return r;
}

__device__ __forceinline__ float4 widen(uint2 x) {
	float4 r;
	asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(r.x), "=f"(r.y) : "r"(x.x));
	asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}" : "=f"(r.z), "=f"(r.w) : "r"(x.y));
	return r;
}

// A Slim table has float16 values, in rows of quads.
struct Slim {
	const uint2 *values;
	__device__ __forceinline__ float4 operator[](uint32_t i) const { return widen(values[i]); }
};

// A Layout says where rows lie in a table that kernels change at any time: one behind the other, or spread (numbers.go of sentence).
// Distances are in quads. A row has whole chunks, which are cache lines; where comments say (V, N), N is padded with zeros to whole chunks.
struct Layout {
	uint32_t quads; // of a row
	uint32_t toNextRow, toNextChunk;
};

// ChunksOf is a table with a Layout: of float4s, or of quads of another type. A warp has chunks of each row, from first on.
template <class Quad> struct ChunksOf {
	static constexpr int chunk = 8; // quads
	Quad *mine;                     // where this lane's part of row 0 is
	uint32_t toNextRow;
	size_t step; // from quad i of a row to quad i + 32, and from chunk to chunk in values
	int quads;   // of a row from the warp's first on, a multiple of chunk

	__device__ __forceinline__ ChunksOf(void *table, const Layout &layout, int first = 0)
		: mine(static_cast<Quad *>(table) + size_t(first + laneNumber() / chunk) * layout.toNextChunk + laneNumber() % chunk),
		  toNextRow(layout.toNextRow), step(size_t(4) * layout.toNextChunk), quads(layout.quads - first * chunk) {}
	__device__ __forceinline__ size_t at(uint32_t row, int f) const { return __cvta_generic_to_global(mine + size_t(row) * toNextRow + f * step); }
	__device__ __forceinline__ int has(int f) const { return laneNumber() + 32 * f < quads; }
};

// Chunks are 4 F + E of each row.
template <int F, int E = 0> struct Chunks : ChunksOf<float4> {
	using ChunksOf<float4>::ChunksOf;

	// atValue and hasValue are at and has for value e behind the float4s.
	__device__ __forceinline__ size_t atValue(uint32_t row, int e) const {
		int l = laneNumber();
		const float *first = reinterpret_cast<const float *>(mine - l % chunk) - l / chunk * step;
		return __cvta_generic_to_global(first + size_t(row) * 4 * toNextRow + (4 * F + e) * step + l);
	}
	__device__ __forceinline__ int hasValue(int e) const { return (4 * F + e) * chunk < quads; }
};

// loadCurrent reads a row that other warps change, or zeros if not wanted: from
// L2, for the copy in L1 may be old. Volatile, so that it stays behind what this
// warp has added before. The predicate is inside, for branches would cost more
// than the load.
template <int F, int E> __device__ __forceinline__ Row<F, E> loadCurrent(const Chunks<F, E> &table, uint32_t row, bool wanted) {
	Row<F, E> r;
#pragma unroll
	for (int f = 0; f < F; f++) {
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
			"mov.f32 %0, 0f00000000;\nmov.f32 %1, 0f00000000;\nmov.f32 %2, 0f00000000;\nmov.f32 %3, 0f00000000;\n"
			"@p ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
			: "=&f"(r.v[f].x), "=&f"(r.v[f].y), "=&f"(r.v[f].z), "=&f"(r.v[f].w)
			: "l"(table.at(row, f)), "r"(wanted & table.has(f)));
	}
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++)
			asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\nmov.f32 %0, 0f00000000;\n@p ld.global.cg.f32 %0, [%1];\n}"
				: "=&f"(r.w[e])
				: "l"(table.atValue(row, e)), "r"(wanted & table.hasValue(e)));
	return r;
}

// stageCurrent starts to copy such a row to shared memory, in the form that rows of a Ring
// have. Until arrived returns it takes no register.
template <int F, int E> __device__ __forceinline__ void stageCurrent(const Chunks<F, E> &table, uint32_t row, bool wanted, float4 *to) {
	uint32_t mine = uint32_t(__cvta_generic_to_shared(to + laneNumber()));
#pragma unroll
	for (int f = 0; f < F + (E > 0); f++) // 8 lanes bring the 32 values of one e
		if (f < F || laneNumber() < 8 * E)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(mine + 512 * f), "l"(table.at(row, f)), "r"(wanted & table.has(f) ? 16 : 0) : "memory");
}

__device__ __forceinline__ void arrived() {
	asm volatile("cp.async.wait_all;" ::: "memory");
	__syncwarp();
}

// addCurrent adds to a row that other warps change, if wanted. No addition is
// lost, and none waits for the line: L2 does it. Before sm_90 it takes four
// instructions.
template <int F, int E> __device__ __forceinline__ void addCurrent(const Chunks<F, E> &table, uint32_t row, const Row<F, E> &r, bool wanted) {
#pragma unroll
	for (int f = 0; f < F; f++) {
		size_t at = table.at(row, f);
		float4 x = r.v[f];
#if __CUDA_ARCH__ >= 900
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
			"@p red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};\n}" ::
			"l"(at), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w), "r"(wanted & table.has(f)));
#else
		asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
			"@p red.relaxed.gpu.global.add.f32 [%0], %1;\n@p red.relaxed.gpu.global.add.f32 [%0+4], %2;\n"
			"@p red.relaxed.gpu.global.add.f32 [%0+8], %3;\n@p red.relaxed.gpu.global.add.f32 [%0+12], %4;\n}" ::
			"l"(at), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w), "r"(wanted & table.has(f)));
#endif
	}
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++)
			asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p red.relaxed.gpu.global.add.f32 [%0], %1;\n}" ::
				"l"(table.atValue(row, e)), "f"(r.w[e]), "r"(wanted & table.hasValue(e)));
}

// partial is this lane's part of a dot product.
template <int F, int E> __device__ __forceinline__ float partial(const Row<F, E> &a, const Row<F, E> &b) {
	float s = 0;
#pragma unroll
	for (int f = 0; f < F; f++) {
		s = fmaf(a.v[f].x, b.v[f].x, s);
		s = fmaf(a.v[f].y, b.v[f].y, s);
		s = fmaf(a.v[f].z, b.v[f].z, s);
		s = fmaf(a.v[f].w, b.v[f].w, s);
	}
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++) s = fmaf(a.w[e], b.w[e], s);
	return s;
}

// add adds c x to y.
__device__ __forceinline__ void add(float4 &y, float c, const float4 &x) {
	y.x = fmaf(c, x.x, y.x);
	y.y = fmaf(c, x.y, y.y);
	y.z = fmaf(c, x.z, y.z);
	y.w = fmaf(c, x.w, y.w);
}

template <int F, int E> __device__ __forceinline__ void add(Row<F, E> &y, float c, const Row<F, E> &x) {
#pragma unroll
	for (int f = 0; f < F; f++) add(y.v[f], c, x.v[f]);
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++) y.w[e] = fmaf(c, x.w[e], y.w[e]);
}

// scale multiplies y by c.
template <int F, int E> __device__ __forceinline__ void scale(Row<F, E> &y, float c) {
#pragma unroll
	for (int f = 0; f < F; f++) y.v[f] = make_float4(c * y.v[f].x, c * y.v[f].y, c * y.v[f].z, c * y.v[f].w);
	if constexpr (E > 0)
#pragma unroll
		for (int e = 0; e < E; e++) y.w[e] *= c;
}

// sum returns the sum over the warp, or each L lanes of it, to every lane.
template <int L = 32> __device__ __forceinline__ float sum(float x) {
#pragma unroll
	for (int d = L / 2; d; d /= 2) x += __shfl_xor_sync(warp, x, d);
	return x;
}

// sums sums G numbers of each lane over L lanes at once: lane i gets the sum of
// number i mod G, a power of two. In each step it gives away every second of its numbers.
template <int G, int L = 32, int H = G / 2> __device__ __forceinline__ float sums(float (&x)[G]) {
	if constexpr (H > 0) { // a recursion: the compiler does not unroll the loop
		bool upper = laneNumber() & H;
#pragma unroll
		for (int i = 0; i < H; i++) {
			float give = upper ? x[i] : x[i + H], keep = upper ? x[i + H] : x[i];
			x[i] = keep + __shfl_xor_sync(warp, give, H);
		}
		return sums<G, L, H / 2>(x);
	} else {
#pragma unroll
		for (int d = G; d < L; d *= 2) x[0] += __shfl_xor_sync(warp, x[0], d);
		return x[0];
	}
}

// treeSums sums P numbers of each lane over each L lanes at once, lanes far apart first: the order
// that sum has. Then lane l has those from number l * P / L on: P / L of them, or one.
template <int L, int P, int D = L / 2, int H = P> __device__ __forceinline__ void treeSums(float (&x)[P]) {
	if constexpr (D > 0) { // a recursion, as in sums
		bool upper = laneNumber() & D;
#pragma unroll
		for (int i = 0; i < (H + 1) / 2; i++) {
			float give = H == 1 || upper ? x[i] : x[i + H / 2], keep = H == 1 || !upper ? x[i] : x[i + H / 2];
			x[i] = keep + __shfl_xor_sync(warp, give, D);
		}
		treeSums<L, P, D / 2, (H + 1) / 2>(x);
	}
}

// A logistic is the sigmoid of a score and the factor whose logarithm is the
// loss, with the limits that kernels/simd has.
struct Logistic {
	float sigmoid, factor;
};

__device__ __forceinline__ Logistic logistic(float score) {
	// NaN stays NaN: fminf would give the limit.
	float e = expf(score != score ? score : fminf(fmaxf(score, -87.0f), 80.0f));
	return {e / (1 + e), 1 + e};
}

// fastLogistic is logistic by the device's own functions: 2e-6 of the sigmoid.
__device__ __forceinline__ Logistic fastLogistic(float score) {
	float e = __expf(score != score ? score : fminf(fmaxf(score, -87.0f), 80.0f));
	return {__fdividef(e, 1 + e), 1 + e};
}
