// A step of W2V-CL as cl.cu has it, for Hopper and K up to 7: the rows that a row
// needs are copied into shared memory by the bulk copy engine, which keeps far more
// of them on their way than registers could.
//
// A warp's stage holds what one row needs: 1+K rows of right and the row of left.
// When the warp has read it, and updates its row, the engine fills it for the next;
// other warps work meanwhile. More stages than one a warp made it slower. The numbers
// of the targets are drawn four rows at a time, four rows earlier still. Moments go
// straight into registers; they are needed last.
//
// What limits it is the way from L2 to the multiprocessors: besides the 6 V N values
// of cl.cu the 1+K rows of right come that way.
#include "cl.cuh"

#if __CUDA_ARCH__ >= 900

constexpr int targetsOfRow = 8; // lanes

__device__ __forceinline__ uint32_t sharedAddress(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ uint64_t keepInL2() {
	uint64_t policy;
	asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
	return policy;
}

__device__ __forceinline__ uint64_t leaveL2() {
	uint64_t policy;
	asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
	return policy;
}

__device__ __forceinline__ void copyBulk(uint32_t to, const float4 *from, uint32_t bytes, uint32_t barrier, uint64_t policy) {
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
		"r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "l"(policy) : "memory");
}

__device__ __forceinline__ void expectBytes(uint32_t barrier, uint32_t bytes) {
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait(uint32_t barrier, uint32_t phase) {
	asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::
		"r"(barrier), "r"(phase) : "memory");
}

template <int F> __device__ __forceinline__ Row<F> loadStream(const float4 *row, int quads) {
	Row<F> r = zeros<F>();
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) r.v[f] = __ldcs(row + i);
	return r;
}

template <int F> __device__ __forceinline__ void storeStream(float4 *row, int quads, const Row<F> &r) {
#pragma unroll
	for (int f = 0; f < F; f++)
		if (int i = laneNumber() + 32 * f; i < quads) __stcs(row + i, r.v[f]);
}

// Targets are the targets of four rows of a warp, lane l target l % 8 of row l / 8
// of them, drawn in two halves as in fullw2v.cu.
struct Targets {
	uint32_t positive, column, low;
	uint2 alias;

	__device__ __forceinline__ void begin(const ClTable &t, const ClStep &s, const uint32_t *positives, size_t i) {
		int k = laneNumber() % targetsOfRow;
		positive = column = low = 0;
		alias = make_uint2(0, 0);
		if (i >= t.rows || k > t.negatives) return;
		if (k == 0) {
			positive = positives[i];
			return;
		}
		uint32_t bits = word(t.seed, streamNegatives, s.stream, i * t.negatives + k - 1);
		column = __umulhi(bits, t.rows);
		low = bits * t.rows;
		alias = __ldg(&t.alias[column]);
	}

	__device__ __forceinline__ uint32_t end() const {
		if (laneNumber() % targetsOfRow == 0) return positive;
		return low < alias.x ? column : alias.y;
	}
};

template <int F> struct Stage {
	float4 *rows; // (1+K+1, 32 F), of this warp
	uint32_t barrier;

	__device__ __forceinline__ Row<F> load(int row) const {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = rows[(row * F + f) * 32 + laneNumber()];
		return r;
	}
};

