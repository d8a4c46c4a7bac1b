// The jobs of a step's warps, from shares.cu or for CBOW from stretch_jobs: see tiles.go.
#pragma once
#include "methods.cuh"

// none is the number of no row.
constexpr uint32_t none = 0xffffffffu;

// A Job is what a warp has to do in a tile: a piece of a row's samples. Piece 0 owns the row. job of shares.go
// is the same.
struct alignas(16) Job {
	uint32_t row;     // or none
	uint32_t slot;    // of the piece's first sample
	uint32_t count;   // of the piece's samples
	uint32_t samples; // of the row
	float scale;      // by which Adam's bias correction changes the learning rate,
	float epsilon;    // and epsilon
	uint32_t piece, pieces;
};

// jobOf returns the job of a row, or none, whose samples begin at a slot and which is updated for the time number updates. of has
// its piece and 2^16 pieces.
__device__ __forceinline__ Job jobOf(const Rule &rule, uint32_t row, uint32_t slot, uint32_t samples, float updates, uint32_t of) {
	uint32_t piece = of & 0xffff, pieces = of >> 16, each = (samples + pieces - 1) / pieces, first = min(piece * each, samples);
	float2 c = corrections(rule, updates);
	return {row, slot + first, min(each, samples - first), samples, c.x, c.y, piece, pieces};
}
