// Combines the tables of several GPUs, each of which has trained on a part of the text (package sequential/combine has the
// same for the CPU).
//
//	words, contexts: (V, N) on each of R GPUs, N as Layout pads it    bases: (V/R, N), of the words w = rank mod R
//	for each row of this GPU's, of each table:
//		d_r = row on GPU r - base
//		c = the combination of d_r: the sum of part_r d_r, see combine.Parts
//		base += c, and on every GPU: row = base
//
// By the rule mean, a row becomes the mean of the rows, whatever the base is, so there are no bases: they are 0.
//
// Every row has one GPU that combines it. It reads the other GPUs' rows and writes them, over NVLink. What a row becomes
// follows from the rows alone.
//
// If the GPUs train meanwhile, c - d_r is added to row r instead: what has been added to it since it was read stays. So
// nobody waits for anybody: the kernel counts the sentences that its own GPU has taken, and combines again and again.
// GPUs of several processes send each other their rows instead (part.go): exchange_rows packs those of a range of words by the GPU
// that combines them, and puts back what they became.
// A warp combines a row: lane l has value l of each chunk.
#include <cuda_fp16.h>

#include "rows.cuh"

constexpr int mostDevices = 8;
constexpr float negligible = 1.0f / (1 << 21); // negligible of sequential/combine.go
constexpr float cancelled = 1.0f / (1 << 17);  // and cancelled

enum Rule { touched, adasum, mean, plainSum }; // in the order of sequential.Rules

struct CombineArgs {
	void *tables[2][mostDevices]; // W and C of all GPUs
	float *bases[2];              // (words of this GPU, N); null: rows become their mean
	const volatile uint32_t *next; // sentences that this GPU has taken; null: nobody trains
	const uint2 *passes;          // {sentences to wait for, most frequent words to combine}, in order
	uint32_t count;               // of passes
	uint32_t rank, vocabulary, successor;
	uint32_t width;  // N
	uint32_t rule;
	uint32_t half;   // tables in float16: 1 is W, 2 is C
	uint32_t of;     // R
	uint32_t packed; // tables are (words of this GPU, N) of each GPU
	uint32_t all;    // sentences of this stretch on this GPU, if all rows are combined after it; else 0
};

// Of words 0 ... n-1 this GPU has those of its rank, modulo R.
template <int R> __device__ __forceinline__ uint32_t mine(const CombineArgs &a, uint32_t n) { return n > a.rank ? (n - a.rank + R - 1) / R : 0; }

__device__ __forceinline__ uint32_t number(const CombineArgs &a, uint64_t word) { return word * a.successor % a.vocabulary; }

__device__ __forceinline__ float loadValue(const void *table, size_t at, bool half) {
	if (half) {
		unsigned short x;
		asm volatile("ld.relaxed.sys.global.u16 %0, [%1];" : "=h"(x) : "l"(__cvta_generic_to_global(static_cast<const __half *>(table) + at)));
		return __half2float(__ushort_as_half(x));
	}
	float x;
	asm volatile("ld.relaxed.sys.global.f32 %0, [%1];" : "=f"(x) : "l"(__cvta_generic_to_global(static_cast<const float *>(table) + at)));
	return x;
}

__device__ __forceinline__ void storeValue(void *table, size_t at, bool half, float x) {
	if (half)
		static_cast<__half *>(table)[at] = __float2half_rn(x);
	else
		static_cast<float *>(table)[at] = x;
}

__device__ __forceinline__ bool isHalf(uint32_t half, int table) { return half >> table & 1; }

// dithered rounds to float16, up or down at random, as Dither does: the mean of two rows is often in the middle between two numbers, and
// rounded to the even one rows would stay there. The random number follows from what is rounded.
__device__ __forceinline__ float dithered(float x, size_t place) {
	uint32_t random = (__float_as_uint(x) ^ uint32_t(place)) * 0x9e3779b1u;
	random = (random ^ random >> 15) * 0x85ebca77u;
	return __half2float(__float2half_rz(__uint_as_float(__float_as_uint(x) + (random >> 19))));
}

// Dots are the dot products of R changes, of p and q at at(p, q).
template <int R> struct Dots {
	static constexpr int count = R * (R + 1) / 2;
	float x[count];
	__device__ __forceinline__ static constexpr int at(int p, int q) { return p < q ? at(q, p) : p * (p + 1) / 2 + q; }
};

