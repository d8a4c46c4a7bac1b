// A step of W2V-CL as in cl_split.cu, for rows of up to 128 values with up to five negatives.
//
// A GPU has few values of such a row, so instructions and waiting count as much as bytes. A group of rows is trained without
// branches but for the wait, and while it waits the rows of the next group are on their way to shared memory: through L1,
// which keeps those of right that are asked for most. The targets of the group after that are drawn meanwhile, too. Rows that are
// being trained are in registers.
//
// Virtual lanes, sums, tags and inboxes are those of cl_split.cu; a lane has one quad of a row.
#include "split.cuh"

__device__ __forceinline__ uint32_t address(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

// bring starts to copy a quad to shared memory, or zeros if not wanted.
__device__ __forceinline__ void bring(float4 *to, const float4 *from, bool wanted) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address(to)), "l"(__cvta_generic_to_global(from)), "r"(wanted ? 16 : 0) : "memory");
}

__device__ __forceinline__ void awaitBrought() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// take reads a quad of shared memory. The compiler would read it where it is needed, again and again.
__device__ __forceinline__ Row<1> take(const float4 *from) {
	Row<1> r;
	asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(r.v[0].x), "=f"(r.v[0].y), "=f"(r.v[0].z), "=f"(r.v[0].w) : "r"(address(from)) : "memory");
	return r;
}

// get starts to load a quad that is needed once, or zeros if not wanted: L1 is left to others. A condition around it would make
// the compiler wait for the value.
__device__ __forceinline__ Row<1> get(const float4 *from, bool wanted) {
	Row<1> r;
	asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n"
		"mov.f32 %0, 0f00000000;\nmov.f32 %1, 0f00000000;\nmov.f32 %2, 0f00000000;\nmov.f32 %3, 0f00000000;\n"
		"@p ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
		: "=&f"(r.v[0].x), "=&f"(r.v[0].y), "=&f"(r.v[0].z), "=&f"(r.v[0].w)
		: "l"(__cvta_generic_to_global(from)), "r"(uint32_t(wanted)) : "memory");
	return r;
}

// put stores a quad if wanted.
__device__ __forceinline__ void put(float4 *to, const Row<1> &r, bool wanted) {
	asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p st.global.v4.f32 [%0], {%1, %2, %3, %4};\n}" ::
		"l"(__cvta_generic_to_global(to)), "f"(r.v[0].x), "f"(r.v[0].y), "f"(r.v[0].z), "f"(r.v[0].w), "r"(uint32_t(wanted)) : "memory");
}

