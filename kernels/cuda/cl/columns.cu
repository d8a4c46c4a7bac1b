// A step of W2V-CL whose rows have one sample each and their own negatives, in float32 (--preset paper), on one GPU or
// on several that share the dimensions.
//
//	left: (V, N/G)  right: (V, N/G), frozen  samples: (V), rows of right
//	for each row i:
//		targets t_0 = samples[i], t_k = negative k of row i
//		store left_i . right_(t_k) of this GPU's dimensions into the other GPUs' memory
//		s_k = the sum of these over all GPUs
//		g and update as in step.cuh, of this GPU's dimensions
//
// step.cuh computes the same step, but several GPUs share its rows. This file stays because it is faster: with 18,116 x 500, Adam
// and K 5, two H200 are 2.06 times as fast as one, because dot products are far smaller than rows; sharing rows gave 1.31 to 1.55
// times. On one GPU a step takes 75 us and 82 with step.cuh; 46 and 67 with 300 values, 17 and 31 with 100.
//
// A row has 32 virtual lanes on any number of GPUs: quad q belongs to lane q mod 32, and GPU g of G has the
// lanes g, g + G, ... (quads g, g + G, ...). A dot product is summed by butterflies over the virtual
// lanes, far apart first; butterflies between GPUs come last. So every GPU gets the same sum, which
// does not depend on G.
//
// Here a row takes 32 / G lanes, and a warp has G rows side by side. It stores each number with the tag of
// the step, eight bytes that arrive together, and then waits until the other GPUs' numbers bear that tag.
// This needs no flag and no fence (NCCL's protocol LL). A warp has the same rows on all GPUs, and two inboxes for
// alternate groups: a sender that stores for group j + 2 has received all of group j + 1, so the reader is done with
// group j. Inboxes are small enough to stay in L2.
//
// The rows that a warp needs wait in shared memory; on Hopper the bulk copy engine brings them, and keeps far more rows in
// flight than registers could. While the warp updates a group of rows, the next group is in flight, and the
// targets of the group after that are drawn. Several GPUs bring the first rows of right, those of the most frequent words, to
// shared memory once, and load moments only after sending dot products, which moments would delay.
//
// A step begins while the one before it ends (startNext), and most rows that it asks for were written by then. On several GPUs a
// warp tells when it has only its rows of the last round left. When all have told, the thread blocks of the next step that are
// there already ask for their first rows, but for those of the last round: the rarest words. Rows of left are older still: a step
// starts when all thread blocks of the one before it know that the one before that is done.
//
// The GPUs wait for each other, so all thread blocks of a launch must be resident, as many of as many warps on all
// GPUs. A wait that takes too long is given up: see late.
//
// GPUs of several processes send the numbers of all rows at once: columns_sends.cu has kernels that only write them, and here they are
// found where each row has its own.
#include "columns.cuh"

// Rows of right should stay in L2, those of left are needed once.
__device__ __forceinline__ uint64_t staysInL2() {
	uint64_t p = 0;
#if __CUDA_ARCH__ >= 900
	asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
#endif
	return p;
}
__device__ __forceinline__ uint64_t leavesL2() {
	uint64_t p = 0;
#if __CUDA_ARCH__ >= 900
	asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
#endif
	return p;
}