// parts is combine.Parts.
template <int R> __device__ __forceinline__ void parts(float (&part)[R], const Dots<R> &dots, float norm, uint32_t rule) {
	int changed = 0;
#pragma unroll
	for (int r = 0; r < R; r++) {
		bool is = dots.x[dots.at(r, r)] > negligible * negligible * norm;
		part[r] = is;
		changed += is;
	}
	if (rule == touched || rule == mean) {
		float same = 1.0f / (rule == mean ? R : max(changed, 1));
#pragma unroll
		for (int r = 0; r < R; r++) part[r] = rule == mean ? same : part[r] * same;
	}
	if (rule != adasum) return;
#pragma unroll
	for (int size = 1; size < R; size *= 2)
#pragma unroll
		for (int first = 0; first < R; first += 2 * size) {
			float both = 0, left = 0, right = 0, leftParts = 0, rightParts = 0;
#pragma unroll
			for (int p = 0; p < size; p++)
#pragma unroll
				for (int q = 0; q < size; q++) {
					int a = first + p, b = first + q, c = first + size + p, d = first + size + q;
					both = fmaf(part[a] * part[d], dots.x[dots.at(a, d)], both);
					left = fmaf(part[a] * part[b], dots.x[dots.at(a, b)], left);
					right = fmaf(part[c] * part[d], dots.x[dots.at(c, d)], right);
				}
#pragma unroll
			for (int p = 0; p < size; p++) {
				int a = first + p, c = first + size + p;
				leftParts = fmaf(part[a] * part[a], dots.x[dots.at(a, a)], leftParts);
				rightParts = fmaf(part[c] * part[c], dots.x[dots.at(c, c)], rightParts);
			}
			float ofLeft = left > cancelled * leftParts ? 1 - both / (2 * left) : 1, ofRight = right > cancelled * rightParts ? 1 - both / (2 * right) : 1;
#pragma unroll
			for (int p = 0; p < size; p++) part[first + p] *= ofLeft, part[first + size + p] *= ofRight;
		}
}

// combineRow combines the row of this GPU's word number j in a table. changes is this lane's part of shared memory: (R + 1,
// chunks), every 32nd value.
template <int R> __device__ __forceinline__ void combineRow(const CombineArgs &a, int table, uint32_t j, float *changes) {
	constexpr int together = R == 2 ? 4 : 2; // chunks that are asked for at a time
	bool half = isHalf(a.half, table), based = a.bases[table], differ = false;
	uint32_t row = number(a, a.rank + uint64_t(R) * j), chunks = a.width / 32;
	float *base = a.bases[table] + size_t(j) * a.width + laneNumber();
	size_t at = size_t(a.packed ? j : row) * a.width + laneNumber();
	Dots<R> dots = {};
	float norm = 0;
	for (uint32_t c0 = 0; c0 < chunks; c0 += together) {
		float x[together][R], b[together];
#pragma unroll
		for (int i = 0; i < together; i++)
			if (c0 + i < chunks) {
				b[i] = based ? base[(c0 + i) * 32] : 0;
#pragma unroll
				for (int r = 0; r < R; r++) x[i][r] = loadValue(a.tables[table][r], at + (c0 + i) * 32, half);
			}
#pragma unroll
		for (int i = 0; i < together; i++)
			if (c0 + i < chunks) {
				float from = half ? __half2float(__float2half_rn(b[i])) : b[i];
				norm = fmaf(b[i], b[i], norm);
				changes[(R * chunks + c0 + i) * 32] = b[i];
#pragma unroll
				for (int p = 0; p < R; p++) {
					x[i][p] -= from;
					differ |= x[i][p] != x[i][0];
					changes[(p * chunks + c0 + i) * 32] = x[i][p];
#pragma unroll
					for (int q = 0; q <= p; q++) dots.x[dots.at(p, q)] = fmaf(x[i][p], x[i][q], dots.x[dots.at(p, q)]);
				}
			}
	}
	bool any = false;
#pragma unroll
	for (int i = 0; i < dots.count; i++) dots.x[i] = sum(dots.x[i]);
#pragma unroll
	for (int r = 0; r < R; r++) any |= dots.x[dots.at(r, r)] > 0;
	if (!(based ? any : __any_sync(warp, differ))) return;
	float part[R];
	parts<R>(part, dots, sum(norm), a.rule);
#pragma unroll 2
	for (uint32_t c = 0; c < chunks; c++) {
		float together = 0;
#pragma unroll
		for (int r = 0; r < R; r++) together = fmaf(part[r], changes[(r * chunks + c) * 32], together);
		float now = changes[(R * chunks + c) * 32] + together;
		if (based)
			base[c * 32] = now;
		else if (half)
			now = dithered(now, at + c * 32);
#pragma unroll
		for (int r = 0; r < R; r++) {
			if (!a.next)
				storeValue(a.tables[table][r], at + c * 32, half, now);
			else // L2 of that GPU does it, beside the additions of its own warps
				asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(static_cast<float *>(a.tables[table][r]) + at + c * 32)), "f"(together - changes[(r * chunks + c) * 32]));
		}
	}
}