// train trains groups of G rows. Numbers of a row's targets, scores and coefficients are with its lanes as in cl_split.cu.
template <int G, Method method> __device__ __forceinline__ void train(const ClSplit &a) {
	constexpr int L = 32 / G, held = L < targetsOfPart ? targetsOfPart / L : 1, copies = L > targetsOfPart ? L / targetsOfPart : 1;
	extern __shared__ float4 memory[]; // (warps, targets and left, lanes): a lane brings what it takes
	startNext();
	const ClTable &t = a.launch.table;
	const ClStep s = *a.launch.step;
	Exchange<G> exchange(a);
	const int l = laneNumber() % L, ofGroup = laneNumber() / L, warpsOfBlock = blockDim.x / 32;
	const uint32_t width = 1 + t.negatives, slot = l / copies * held; // number of this lane's first target
	const uint32_t first = blockIdx.x * warpsOfBlock + threadIdx.x / 32, stride = gridDim.x * warpsOfBlock, groups = (t.rows + G - 1) / G;
	const bool has = l < t.quads;
	float4 *stage = memory + threadIdx.x / 32 * (fewTargets + 1) * 32 + laneNumber();
	auto rowOf = [&](uint32_t group) { return min(min(group, groups - 1) * G + ofGroup, t.rows - 1); }; // behind the last row it again

	Draws<held> draws{};
	auto isIdle = [&] { return __shfl_sync(warp, draws.target[0], 0, L) == noContext; };
	auto ask = [&](uint32_t group) {
		const bool wanted = group < groups && has;
#pragma unroll
		for (int k = 0; k < fewTargets; k++) {
			uint32_t row = __shfl_sync(warp, draws.row(k % held), k / held * copies, L);
			bring(stage + 32 * k, t.right + size_t(row) * t.quads + l, wanted && k < width);
		}
		bring(stage + 32 * fewTargets, t.left + size_t(rowOf(group)) * t.quads + l, wanted);
	};

	draws.begin(a.launch, s, rowOf(first), slot);
	draws.end(t);
	awaitPrevious();
	ask(first);
	bool idle = isIdle();
	draws.begin(a.launch, s, rowOf(first + stride), slot);

	// Tags are those of all groups of all warps since the beginning, as if each warp had as many.
	const uint32_t step = *a.before + a.number;
	uint32_t inbox = first < groups ? step * ((groups - first + stride - 1) / stride) % 2 : 0; // that of this warp's next group
	exchange.tag = step * ((groups + stride - 1) / stride);

	float loss = 0;
	for (uint32_t group = first; group < groups; group += stride, exchange.tag++, inbox ^= 1) {
		const uint32_t i = rowOf(group), at = i * t.quads + l, messages = ((inbox * stride + first) * G + ofGroup) * a.messages;
		const bool live = group * G + ofGroup < t.rows;
		awaitBrought();
		Row<1> right[targetsOfPart];
		float x[targetsOfPart];
#pragma unroll
		for (int k = 0; k < fewTargets; k++) right[k] = take(stage + 32 * k);
		Row<1> w = take(stage + 32 * fewTargets), m, v, g = zeros<1>();
#pragma unroll
		for (int k = 0; k < targetsOfPart; k++) x[k] = k < fewTargets ? partial(w, right[k]) : 0;
		treeSums<L>(x);
		bool mine[held];
#pragma unroll
		for (int h = 0; h < held; h++) {
			mine[h] = slot + h < width && live && l % copies == 0;
			if (mine[h]) exchange.send(messages + slot + h, x[h]);
		}
		if constexpr (hasFirst(method)) m = get(t.first + at, has);
		if constexpr (hasSecond(method)) v = get(t.second + at, has);
		draws.end(t);
		ask(group + stride);
		const bool nextIdle = isIdle();
		draws.begin(a.launch, s, rowOf(group + 2 * stride), slot);
		float c[held];
#pragma unroll
		for (int h = 0; h < held; h++) {
			if (mine[h]) x[h] = exchange.receive(messages + slot + h, x[h]);
			const bool positive = slot + h == 0, counts = mine[h] && !idle;
			const Logistic y = logisticOf(positive ? -x[h] : x[h], fewTargets); // to the loss, a positive is a negative of opposite score
			const float lost = logarithmOf(y.factor, fewTargets);
			c[h] = !counts ? 0 : positive ? -y.sigmoid : y.sigmoid;
			loss += counts ? lost : 0;
		}
		__syncwarp();
		idle = nextIdle;
#pragma unroll
		for (int k = 0; k < fewTargets; k++) add(g, __shfl_sync(warp, c[k % held], k / held * copies, L), right[k]);
		PartOfRow<L> lanes = {exchange, messages + width, live};
		optimize<1, method>(t, s, i, w, m, v, g, lanes);
		if constexpr (hasFirst(method)) put(t.first + at, m, has && live);
		if constexpr (hasSecond(method)) put(t.second + at, v, has && live);
		put(t.left + at, w, has && live);
	}
	loss = sum(loss);
	if (laneNumber() == 0) a.launch.losses[first] = loss;
}

// CL is a kernel for G GPUs. A multiprocessor must have registers for two thread blocks of so many warps: split.go has them, too.
#define CL(G, method, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps, 2) cl_short_##method##_##G(const __grid_constant__ ClSplit a) { train<G, method>(a); }
#define CL_METHODS(G, warps) CL(G, adam, warps) CL(G, adamRow, warps) CL(G, sgd, warps) CL(G, scaled, warps)
CL_METHODS(2, 14)
CL_METHODS(4, 14)
CL_METHODS(8, 12)
