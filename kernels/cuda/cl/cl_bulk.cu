// A step of W2V-CL as in cl.cu, for Hopper: the bulk copy engine brings the rows that a
// warp needs into shared memory. It keeps far more of them on their way than registers
// could.
//
// A warp's stage holds the rows for one update: a row of left and 1+K rows of right, or,
// if the targets are more than eight, a part of these at a time. When the warp has read
// the stage and updates its row, the engine fills the stage for the next row; other warps
// work meanwhile. More stages than one a warp, and warps that only ask, were not faster.
// The numbers of the targets, a lane each, are drawn a row earlier still. Moments go
// straight into registers; they are needed last.
//
// The multiprocessors share L2 and memory, and these limit the kernel: besides the 6 V N
// values of cl.cu the 1+K rows of right come that way. See docs/cuda-roofline.md.
#include "cl.cuh"

#if __CUDA_ARCH__ >= 900

constexpr int targetsOfPart = 8, mostTargets = 32; // at most
constexpr int lanesOfTarget = 32 / targetsOfPart;   // that get its score
constexpr int barrierQuads = 16;                   // in front of the stages: 8 bytes a warp

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

template <int F> struct Stage {
	float4 *rows; // (targets of a part + 1, 32 F), of this warp; the last row is of left
	uint32_t barrier;

	__device__ __forceinline__ Row<F> load(int row) const {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = rows[(row * F + f) * 32 + laneNumber()];
		return r;
	}
};

template <int F, bool inParts, Method method> __device__ __forceinline__ void train(const ClLaunch &a) {
	extern __shared__ float4 memory[];
	startNext();
	const ClTable &t = a.table;
	ClStep s = *a.step;
	int l = laneNumber(), width = 1 + t.negatives, warpOfBlock = threadIdx.x / 32, warpsOfBlock = blockDim.x / 32;
	int parts = inParts ? (width + targetsOfPart - 1) / targetsOfPart : 1, most = (width + parts - 1) / parts; // targets of a part
	uint32_t first = blockIdx.x * warpsOfBlock + warpOfBlock, stride = gridDim.x * warpsOfBlock;
	int stageQuads = (most + 1) * 32 * F;
	Stage<F> stage = {memory + barrierQuads + warpOfBlock * stageQuads, sharedAddress(memory) + 8 * warpOfBlock};
	for (int n = l; n < stageQuads; n += 32) stage.rows[n] = make_float4(0, 0, 0, 0); // behind the rows this stays
	if (l == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(stage.barrier) : "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncwarp();

	uint64_t stays = keepInL2(), goes = leaveL2();
	uint32_t targets, bytes = 16 * t.quads;
	// ask makes the engine fetch the rows for a part of row i.
	auto ask = [&](uint32_t i, int part) {
		if (i >= t.rows) return;
		int wanted = min(most, width - part * most);
		bool withLeft = part == 0;
		uint32_t target = part == 0 ? targets : __shfl_sync(warp, targets, (part * most + l) % mostTargets);
		if (target == noContext) target = 0; // of no effect
		if (l == 0) expectBytes(stage.barrier, (wanted + withLeft) * bytes);
		__syncwarp();
		if (l < wanted || (l == most && withLeft)) {
			const float4 *from = l < wanted ? t.right + size_t(target) * t.quads : t.left + size_t(i) * t.quads;
			copyBulk(sharedAddress(stage.rows + l * 32 * F), from, bytes, stage.barrier, l < wanted ? stays : goes);
		}
	};
	Targets<1> draw(mostTargets, mostTargets);
	draw.begin(t, s, a.column, 0, first, stride);
	targets = draw.end();
	awaitPrevious();
	ask(first, 0);
	draw.begin(t, s, a.column, 1, first, stride);

	float loss = 0;
	uint32_t phase = 0, round = 1;
	for (uint32_t i = first; i < t.rows; i += stride) {
		size_t at = size_t(i) * t.quads;
		Row<F> w, m, v, g = zeros<F>();
		if constexpr (hasFirst(method)) m = loadStream<F>(t.first + at, t.quads);
		if constexpr (hasSecond(method)) v = loadStream<F>(t.second + at, t.quads);
		bool idle = __shfl_sync(warp, targets, 0) == noContext;
		for (int part = 0; part < parts; part++) {
			wait(stage.barrier, phase);
			phase ^= 1;
			if (part == 0) w = stage.load(most);
			int wanted = min(most, width - part * most);
			float x[targetsOfPart];
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++) x[k] = k < wanted ? partial(w, stage.load(k)) : 0;
			treeSums<32>(x);
			float score = x[0];
			int k = l / lanesOfTarget;
			bool positive = part + k == 0, mine = k < wanted && !idle;
			Logistic y = fastLogistic(positive ? -score : score); // to the loss, a positive is a negative of opposite score
			float c = !mine ? 0 : positive ? -y.sigmoid : y.sigmoid;
			if (mine && l % lanesOfTarget == 0) loss += __logf(y.factor);
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++)
				if (k < wanted) add(g, __shfl_sync(warp, c, k * lanesOfTarget), stage.load(k));
			__syncwarp();
			if (part + 1 < parts) ask(i, part + 1);
		}
		targets = draw.end();
		ask(i + stride, 0);
		draw.begin(t, s, a.column, ++round, first, stride);
		optimize<F, method>(t, s, i, w, m, v, g);
		if constexpr (hasFirst(method)) storeStream(t.first + at, t.quads, m);
		if constexpr (hasSecond(method)) storeStream(t.second + at, t.quads, v);
		store(t.left + at, t.quads, w);
	}
	loss = sum(loss);
	if (l == 0) a.losses[first] = loss;
}

#define CL(F, warps, method, name, inParts) \
	extern "C" __global__ void __launch_bounds__(32 * warps, 1) cl_bulk_##name##method##_##F(const __grid_constant__ ClLaunch a) { \
		train<F, inParts, method>(a); \
	}
#else // they are not launched there
#define CL(F, warps, method, name, inParts) \
	extern "C" __global__ void cl_bulk_##name##method##_##F(const __grid_constant__ ClLaunch a) {}
#endif
#define CL_METHODS(F, warps, name, inParts) CL(F, warps, adam, name, inParts) CL(F, warps, adamRow, name, inParts) CL(F, warps, sgd, name, inParts) CL(F, warps, scaled, name, inParts)

// For N up to 128 F, and K up to 7.
CL_METHODS(1, 32, , false)
CL_METHODS(2, 16, , false)
CL_METHODS(3, 16, , false)
CL_METHODS(4, 12, , false)
CL_METHODS(8, 8, , false)

// For K up to 31.
CL_METHODS(1, 32, parts_, true)
CL_METHODS(2, 16, parts_, true)
CL_METHODS(3, 16, parts_, true)
CL_METHODS(4, 12, parts_, true)
CL_METHODS(8, 8, parts_, true)