extern __shared__ float rowsOfWarps[]; // (warps, R + 1, chunks, 32)

template <int R> __device__ __forceinline__ void combine(const CombineArgs &a) {
	float *changes = rowsOfWarps + size_t(threadIdx.x / 32) * (R + 1) * a.width + laneNumber();
	uint32_t warps = gridDim.x * blockDim.x / 32, first = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
#pragma unroll 1
	for (uint32_t p = 0; p < a.count; p++) {
		uint2 pass = a.passes[p];
		if (a.next) {
			while (*a.next < pass.x) __nanosleep(2000);
			while (p + 1 < a.count && *a.next >= a.passes[p + 1].x) pass.y = max(pass.y, a.passes[++p].y); // it is late
			__syncwarp();
			p = __shfl_sync(warp, p, 0);
			pass.y = __shfl_sync(warp, pass.y, 0);
		}
#pragma unroll 1
		for (uint32_t i = first, n = 0; i < 2 * mine<R>(a, pass.y); i += warps, n++) {
			if (a.all && n % 8 == 0 && uniform(*a.next) >= a.all) return; // all rows are combined after the last sentence anyway
			combineRow<R>(a, i & 1, i / 2, changes);
		}
	}
}

// Blocks are a warp: they find places beside those that train.
#define COMBINE(R) \
	extern "C" __global__ void __launch_bounds__(32, 24) combine_##R(const __grid_constant__ CombineArgs a) { combine<R>(a); }
COMBINE(2)
COMBINE(4)
COMBINE(8)

// combine_begin takes this GPU's tables as bases.
extern "C" __global__ void combine_begin(const __grid_constant__ CombineArgs a) {
	uint32_t R = a.of;
	uint32_t words = (a.vocabulary - a.rank + R - 1) / R;
	size_t values = size_t(words) * a.width;
	for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < 2 * values; i += size_t(gridDim.x) * blockDim.x) {
		int table = i >= values;
		size_t n = i - table * values;
		size_t row = number(a, a.rank + uint64_t(R) * (n / a.width));
		a.bases[table][n] = loadValue(a.tables[table][a.rank], row * a.width + n % a.width, isHalf(a.half, table));
	}
}

struct ExchangeArgs {
	void *tables[2], *packed[2];  // W and C: (V, N), (R, rows, N)
	uint32_t first, words;        // a range of words; first is a multiple of R
	uint32_t rows;                // of each of R GPUs in packed: words / R, rounded up
	uint32_t vocabulary, successor;
	uint32_t width, half; // as of CombineArgs
	uint32_t of;          // R
	uint32_t back;        // from packed to tables
};

template <class T> __device__ __forceinline__ void exchange(const ExchangeArgs &a, int table) {
	T *rows = static_cast<T *>(a.tables[table]), *packed = static_cast<T *>(a.packed[table]);
	size_t width = a.width, values = a.words * width;
	for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < values; i += size_t(gridDim.x) * blockDim.x) {
		uint32_t word = i / width;
		size_t number = uint64_t(a.first + word) * a.successor % a.vocabulary;
		T &row = rows[number * width + i % width];
		T &place = packed[(size_t(word % a.of) * a.rows + word / a.of) * width + i % width];
		if (a.back)
			row = place;
		else
			place = row;
	}
}

// exchange_rows packs rows of W and C for the GPUs that combine them, or puts them back.
extern "C" __global__ void exchange_rows(const __grid_constant__ ExchangeArgs a) {
	for (int table = 0; table < 2; table++)
		if (isHalf(a.half, table))
			exchange<__half>(a, table);
		else
			exchange<float>(a, table);
}