// train trains groups of G rows. Numbers of a row's targets, scores and coefficients are with its lanes as treeSums leaves
// them: lane l has those from number l / copies * held on, and copies lanes have the same. Rows that have few targets are trained
// without branches between these, so that one target's instructions fill the waits of another's: half of a round is waiting for instructions.
template <int L, int F, class method, bool few> __device__ __forceinline__ void train(const ColumnsLaunch &a) {
	constexpr int together = few ? fewTargets : targetsOfPart, inTurn = few ? 2 : targetsOfPart; // more targets at a time were slower
	constexpr int gpus = 32 / L, held = L < targetsOfPart ? targetsOfPart / L : 1, copies = L > targetsOfPart ? L / targetsOfPart : 1;
	extern __shared__ float4 memory[];
	const Table &t = a.left;
	const StepNumbers s = *a.step;
	Exchange<gpus> exchange(a);
	const int l = laneNumber() % L, ofWarp = laneNumber() / L, warpsOfBlock = blockDim.x / 32;
	const uint32_t width = 1 + a.negatives, parts = few ? 1 : (width + targetsOfPart - 1) / targetsOfPart, most = few ? width : (width + parts - 1) / parts; // targets of a part
	const uint32_t first = blockIdx.x * warpsOfBlock + threadIdx.x / 32, stride = gridDim.x * warpsOfBlock, groups = (t.rows + gpus - 1) / gpus;
	const uint32_t lastRound = (groups - 1) / stride * stride, lastRows = lastRound * gpus; // its first group and row
	const uint64_t stays = staysInL2(), leaves = leavesL2();
	auto rowOf = [&](uint32_t group) { return min(group * gpus + ofWarp, t.rows - 1); }; // behind the last row it again

	auto load = [&](const float4 *table, uint32_t row) {
		const float4 *from = table + size_t(row) * t.quads + l;
		Row<F> r = zeros<F>();
#pragma unroll
		for (int f = 0; f < F; f++)
			if (l + L * f < t.quads) r.v[f] = __ldcs(from + L * f);
		return r;
	};

	// Of the rows of a group there are first the targets of a part, then left.
	auto numberOf = [&](uint32_t k) { return k * gpus + ofWarp; };
	const uint32_t rowsOfStage = gpus * (most + 1);
	Stage<L, F> stage(memory, rowsOfStage);
	const uint32_t hot = a.hot, hotPlace = barrierQuads + warpsOfBlock * rowsOfStage * L * F;

	const uint32_t slot = l / copies * held; // number of this lane's first target
	uint32_t target[held], column[held], low[held];
	uint2 alias[held];
	// begin asks for what the targets of a part follow from, end knows them.
	auto begin = [&](uint32_t group, uint32_t part) {
		uint32_t i = rowOf(min(group, groups - 1));
#pragma unroll
		for (int h = 0; h < held; h++) {
			uint32_t k = part * most + slot + h;
			column[h] = low[h] = 0;
			alias[h] = make_uint2(0, 0);
			if (k == 0) {
				alias[h].y = a.samples[i];
			} else if (slot + h < most && k < width) {
				uint32_t bits = randomBits(a.seed, streamNegatives, s.stream, uint64_t(i) * a.negatives + k - 1);
				column[h] = __umulhi(bits, t.rows);
				low[h] = bits * t.rows;
				alias[h] = __ldg(&a.alias[column[h]]);
			}
		}
	};
	auto end = [&] {
#pragma unroll
		for (int h = 0; h < held; h++) target[h] = low[h] < alias[h].x ? column[h] : alias[h].y;
	};
	auto rowOfTarget = [&](int h) { return target[h] == noContext ? 0 : target[h]; };
	// copy asks for targets of rows from some on and before others.
	auto copy = [&](uint32_t part, uint32_t from, uint32_t until) {
#pragma unroll
		for (int h = 0; h < held; h++)
			if (slot + h < min(most, width - part * most) && l % copies == 0 && rowOfTarget(h) >= from && rowOfTarget(h) < until)
				stage.copy(numberOf(slot + h), a.right + size_t(rowOfTarget(h)) * t.quads, t.quads, stays);
	};
	// ask asks for all rows of a part but for those of targets from some row on.
	auto ask = [&](uint32_t group, uint32_t part, uint32_t until) {
		if (group >= groups) return;
		uint32_t wanted = min(most, width - part * most), count = part == 0 ? gpus : 0;
#pragma unroll
		for (int h = 0; h < held; h++) count += __popc(__ballot_sync(warp, slot + h < wanted && l % copies == 0 && rowOfTarget(h) >= hot));
		stage.expect(16 * t.quads * count);
		copy(part, hot, until);
		if (part == 0 && l == L - 1) stage.copy(numberOf(most), t.values + size_t(rowOf(group)) * t.quads, t.quads, leaves);
	};

	begin(first, 0);
	end();
	const uint32_t step = *a.before + a.number;
	const bool tells = gpus > 1 && lastRound && !ONLY_SENDS;
	if (tells && hot <= lastRows && !a.byRows) {
		if (threadIdx.x == 0) { // until all warps of the steps before have told
			uint64_t until = 0;
			for (uint32_t seen, tries = 1; !exchange.lost; tries++) {
				asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(a.told)) : "memory");
				if (int32_t(seen - (step - 1) * stride) >= 0) break;
				if (tries % 1024 == 0) exchange.lost = late(a, gpus, until);
			}
		}
		__syncthreads();
		if (hot) stage.bring(hotPlace, a.right, hot, t.quads);
		ask(first, 0, lastRows);
		awaitPrevious();
		startNext();
		copy(0, max(hot, lastRows), t.rows);
	} else {
		awaitPrevious();
		startNext();
		if (hot) stage.bring(hotPlace, a.right, hot, t.quads);
		ask(first, 0, t.rows);
	}
	if (hot) stage.brought();
	uint32_t nextGroup = first, nextPart = 0;
	auto next = [&] {
		if (++nextPart == parts) nextPart = 0, nextGroup += stride;
		begin(nextGroup, nextPart);
	};
	next();

	// Tags are those of all groups of all warps since the beginning, as if each warp had as many.
	const bool byRows = !few && (ONLY_SENDS || a.byRows);
	uint32_t tag = step * ((groups + stride - 1) / stride), exchanged = first < groups ? step * ((groups - first + stride - 1) / stride) : 0; // groups of this warp

	// tell tells the next step that this warp has only rows of the last round left. What it has written is there for the copy engine, too.
	auto tell = [&] {
#if __CUDA_ARCH__ >= 900
		asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
		__syncwarp();
		if (laneNumber() == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(a.told)) : "memory");
	};

	Row<F> w;
	float loss = 0;
	for (uint32_t group = first; group < groups; group += stride) {
		const uint32_t i = rowOf(group);
		const bool live = group * gpus + ofWarp < t.rows, idle = __shfl_sync(warp, target[0], 0, L) == noContext;
		const size_t at = size_t(i) * t.quads + l, messages = size_t(byRows ? i : (exchanged % 2 * stride + first) * gpus + ofWarp) * a.messages;
		exchange.tag = byRows ? step : tag;
		tag++, exchanged++;
		Row<F> m, v, g = zeros<F>();
		auto loadMoments = [&] {
			if constexpr (method::first) m = load(t.first, i);
			if constexpr (method::second) v = load(t.second, i);
		};
		for (uint32_t part = 0; part < parts; part++) {
			uint32_t wanted = min(most, width - part * most);
			uint32_t place[held];
			if (part == 0 && gpus == 1) loadMoments();
			stage.arrived();
			if (part == 0) w = stage.row(stage.place(numberOf(most)));
#pragma unroll
			for (int h = 0; h < held; h++) place[h] = rowOfTarget(h) < hot ? hotPlace + rowOfTarget(h) * L * F : stage.place(numberOf(min(slot + h, most))); // behind the last one left, of no effect
			auto ofTarget = [&](int k) { return stage.row(__shfl_sync(warp, place[k % held], k / held * copies, L)); };
			float x[targetsOfPart];
#pragma unroll
			for (int k = 0; k < targetsOfPart; k++) x[k] = k < together && (few || k < wanted) ? partial(w, ofTarget(k)) : 0;
			treeSums<L>(x);
			bool mine[held];
#pragma unroll
			for (int h = 0; h < held; h++) {
				mine[h] = slot + h < wanted && live && l % copies == 0;
				if (mine[h]) exchange.send(messages + part * most + slot + h, x[h]);
			}
			if constexpr (ONLY_SENDS) {
				__syncwarp();
				end();
				ask(nextGroup, nextPart, t.rows);
				next();
				continue;
			}
			if (part == 0 && gpus > 1) loadMoments();
			float c[held];
#pragma unroll
			for (int h = 0; h < held; h++) {
				if (mine[h]) x[h] = exchange.receive(messages + part * most + slot + h, x[h]);
				bool positive = part + slot + h == 0;
				Logistic y = fastLogistic(positive ? -x[h] : x[h]); // to the loss, a positive is a negative of opposite score
				c[h] = !mine[h] || idle ? 0 : positive ? -y.sigmoid : y.sigmoid;
				if (mine[h] && !idle) loss += __logf(y.factor);
			}
			__syncwarp();
#pragma unroll (inTurn)
			for (int k = 0; k < together; k++) {
				float coefficient = __shfl_sync(warp, c[k % held], k / held * copies, L);
				if (few || k < wanted) add(g, coefficient, ofTarget(k));
			}
			__syncwarp();
			if (tells && group >= lastRound && part == 0) tell();
			end();
			ask(nextGroup, nextPart, t.rows);
			next();
		}
		if constexpr (ONLY_SENDS) continue;
		PartOfRow<L> lanes = {exchange, messages + width, live};
		optimize<method>(t, s, i, w, m, v, g, lanes);
		auto store = [&](float4 *table, const Row<F> &r, bool soon) {
#pragma unroll
			for (int f = 0; f < F; f++) {
				if (l + L * f >= t.quads || !live) continue;
				if (soon) table[at + L * f] = r.v[f];
				else __stcs(table + at + L * f, r.v[f]);
			}
		};
		if constexpr (method::first) store(t.first, m, false);
		if constexpr (method::second) store(t.second, v, false);
		store(t.values, w, true);
	}
	if constexpr (ONLY_SENDS) return;
	if (tells && first + lastRound >= groups) tell();
	report(a.loss, __float2ll_rn(loss * unitsOfLoss), loss < 1e12f); // not so if it is no number
}

// COLUMNS is a kernel for 32 / L GPUs and N up to 128 F. A multiprocessor must have registers for so many thread blocks of so
// many warps.
#define COLUMNS(method, name, L, F, few, warps, blocks) \
	extern "C" __global__ void __launch_bounds__(32 * warps, blocks) columns_##name##method##_##L##_##F(const __grid_constant__ ColumnsLaunch a) { train<L, F, method, few>(a); }
#if ONLY_SENDS
#define OF_SIZE(L, F, warps, blocks) COLUMNS(sgd, sends_, L, F, false, warps, blocks)
#else
#define OF_SIZE(L, F, warps, blocks) METHODS(COLUMNS, , L, F, false, warps, blocks) METHODS(COLUMNS, few_, L, F, true, warps, blocks)
#endif
#define OF_GPUS(L) OF_SIZE(L, 1, 16, 2) OF_SIZE(L, 2, 8, 3) OF_SIZE(L, 3, 8, 2) OF_SIZE(L, 4, 8, 2) OF_SIZE(L, 8, 4, 2)

#if !ONLY_SENDS
OF_GPUS(32)
#endif
OF_GPUS(16)
OF_GPUS(8)
OF_GPUS(4)