template <int F, Method method>
__device__ __forceinline__ void train(const ClTable &t, const ClStep &s, const uint32_t *positives, float *losses) {
	extern __shared__ float4 memory[];
	int l = laneNumber(), width = 1 + t.negatives, warpOfBlock = threadIdx.x / 32, warpsOfBlock = blockDim.x / 32;
	size_t first = size_t(blockIdx.x) * warpsOfBlock + warpOfBlock, stride = size_t(gridDim.x) * warpsOfBlock;
	int stageQuads = (width + 1) * 32 * F;
	Stage<F> stage = {memory + (warpsOfBlock + 1) / 2 + warpOfBlock * stageQuads, sharedAddress(memory) + 8 * warpOfBlock};
	for (int i = l; i < stageQuads; i += 32) stage.rows[i] = make_float4(0, 0, 0, 0); // what is behind the rows stays so
	if (l == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(stage.barrier) : "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncwarp();

	uint64_t stays = keepInL2(), goes = leaveL2();
	Targets draw;
	uint32_t targets = 0;
	draw.begin(t, s, positives, first + l / targetsOfRow * stride);
	// ask makes the engine fetch what row number r of this warp needs.
	auto ask = [&](int r) {
		if (r % 4 == 0) {
			targets = draw.end();
			draw.begin(t, s, positives, first + (r + 4 + l / targetsOfRow) * stride);
		}
		uint32_t target = __shfl_sync(warp, targets, r % 4 * targetsOfRow + l % targetsOfRow);
		if (target == noContext) target = 0; // of no effect
		size_t i = first + r * stride;
		if (i >= t.rows) return;
		uint32_t bytes = 16 * t.quads;
		if (l == 0) expectBytes(stage.barrier, (width + 1) * bytes);
		__syncwarp();
		if (l <= width) {
			const float4 *from = l < width ? t.right + size_t(target) * t.quads : t.left + i * t.quads;
			copyBulk(sharedAddress(stage.rows + l * 32 * F), from, bytes, stage.barrier, l < width ? stays : goes);
		}
	};
	ask(0);

	float loss = 0;
	int r = 0;
	for (size_t i = first; i < t.rows; i += stride, r++) {
		Row<F> m, v;
		if constexpr (method != sgd) m = loadStream<F>(t.first + i * t.quads, t.quads);
		if constexpr (method == adam) v = loadStream<F>(t.second + i * t.quads, t.quads);
		wait(stage.barrier, r & 1);
		Row<F> w = stage.load(width), g = zeros<F>();
		float x[targetsOfRow];
#pragma unroll
		for (int k = 0; k < targetsOfRow; k++) x[k] = k < width ? partial(w, stage.load(k)) : 0;
		float score = sums<targetsOfRow>(x);
		int k = l % targetsOfRow;
		Logistic y = logistic(k == 0 ? -score : score); // to the loss, a positive is a negative of opposite score
		bool idle = __shfl_sync(warp, targets, r % 4 * targetsOfRow) == noContext;
		float c = idle ? 0 : k == 0 ? -y.sigmoid : y.sigmoid;
		if (l < width && !idle) loss += logf(y.factor);
#pragma unroll
		for (int k = 0; k < targetsOfRow; k++)
			if (k < width) add(g, __shfl_sync(warp, c, k), stage.load(k));
		__syncwarp();
		ask(r + 1);
		optimize<F, method>(t, s, i, w, m, v, g);
		if constexpr (method != sgd) storeStream(t.first + i * t.quads, t.quads, m);
		if constexpr (method == adam) storeStream(t.second + i * t.quads, t.quads, v);
		store(t.left + i * t.quads, t.quads, w);
	}
	loss = sum(loss);
	if (l == 0) losses[first] = loss;
}

#endif

// losses: (warps)
#if __CUDA_ARCH__ >= 900
#define CL(F, warps, method) \
	extern "C" __global__ void __launch_bounds__(32 * warps, 1) cl_bulk_##method##_##F( \
		const ClTable *t, const ClStep *s, const uint32_t *column, float *losses) { \
		train<F, method>(*t, *s, column, losses); \
	}
#else // they are not launched there
#define CL(F, warps, method) \
	extern "C" __global__ void cl_bulk_##method##_##F(const ClTable *, const ClStep *, const uint32_t *, float *) {}
#endif
#define CL_METHODS(F, warps) CL(F, warps, adam) CL(F, warps, adamRow) CL(F, warps, sgd)

// For N up to 128 F.
CL_METHODS(1, 32)
CL_METHODS(2, 16)
CL_METHODS(3, 16)
CL_METHODS(4, 16)
CL_METHODS(8, 8)
