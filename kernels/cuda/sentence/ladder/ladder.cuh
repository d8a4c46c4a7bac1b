// What rungs share.
#pragma once
#include "../sentence.cuh"

// The rungs are for one shape.
constexpr int ladderDim = 128, ladderWidth = 6, ladderWarps = ladderDim / 32;

// RUNG defines the kernel of a rung for windows of radius H.
#define RUNG(kind, name, warps, H) \
	kind(ladder_##name##_##H, warps, Trained{sentence<H>(a, epoch, first, kept, n, rate), contexts(a, kept, n) * (1 + a.negatives)})

// The first two rungs have a thread block of N threads for a sentence like the published code, and
// thread i has value i of each row.

// at is where this thread's value of a row is.
__device__ __forceinline__ float *at(void *table, const Layout &l, uint32_t row) {
	return static_cast<float *>(table) + (size_t(row) * l.toNextRow + size_t(threadIdx.x / 32) * l.toNextChunk) * 4 + threadIdx.x % 32;
}
__device__ __forceinline__ float loadValue(void *table, const Layout &l, uint32_t row) { return __ldcg(at(table, l, row)); }
__device__ __forceinline__ void addValue(void *table, const Layout &l, uint32_t row, float x) {
	asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(at(table, l, row))), "f"(x) : "memory");
}

// meet trains a context word, whose row has value w in this thread, with all outputs r. It
// adds to the changes of the outputs, and returns the change of the word. The dots need a
// barrier of the thread block; round is even and odd in turn, for their parts are in one of
// two places.
__device__ __forceinline__ float meet(float w, float times, const float (&r)[ladderWidth], float (&added)[ladderWidth], float rate, int round, float &loss) {
	__shared__ float parts[2][ladderWarps][8];
	float x[8];
#pragma unroll
	for (int k = 0; k < 8; k++) x[k] = k < ladderWidth ? w * r[k < ladderWidth ? k : 0] : 0;
	float score = sums<8>(x);
	int k = laneNumber() % 8;
	if (laneNumber() < 8) parts[round % 2][threadIdx.x / 32][k] = score;
	__syncthreads();
	score = 0;
#pragma unroll
	for (int i = 0; i < ladderWarps; i++) score += parts[round % 2][i][k];
	float part = pair(score, k, ladderWidth, times, rate), gets = 0;
	if (threadIdx.x < 8) loss += part;
#pragma unroll
	for (int i = 0; i < ladderWidth; i++) {
		float g = __shfl_sync(warp, score, i);
		gets = fmaf(g, r[i], gets);
		added[i] = fmaf(g, w, added[i]);
	}
	return gets;
}
