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
// Here a row takes 32 / G lanes and a warp has G rows side by side. It stores each number with the tag of
// the step, eight bytes that arrive together, and then waits until the other GPUs' numbers bear that tag.
// This needs no flag and no fence (NCCL's protocol LL). Two steps in turn use two inboxes: who stores for
// step s + 2 has got all of step s + 1, so its reader is done with step s.
//
// The GPUs wait for each other, so all thread blocks of a launch must be resident, and all warps of all
// GPUs go through their rows in increasing order. A wait that takes too long is given up: see late.
#include "cl.cuh"

constexpr int targetsOfPart = 8, mostTargets = 32, mostPeers = 7;

struct ClSplit {
	ClLaunch launch;                                  // quads: of a row on this GPU, columns: of all GPUs
	const uint32_t *tag;                              // of step 0 of the series
	uint32_t number;                                  // of this step in the series
	uint32_t messages;                                // of a row: its targets, and for row-wise Adam one more
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

	// late reports whether waiting is in vain. until is when it is: 0 at first.
	__device__ __noinline__ static bool late(const ClSplit &a, uint64_t &until) {
		uint64_t now;
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		if (until == 0) until = now + a.patience;
		if (now < until && !*(volatile uint32_t *)a.lost[0]) return false;
		for (int i = 0; i < gpus; i++) *(volatile uint32_t *)a.lost[i] = 1;
		return true;
	}

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
			if (tries % 1024 == 0) lost = late(a, until);
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

__device__ __forceinline__ Logistic logisticOf(float score, bool fast) {
#if __CUDA_ARCH__ >= 900
	if (fast) return fastLogistic(score); // as cl_bulk.cu
#endif
	return logistic(score);
}

__device__ __forceinline__ float logarithmOf(float x, bool fast) {
#if __CUDA_ARCH__ >= 900
	if (fast) return __logf(x);
#endif
	return logf(x);
}

template <int L, int F, Method method> __device__ __forceinline__ void train(const ClSplit &a) {
	constexpr int gpus = 32 / L, held = L < targetsOfPart ? targetsOfPart / L : 1, copies = L > targetsOfPart ? L / targetsOfPart : 1;
	extern __shared__ float4 memory[];
	startNext();
	const ClTable &t = a.launch.table;
	const ClStep s = *a.launch.step;
	Exchange<L> exchange(a);
	int l = laneNumber() % L, ofWarp = laneNumber() / L, warpsOfBlock = blockDim.x / 32;
	uint32_t width = 1 + t.negatives, parts = (width + targetsOfPart - 1) / targetsOfPart, most = (width + parts - 1) / parts; // targets of a part
	bool fast = width <= mostTargets;
	uint32_t first = blockIdx.x * warpsOfBlock + threadIdx.x / 32, stride = gridDim.x * warpsOfBlock, groups = (t.rows + gpus - 1) / gpus;

	// A stage has the rows for a part of a group: those of right, and of left the last. A lane reads what it copied itself.
	float4 *stage = memory + threadIdx.x / 32 * (most + 1) * 32 * F + laneNumber();
	for (uint32_t n = 0; n < (most + 1) * F; n++) stage[n * 32] = make_float4(0, 0, 0, 0); // behind the rows this stays
	auto staged = [&](uint32_t row) {
		Row<F> r;
#pragma unroll
		for (int f = 0; f < F; f++) r.v[f] = stage[(row * F + f) * 32];
		return r;
	};
	auto copy = [&](uint32_t to, const float4 *table, uint32_t row) {
		const float4 *from = table + size_t(row) * t.quads + l;
		uint32_t at = uint32_t(__cvta_generic_to_shared(stage + to * F * 32));
#pragma unroll
		for (int f = 0; f < F; f++)
			if (l + L * f < t.quads)
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + f * 512), "l"(__cvta_generic_to_global(from + L * f)) : "memory");
	};

	// A lane draws the targets whose scores it gets: held of them, from number l * held / copies of the part on.
	uint32_t targets[held], column[held], low[held], positive[held];
	uint2 alias[held];
	const uint32_t slot = l / copies * held;
	auto rowOf = [&](uint32_t group) { return min(group * gpus + ofWarp, t.rows - 1); };
	// begin asks for what the targets of a part follow from, end returns them.
	auto begin = [&](uint32_t group, uint32_t part) {
		uint32_t i = rowOf(min(group, groups - 1));
#pragma unroll
		for (int h = 0; h < held; h++) {
			uint32_t k = part * most + slot + h;
			positive[h] = column[h] = low[h] = 0;
			alias[h] = make_uint2(0, 0);
			if (k == 0) {
				positive[h] = a.launch.column[i];
				alias[h].x = 0;
			} else if (slot + h < most && k < width) {
				uint32_t bits = randomBits(t.seed, streamNegatives, s.stream, uint64_t(i) * t.negatives + k - 1);
				column[h] = __umulhi(bits, t.rows);
				low[h] = bits * t.rows;
				alias[h] = __ldg(&t.alias[column[h]]);
			}
		}
	};
	auto end = [&](uint32_t part) {
#pragma unroll
		for (int h = 0; h < held; h++) targets[h] = part * most + slot + h == 0 ? positive[h] : low[h] < alias[h].x ? column[h] : alias[h].y;
	};
	auto ask = [&](uint32_t group, uint32_t part) {
		if (group >= groups) return;
		uint32_t wanted = min(most, width - part * most);
		if (part == 0) copy(most, t.left, rowOf(group));
#pragma unroll
		for (int k = 0; k < targetsOfPart; k++) {
			uint32_t target = __shfl_sync(warp, targets[k % held], k / held * copies, L);
			if (k < wanted) copy(k, t.right, target == noContext ? 0 : target);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};

	begin(first, 0);
	end(0);
	awaitPrevious();
	ask(first, 0);
	uint32_t nextGroup = first, nextPart = 0;
	auto next = [&] {
		if (++nextPart == parts) nextPart = 0, nextGroup += stride;
		begin(nextGroup, nextPart);
	};
	next();

	float loss = 0;
	for (uint32_t group = first; group < groups; group += stride) {
		uint32_t i = rowOf(group);
		bool live = group * gpus + ofWarp < t.rows; // else the last row again
		size_t at = size_t(i) * t.quads, messages = size_t(i) * a.messages;
		Row<F> w, m, v, g = zeros<F>();
		auto load = [&](const float4 *table) {
			Row<F> r = zeros<F>();
#pragma unroll
			for (int f = 0; f < F; f++)
				if (l + L * f < t.quads) r.v[f] = __ldcs(table + at + l + L * f);
			return r;
		};
		if constexpr (method != sgd) m = load(t.first);
		if constexpr (method == adam) v = load(t.second);
		bool idle = __shfl_sync(warp, targets[0], 0, L) == noContext;
		for (uint32_t part = 0; part < parts; part++) {
			uint32_t wanted = min(most, width - part * most);
			asm volatile("cp.async.wait_all;" ::: "memory");
			if (part == 0) w = staged(most);
			float x[targetsOfPart];
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++) x[k] = k < wanted ? partial(w, staged(k)) : 0;
			treeSums<L>(x);
			bool mine[held];
#pragma unroll
			for (int h = 0; h < held; h++) {
				mine[h] = slot + h < wanted && live && l % copies == 0;
				if (mine[h]) exchange.send(messages + part * most + slot + h, x[h]);
			}
			float c[held];
#pragma unroll
			for (int h = 0; h < held; h++) {
				if (mine[h]) x[h] = exchange.receive(messages + part * most + slot + h, x[h]);
				bool positive = part + slot + h == 0;
				Logistic y = logisticOf(positive ? -x[h] : x[h], fast); // to the loss, a positive is a negative of opposite score
				c[h] = !mine[h] || idle ? 0 : positive ? -y.sigmoid : y.sigmoid;
				if (mine[h] && !idle) loss += logarithmOf(y.factor, fast);
			}
			__syncwarp();
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++) {
				float coefficient = __shfl_sync(warp, c[k % held], k / held * copies, L);
				if (k < wanted) add(g, coefficient, staged(k));
			}
			end(nextPart);
			ask(nextGroup, nextPart);
			next();
		}
		PartOfRow<L> lanes = {exchange, messages + width, live};
		optimize<F, method>(t, s, i, w, m, v, g, lanes);
		auto store = [&](float4 *table, const Row<F> &r, bool soon) {
#pragma unroll
			for (int f = 0; f < F; f++) {
				if (l + L * f >= t.quads || !live) continue;
				if (soon) table[at + l + L * f] = r.v[f];
				else __stcs(table + at + l + L * f, r.v[f]);
			}
		};
		if constexpr (method != sgd) store(t.first, m, false);
		if constexpr (method == adam) store(t.second, v, false);
		store(t.left, w, true);
	}
	loss = sum(loss);
	if (laneNumber() == 0) a.launch.losses[first] = loss;
}

// CL is a kernel for 32 / L GPUs and N up to 128 F.
#define CL(method, L, F, warps) \
	extern "C" __global__ void __launch_bounds__(32 * warps, 1) cl_split_##method##_##L##_##F(const __grid_constant__ ClSplit a) { train<L, F, method>(a); }
#define CL_GPUS(method, F, warps) CL(method, 16, F, warps) CL(method, 8, F, warps) CL(method, 4, F, warps)
#define CL_METHODS(F, warps) CL_GPUS(adam, F, warps) CL_GPUS(adamRow, F, warps) CL_GPUS(sgd, F, warps)

#ifndef WARPS4
#define WARPS4 16
#endif
CL_METHODS(1, 32)
CL_METHODS(2, 24)
CL_METHODS(3, 16)
CL_METHODS(4, WARPS4)
CL_METHODS(8, 8)
