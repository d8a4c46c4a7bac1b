// How parts of rows come to the lanes that train them, and what GPUs tell each other of them: see columns.cu.
#pragma once
#include "cl.cuh"
#include "meet.cuh"

#ifndef ONLY_SENDS
#define ONLY_SENDS false
#endif

constexpr int targetsOfPart = 8; // as in shape.go
[[maybe_unused]] constexpr int fewTargets = 6; // of a row: with five negatives

// columnsArgs of columns.go is the same.
struct ColumnsLaunch {
	Table left;                     // quads: of a row on this GPU, columns: of all GPUs
	const float4 *right;            // (rows, quads), frozen
	const uint2 *alias;             // (rows)
	uint64_t seed;
	const StepNumbers *step;
	const uint32_t *samples;        // (rows)
	Loss *loss;
	const uint32_t *before;         // steps before the series, and one
	uint32_t number;                // of this step in the series
	uint32_t negatives;             // K
	uint32_t messages;              // of a row: one for each target
	uint32_t hot;                   // so many rows of right stay in shared memory
	const uint2 *inbox[mostOthers]; // (2, warps, GPUs, messages) of {number, tag}: of GPU g ^ (i + 1)
	uint2 *outbox[mostOthers];      // the place for this GPU's in the inbox of that one
	uint32_t *lost[mostOthers + 1]; // set where a wait was given up: this GPU's, and those of GPU g ^ i
	uint64_t patience;              // nanoseconds
	uint32_t *told;                 // how often warps told that they have only the last round of a step left, since the beginning
	uint32_t byRows;                // inboxes are (rows, messages): GPUs of several processes
	uint32_t unused;
};

template <int gpus> struct Exchange {
	const ColumnsLaunch &a;
	uint32_t tag; // of the group of rows
	bool lost;    // some wait was given up: no other waits

	__device__ __forceinline__ Exchange(const ColumnsLaunch &a) : a(a), tag(0), lost(gpus > 1 && *(volatile uint32_t *)a.lost[0]) {}

	__device__ __forceinline__ void send(size_t at, float x) const {
#pragma unroll
		for (int i = 0; i < (ONLY_SENDS ? 1 : gpus - 1); i++)
			asm volatile("st.relaxed.sys.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(a.outbox[i] + at)), "r"(__float_as_uint(x)), "r"(tag) : "memory");
	}

	// receive adds to x the numbers of the other GPUs.
	__device__ __forceinline__ float receive(size_t at, float x) {
		float p[gpus];
		uint64_t until = 0;
		for (uint32_t tries = 1;; tries++) {
			bool all = true;
#pragma unroll
			for (int i = 0; i < gpus - 1; i++) {
				uint32_t value, step;
				asm volatile("ld.relaxed.sys.global.v2.u32 {%0, %1}, [%2];" : "=r"(value), "=r"(step) : "l"(__cvta_generic_to_global(a.inbox[i] + at)) : "memory");
				p[i + 1] = __uint_as_float(value);
				all = all && step == tag;
			}
			if (all || lost) break;
			if (tries % 1024 == 0) lost = late(a, gpus, until);
		}
		p[0] = x;
#pragma unroll
		for (int d = gpus / 2; d; d /= 2)
#pragma unroll
			for (int i = 0; i < d; i++) p[i] += p[i + d];
		return p[0];
	}
};

constexpr int barrierQuads = 16; // in front of the stages: 8 bytes a warp

// A Stage is the shared memory of a warp for rows that are on their way: each takes F quads of L lanes.
template <int L, int F> struct Stage {
	float4 *shared;
	uint32_t start, barrier, phase;

	__device__ __forceinline__ Stage(float4 *shared, uint32_t rows) : shared(shared), start(barrierQuads + threadIdx.x / 32 * rows * L * F),
		  barrier(address(shared) + threadIdx.x / 32 * 8), phase(0) {
		for (uint32_t n = laneNumber(); n < rows * L * F; n += 32) shared[start + n] = make_float4(0, 0, 0, 0); // behind the rows this stays
#if __CUDA_ARCH__ >= 900
		if (laneNumber() == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
		__syncwarp();
	}

	__device__ __forceinline__ static uint32_t address(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

	// place is where a row begins in shared memory, in quads.
	__device__ __forceinline__ uint32_t place(uint32_t number) const { return start + number * L * F; }

	__device__ __forceinline__ Row<F> row(uint32_t place) const {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = shared[place + f * L + laneNumber() % L];
		return r;
	}

	// bring starts to bring the first rows of a table, for all warps of the block. brought waits for them.
	__device__ __forceinline__ void bring(uint32_t place, const float4 *table, uint32_t rows, uint32_t quads) const {
		float4 *to = shared + place;
		for (uint32_t n = threadIdx.x; n < rows * L * F; n += blockDim.x) {
			uint32_t row = n / (L * F), q = n % (L * F);
			if (q < quads) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(to + n)), "l"(__cvta_generic_to_global(table + row * quads + q)) : "memory");
			else to[n] = make_float4(0, 0, 0, 0);
		}
	}
	__device__ __forceinline__ static void brought() {
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncthreads();
	}

#if __CUDA_ARCH__ >= 900
	// expect is called by all lanes before any copies; then a lane copies whole rows.
	__device__ __forceinline__ void expect(uint32_t bytes) const {
		if (laneNumber() == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
		__syncwarp();
	}
	__device__ __forceinline__ void copy(uint32_t number, const float4 *from, uint32_t quads, uint64_t policy) const {
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
			"r"(address(shared + place(number))), "l"(__cvta_generic_to_global(from)), "r"(16 * quads), "r"(barrier), "l"(policy) : "memory");
	}
	__device__ __forceinline__ void arrived() {
		asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(barrier), "r"(phase) : "memory");
		phase ^= 1;
	}
#else
	__device__ __forceinline__ void expect(uint32_t) const {}
	__device__ __forceinline__ void copy(uint32_t number, const float4 *from, uint32_t quads, uint64_t) const {
		for (uint32_t i = 0; i < quads; i++)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(shared + place(number) + i)), "l"(__cvta_generic_to_global(from + i)) : "memory");
	}
	__device__ __forceinline__ void arrived() {
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncwarp();
	}
#endif
};
