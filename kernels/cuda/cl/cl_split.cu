// A step of W2V-CL as in cl.cu, on one of several GPUs that share the dimensions.
//
//	left: (V, N/G)  right: (V, N/G), frozen  column: (V)
//	for each row i:
//		targets t_0 = column[i], t_k = negative k of row i
//		store left_i . right_(t_k) of this GPU's dimensions into the other GPUs' memory
//		s_k = the sum of these over all GPUs
//		g and update as in cl.cu, of this GPU's dimensions
//
// A row has 32 virtual lanes on any number of GPUs: quad q is with lane q mod 32, and GPU g of G has the
// lanes g, g + G, ... (quads g, g + G, ...). A dot product is summed by butterflies over the virtual
// lanes, far apart first, and those between GPUs come last. So every GPU gets the same sum, and it
// does not depend on G: cl.cu and cl_bulk.cu, for G = 1, sum in this order.
//
// Here a row takes 32 / G lanes, and a warp has G rows side by side. It stores each number with the tag of
// the step, eight bytes that arrive together, and then waits until the other GPUs' numbers bear that tag.
// This needs no flag and no fence (NCCL's protocol LL). Two steps in turn use two inboxes: who stores for
// step s + 2 has got all of step s + 1, so its reader is done with step s.
//
// Rows wait in shared memory, as in cl_bulk.cu. Moments are asked for only when the numbers are on their way: what is asked for
// before delays these.
//
// The GPUs wait for each other, so all thread blocks of a launch must be resident, and all warps of all
// GPUs go through their rows in increasing order. A wait that takes too long is given up: see late.
#include "cl.cuh"
#include "meet.cuh"

constexpr int targetsOfPart = 8, mostPeers = mostOthers;
[[maybe_unused]] constexpr int mostTargets = 32; // of cl_bulk.cu
constexpr int barrierQuads = 16; // in front of the stages: 8 bytes a warp

struct ClSplit {
	ClLaunch launch;               // quads: of a row on this GPU, columns: of all GPUs
	const uint32_t *tag;           // of step 0 of the series
	uint32_t number;               // of this step in the series
	uint32_t messages;             // of a row: its targets, and for row-wise Adam one more
	const uint2 *inbox[mostPeers]; // (rows, messages) of {number, tag}: of GPU g ^ (i + 1)
	uint2 *outbox[mostPeers];      // the place for this GPU's in the inbox of that one
	uint32_t *lost[mostPeers + 1]; // set where a wait was given up: this GPU's, and those of GPU g ^ i
	uint64_t patience;             // nanoseconds
};

template <int L> struct Exchange {
	static constexpr int gpus = 32 / L;
	const ClSplit &a;
	uint32_t tag;
	bool lost; // some wait was given up: no other waits

	__device__ __forceinline__ Exchange(const ClSplit &a) : a(a), tag(*a.tag + a.number), lost(*(volatile uint32_t *)a.lost[0]) {}

	__device__ __forceinline__ void send(size_t at, float x) const {
#pragma unroll
		for (int i = 0; i < gpus - 1; i++)
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

// A PartOfRow is WholeRow for L lanes of this GPU and the others.
template <int L> struct PartOfRow {
	Exchange<L> &exchange;
	size_t at;
	bool live;

	__device__ __forceinline__ float sum(float x) const {
		x = ::sum<L>(x);
		if (laneNumber() % L == 0 && live) {
			exchange.send(at, x);
			x = exchange.receive(at, x);
		}
		return __shfl_sync(warp, x, 0, L);
	}
	__device__ __forceinline__ bool writes() const { return laneNumber() % L == 0 && live; }
};

// Stages are the shared memory of a warp for rows that are on their way: each of a stage takes F quads of L lanes.
template <int L, int F, int stages> struct Stages {
	float4 *memory;
	uint32_t rows, barriers, phases;

	__device__ __forceinline__ Stages(float4 *shared, uint32_t rows)
		: memory(shared + barrierQuads + threadIdx.x / 32 * stages * rows * L * F), rows(rows), barriers(address(shared) + threadIdx.x / 32 * stages * 8), phases(0) {
		for (uint32_t n = laneNumber(); n < stages * rows * L * F; n += 32) memory[n] = make_float4(0, 0, 0, 0); // behind the rows this stays
#if __CUDA_ARCH__ >= 900
		if (laneNumber() < stages) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + 8 * laneNumber()) : "memory");
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
		__syncwarp();
	}

	__device__ __forceinline__ static uint32_t address(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }
	__device__ __forceinline__ float4 *at(uint32_t stage, uint32_t number) const { return memory + (stage * rows + number) * L * F; }

	__device__ __forceinline__ Row<F> row(uint32_t stage, uint32_t number) const {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = at(stage, number)[f * L + laneNumber() % L];
		return r;
	}

#if __CUDA_ARCH__ >= 900
	// expect is called by all lanes before any copies; then a lane copies whole rows.
	__device__ __forceinline__ void expect(uint32_t stage, uint32_t bytes) const {
		if (laneNumber() == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barriers + 8 * stage), "r"(bytes) : "memory");
		__syncwarp();
	}
	__device__ __forceinline__ void copy(uint32_t stage, uint32_t number, const float4 *from, uint32_t quads, uint64_t policy) const {
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
			"r"(address(at(stage, number))), "l"(__cvta_generic_to_global(from)), "r"(16 * quads), "r"(barriers + 8 * stage), "l"(policy) : "memory");
	}
	__device__ __forceinline__ void arrived(uint32_t stage) {
		asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(barriers + 8 * stage), "r"(phases >> stage & 1) : "memory");
		phases ^= 1 << stage;
	}
#else
	__device__ __forceinline__ void expect(uint32_t, uint32_t) const {}
	__device__ __forceinline__ void copy(uint32_t stage, uint32_t number, const float4 *from, uint32_t quads, uint64_t) const {
		for (uint32_t i = 0; i < quads; i++)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(at(stage, number) + i)), "l"(__cvta_generic_to_global(from + i)) : "memory");
	}
	__device__ __forceinline__ void arrived(uint32_t) {
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncwarp();
	}
#endif
};

// Rows of right should stay in L2.
__device__ __forceinline__ uint64_t staysInL2() {
	uint64_t p = 0;
#if __CUDA_ARCH__ >= 900
	asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
#endif
	return p;
}
// The logistic function and the logarithm are those of the kernel for one GPU that has rows of so many targets.
__device__ __forceinline__ Logistic logisticOf(float score, uint32_t targets) {
#if __CUDA_ARCH__ >= 900
	if (targets <= mostTargets) return fastLogistic(score); // as cl_bulk.cu
#endif
	return logistic(score);
}

__device__ __forceinline__ float logarithmOf(float x, uint32_t targets) {
#if __CUDA_ARCH__ >= 900
	if (targets <= mostTargets) return __logf(x);
#endif
	return logf(x);
}

// train trains groups of G rows. Numbers of a row's targets, scores and coefficients are with its lanes as treeSums leaves
// them: lane l has those from number l / copies * held on, and copies lanes have the same.
//
// A unit is the targets of a part of a group, at most eight of each row. With two stages the numbers of a unit are on their
// way while the unit before it is trained.
template <int L, int F, Method method, int stages> __device__ __forceinline__ void train(const ClSplit &a) {
	constexpr int gpus = 32 / L, held = L < targetsOfPart ? targetsOfPart / L : 1, copies = L > targetsOfPart ? L / targetsOfPart : 1;
	constexpr bool ahead = stages > 1;
	extern __shared__ float4 memory[];
	startNext();
	const ClTable &t = a.launch.table;
	const ClStep s = *a.launch.step;
	Exchange<L> exchange(a);
	const int l = laneNumber() % L, ofWarp = laneNumber() / L, warpsOfBlock = blockDim.x / 32;
	const uint32_t width = 1 + t.negatives, parts = (width + targetsOfPart - 1) / targetsOfPart, most = (width + parts - 1) / parts; // targets of a part
	const uint32_t first = blockIdx.x * warpsOfBlock + threadIdx.x / 32, stride = gridDim.x * warpsOfBlock, groups = (t.rows + gpus - 1) / gpus;
	const uint64_t stays = staysInL2();
	auto rowOf = [&](uint32_t group) { return min(min(group, groups - 1) * gpus + ofWarp, t.rows - 1); }; // behind the last row it again
	auto load = [&](const float4 *table, uint32_t row) {
		const float4 *from = table + size_t(row) * t.quads + l;
		Row<F> r = zeros<F>();
#pragma unroll
		for (int f = 0; f < F; f++)
			if (l + L * f < t.quads) r.v[f] = __ldcs(from + L * f);
		return r;
	};

	struct Unit { uint32_t group, part; };
	auto after = [&](Unit u) {
		bool more = u.part + 1 < parts;
		return Unit{more ? u.group : u.group + stride, more ? u.part + 1 : 0};
	};
	auto targetsOf = [&](Unit u) { return min(most, width - u.part * most); };
	Stages<L, F, stages> stage(memory, gpus * most);
	auto placeOf = [&](uint32_t k) { return k * gpus + ofWarp; };

	const uint32_t slot = l / copies * held; // number of this lane's first target
	uint32_t target[held], column[held], low[held];
	uint2 alias[held];
	// begin asks for what the targets of a unit follow from, end knows them.
	auto begin = [&](Unit u) {
		uint32_t i = rowOf(u.group);
#pragma unroll
		for (int h = 0; h < held; h++) {
			uint32_t k = u.part * most + slot + h;
			column[h] = low[h] = 0;
			alias[h] = make_uint2(0, 0);
			if (k == 0) {
				alias[h].y = a.launch.column[i];
			} else if (slot + h < most && k < width) {
				uint32_t bits = randomBits(t.seed, streamNegatives, s.stream, uint64_t(i) * t.negatives + k - 1);
				column[h] = __umulhi(bits, t.rows);
				low[h] = bits * t.rows;
				alias[h] = __ldg(&t.alias[column[h]]);
			}
		}
	};
	auto end = [&] {
#pragma unroll
		for (int h = 0; h < held; h++) target[h] = low[h] < alias[h].x ? column[h] : alias[h].y;
	};
	// ask asks for the rows of a unit. A row without contexts, which is idle, has targets of no effect.
	bool idle = false, idleNext = false; // of the unit that is trained, and the one after it
	auto ask = [&](Unit u, uint32_t to) {
		idle = idleNext;
		if (u.part == 0) idleNext = __shfl_sync(warp, target[0], 0, L) == noContext;
		if constexpr (!ahead) idle = idleNext;
		if (u.group >= groups) return;
		uint32_t wanted = targetsOf(u);
		stage.expect(to, 16 * t.quads * gpus * wanted);
#pragma unroll
		for (int h = 0; h < held; h++)
			if (slot + h < wanted && l % copies == 0)
				stage.copy(to, placeOf(slot + h), t.right + size_t(target[h] == noContext ? 0 : target[h]) * t.quads, t.quads, stays);
	};
	// send computes this GPU's numbers of a unit, x, and stores them for the others.
	auto isMine = [&](Unit u, int h) { return slot + h < targetsOf(u) && u.group * gpus + ofWarp < t.rows && l % copies == 0; };
	auto messageOf = [&](Unit u, int h) { return size_t(rowOf(u.group)) * a.messages + u.part * most + slot + h; };
	float x[targetsOfPart];
	auto send = [&](Unit u, uint32_t of, const Row<F> &w) {
		uint32_t wanted = targetsOf(u);
		stage.arrived(of);
#pragma unroll
		for (int k = 0; k < targetsOfPart; k++) x[k] = k < wanted ? partial(w, stage.row(of, placeOf(k))) : 0;
		treeSums<L>(x);
#pragma unroll
		for (int h = 0; h < held; h++)
			if (isMine(u, h)) exchange.send(messageOf(u, h), x[h]);
	};

	Unit u = {first, 0}, asked = after(u); // asked: the next unit to ask for
	begin(u);
	end();
	awaitPrevious();
	ask(u, 0);
	Row<F> w = load(t.left, rowOf(u.group)), wNext;
	begin(asked);
	if constexpr (ahead) {
		if (asked.part == 0) wNext = load(t.left, rowOf(asked.group));
		end();
		ask(asked, 1);
		begin(asked = after(asked));
		if (u.group < groups) send(u, 0, w);
	}
	float loss = 0;
	uint32_t of = 0; // stage of the unit
	while (u.group < groups) {
		const uint32_t i = rowOf(u.group);
		const bool live = u.group * gpus + ofWarp < t.rows;
		Row<F> m, v, g = zeros<F>(), wAfter;
		for (bool last = false; !last;) {
			last = u.part + 1 == parts;
			uint32_t wanted = targetsOf(u);
			if constexpr (!ahead) send(u, 0, w);
			if (u.part == 0) {
				if constexpr (hasFirst(method)) m = load(t.first, i);
				if constexpr (hasSecond(method)) v = load(t.second, i);
			}
			const bool without = idle;
			float c[held];
#pragma unroll
			for (int h = 0; h < held; h++) {
				const bool mine = isMine(u, h), positive = u.part + slot + h == 0;
				if (mine) x[h] = exchange.receive(messageOf(u, h), x[h]);
				Logistic y = logisticOf(positive ? -x[h] : x[h], width); // to the loss, a positive is a negative of opposite score
				c[h] = !mine || without ? 0 : positive ? -y.sigmoid : y.sigmoid;
				if (mine && !without) loss += logarithmOf(y.factor, width);
			}
			__syncwarp();
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++) {
				float coefficient = __shfl_sync(warp, c[k % held], k / held * copies, L);
				if (k < wanted) add(g, coefficient, stage.row(of, placeOf(k)));
			}
			__syncwarp();
			end();
			ask(asked, of);
			if constexpr (ahead) {
				wAfter = w;
				if (last) wAfter = wNext;
				if (asked.part == 0) wNext = load(t.left, rowOf(asked.group));
			}
			begin(asked = after(asked));
			u = after(u);
			if constexpr (ahead) {
				of = 1 - of;
				if (u.group < groups) send(u, of, wAfter);
			}
		}
		PartOfRow<L> lanes = {exchange, size_t(i) * a.messages + width, live};
		optimize<F, method>(t, s, i, w, m, v, g, lanes);
		auto store = [&](float4 *table, const Row<F> &r, bool soon) {
			float4 *to = table + size_t(i) * t.quads + l;
#pragma unroll
			for (int f = 0; f < F; f++) {
				if (l + L * f >= t.quads || !live) continue;
				if (soon) to[L * f] = r.v[f];
				else __stcs(to + L * f, r.v[f]);
			}
		};
		if constexpr (hasFirst(method)) store(t.first, m, false);
		if constexpr (hasSecond(method)) store(t.second, v, false);
		store(t.left, w, true);
		if constexpr (ahead) w = wAfter;
		else w = load(t.left, rowOf(u.group));
	}
	loss = sum(loss);
	if (laneNumber() == 0) a.launch.losses[first] = loss;
}

// CL is a kernel for 32 / L GPUs and N up to 128 F. A multiprocessor must have registers for so many thread blocks of so
// many warps.
#define CL(method, L, F, warps, blocks, stages) \
	extern "C" __global__ void __launch_bounds__(32 * warps, blocks) cl_split_##method##_##L##_##F(const __grid_constant__ ClSplit a) { train<L, F, method, stages>(a); }
#define CL_METHODS(L, F, warps, blocks, stages) \
	CL(adam, L, F, warps, blocks, stages) CL(adamRow, L, F, warps, blocks, stages) CL(sgd, L, F, warps, blocks, stages) CL(scaled, L, F, warps, blocks, stages)
#define CL_GPUS(F, warps, blocks, stages) CL_METHODS(16, F, warps, blocks, stages) CL_METHODS(8, F, warps, blocks, stages) CL_METHODS(4, F, warps, blocks, stages)

#ifndef VARIANTS
CL_GPUS(1, 8, 4, 2)
CL_GPUS(2, 8, 3, 1)
CL_GPUS(3, 8, 2, 1)
CL_GPUS(4, 9, 2, 1)
CL_GPUS(8, 4, 2, 1)
#endif
