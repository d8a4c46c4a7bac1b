// A step of W2V-CL by Adam whose rows have one sample each and their own negatives, in float32 (--preset paper), on one GPU or
// on several that share the dimensions.
//
//	left: (V, N/G)  right: (V, N/G), frozen  samples: (V), rows of right
//	for each row i:
//		targets t_0 = samples[i], t_k = negative k of row i
//		store left_i . right_(t_k) of this GPU's dimensions into the other GPUs' memory
//		s_k = the sum of these over all GPUs
//		g and update as in step.cuh, of this GPU's dimensions
//
// step.cuh computes the same step, but several GPUs share its rows, which are far larger than dot products. So this is faster, and
// on one GPU, too.
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
template <bool stays> __device__ __forceinline__ uint64_t policyOfL2() {
	uint64_t p = 0;
#if __CUDA_ARCH__ >= 900
	if constexpr (stays) asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
	else asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
#endif
	return p;
}

// A Columns trains groups of G rows by Adam. Numbers of a row's targets, scores and coefficients are with its lanes as treeSums leaves
// them: lane l has those from number l / copies * held on, and copies lanes have the same. Rows that have few targets are trained
// without branches between these, so that one target's instructions fill the waits of another's: half of a round is waiting for instructions.
template <int L, int F, bool few> struct Columns {
	static constexpr int together = few ? fewTargets : targetsOfPart, inTurn = few ? 2 : targetsOfPart; // more targets at a time were slower
	static constexpr int gpus = 32 / L, held = L < targetsOfPart ? targetsOfPart / L : 1, copies = L > targetsOfPart ? L / targetsOfPart : 1;

	const ColumnsLaunch &a;
	const Table &t;
	const StepNumbers s;
	Exchange<gpus> exchange;
	const int l, ofWarp;
	const uint32_t width, parts, most;                // targets of a row, parts of them, targets of a part
	const uint32_t first, stride, groups, lastRound;  // of the warp; lastRound is its first group
	const uint64_t stays, leaves;
	const uint32_t hot, hotPlace, slot;               // slot is the number of this lane's first target
	const bool byRows;
	const uint32_t number; // of the step
	Stage<L, F> stage;                                // of the rows of a group the targets of a part, then left
	uint32_t target[held], column[held], low[held];
	uint2 alias[held];
	uint32_t nextGroup, nextPart;
	uint32_t tag, exchanged; // groups of all warps since the beginning, as if each had as many; of this warp
	float loss;

	__device__ __forceinline__ Columns(const ColumnsLaunch &a, float4 *memory, uint32_t warpsOfBlock)
		: a(a), t(a.left), s(*a.step), exchange(a), l(laneNumber() % L), ofWarp(laneNumber() / L), width(1 + a.negatives),
		  parts(few ? 1 : (width + targetsOfPart - 1) / targetsOfPart), most(few ? width : (width + parts - 1) / parts),
		  first(blockIdx.x * warpsOfBlock + threadIdx.x / 32), stride(gridDim.x * warpsOfBlock), groups((t.rows + gpus - 1) / gpus),
		  lastRound((groups - 1) / stride * stride), stays(policyOfL2<true>()), leaves(policyOfL2<false>()), hot(a.hot),
		  hotPlace(barrierQuads + warpsOfBlock * gpus * (most + 1) * L * F), slot(l / copies * held), byRows(gpus > 1 && !few && (ONLY_SENDS || a.byRows)), number(*a.before + a.number),
		  stage(memory, gpus * (most + 1)), nextGroup(first), nextPart(0), loss(0) {}

	__device__ __forceinline__ bool tells() const { return gpus > 1 && lastRound && !ONLY_SENDS; }
	__device__ __forceinline__ uint32_t rowOf(uint32_t group) const { return min(group * gpus + ofWarp, t.rows - 1); } // behind the last row it again
	__device__ __forceinline__ uint32_t numberOf(uint32_t k) const { return k * gpus + ofWarp; }
	__device__ __forceinline__ uint32_t rowOfTarget(int h) const { return target[h] == noContext ? 0 : target[h]; }
	__device__ __forceinline__ bool asks(int h, uint32_t wanted) const { return slot + h < wanted && l % copies == 0; }

	// begin asks for what the targets of a part follow from, end knows them.
	__device__ __forceinline__ void begin(uint32_t group, uint32_t part) {
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
	}
	__device__ __forceinline__ void end() {
#pragma unroll
		for (int h = 0; h < held; h++) target[h] = low[h] < alias[h].x ? column[h] : alias[h].y;
	}

	// copy asks for targets of rows from some on and before others.
	__device__ __forceinline__ void copy(uint32_t part, uint32_t from, uint32_t until) {
#pragma unroll
		for (int h = 0; h < held; h++)
			if (asks(h, min(most, width - part * most)) && rowOfTarget(h) >= from && rowOfTarget(h) < until)
				stage.copy(numberOf(slot + h), a.right + size_t(rowOfTarget(h)) * t.quads, t.quads, stays);
	}

	// ask asks for all rows of a part but for those of targets from some row on.
	__device__ __forceinline__ void ask(uint32_t group, uint32_t part, uint32_t until) {
		if (group >= groups) return;
		uint32_t wanted = min(most, width - part * most), count = part == 0 ? gpus : 0;
#pragma unroll
		for (int h = 0; h < held; h++) count += __popc(__ballot_sync(warp, asks(h, wanted) && rowOfTarget(h) >= hot));
		stage.expect(16 * t.quads * count);
		copy(part, hot, until);
		if (part == 0 && l == L - 1) stage.copy(numberOf(most), t.values + size_t(rowOf(group)) * t.quads, t.quads, leaves);
	}

	// draw begins the targets of the part after the next one.
	__device__ __forceinline__ void draw() {
		if (++nextPart == parts) nextPart = 0, nextGroup += stride;
		begin(nextGroup, nextPart);
	}

	// awaitTold waits until all warps of the steps before this one have told.
	__device__ __forceinline__ void awaitTold() {
		if (threadIdx.x == 0) {
			uint64_t until = 0;
			for (uint32_t seen, tries = 1; !exchange.lost; tries++) {
				asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(a.told)) : "memory");
				if (int32_t(seen - (number - 1) * stride) >= 0) break;
				if (tries % 1024 == 0) exchange.lost = late(a, gpus, until);
			}
		}
		__syncthreads();
	}

	// start asks for the first rows, as soon as the step before this one has written them.
	__device__ __forceinline__ void start() {
		begin(first, 0);
		end();
		const uint32_t lastRows = lastRound * gpus;
		if (tells() && hot <= lastRows && !a.byRows) {
			awaitTold();
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
		draw();
		tag = number * ((groups + stride - 1) / stride);
		exchanged = first < groups ? number * ((groups - first + stride - 1) / stride) : 0;
	}

	// tell tells the next step that this warp has only rows of the last round left. What it has written is there for the copy engine, too.
	__device__ __forceinline__ void tell() const {
#if __CUDA_ARCH__ >= 900
		asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
		__syncwarp();
		if (laneNumber() == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(a.told)) : "memory");
	}

	__device__ __forceinline__ Row<F> load(const float4 *table, uint32_t row) const {
		const float4 *from = table + size_t(row) * t.quads + l;
		Row<F> r = zeros<F>();
#pragma unroll
		for (int f = 0; f < F; f++)
			if (l + L * f < t.quads) r.v[f] = __ldcs(from + L * f);
		return r;
	}

	// save writes a row that is needed in the next step but one, or soon.
	__device__ __forceinline__ void save(float4 *table, uint32_t row, const Row<F> &r, bool soon) const {
		float4 *to = table + size_t(row) * t.quads + l;
#pragma unroll
		for (int f = 0; f < F; f++) {
			if (l + L * f >= t.quads) continue;
			if (soon) to[L * f] = r.v[f];
			else __stcs(to + L * f, r.v[f]);
		}
	}

	// A Part is a part of the targets of a row: so many, and where this lane's wait in shared memory.
	struct Part {
		uint32_t wanted, place[held];
	};

	__device__ __forceinline__ Part arrived(uint32_t part) {
		Part p = {min(most, width - part * most)};
		stage.arrived();
#pragma unroll
		for (int h = 0; h < held; h++) p.place[h] = rowOfTarget(h) < hot ? hotPlace + rowOfTarget(h) * L * F : stage.place(numberOf(min(slot + h, most))); // behind the last one left, of no effect
		return p;
	}
	__device__ __forceinline__ Row<F> rowAt(const Part &p, int k) const { return stage.row(__shfl_sync(warp, p.place[k % held], k / held * copies, L)); }

	// dots computes this GPU's parts of the dot products of w and targets, as treeSums leaves them.
	__device__ __forceinline__ void dots(float (&x)[targetsOfPart], const Part &p, const Row<F> &w) const {
#pragma unroll
		for (int k = 0; k < targetsOfPart; k++) x[k] = k < together && (few || k < p.wanted) ? partial(w, rowAt(p, k)) : 0;
		treeSums<L>(x);
	}

	// coefficients receives the other GPUs' parts of dot products and makes of all these coefficients.
	__device__ __forceinline__ void coefficients(float (&c)[held], float (&x)[targetsOfPart], const bool (&mine)[held], bool idle, uint32_t part, size_t messages) {
#pragma unroll
		for (int h = 0; h < held; h++) {
			if (mine[h]) x[h] = exchange.receive(messages + slot + h, x[h]);
			bool positive = part + slot + h == 0;
			Logistic y = fastLogistic(positive ? -x[h] : x[h]); // to the loss, a positive is a negative of opposite score
			c[h] = !mine[h] || idle ? 0 : positive ? -y.sigmoid : y.sigmoid;
			if (mine[h] && !idle) loss += __logf(y.factor);
		}
	}

	__device__ __forceinline__ void addTargets(Row<F> &g, const float (&c)[held], const Part &p) const {
#pragma unroll (inTurn)
		for (int k = 0; k < together; k++) {
			float coefficient = __shfl_sync(warp, c[k % held], k / held * copies, L);
			if (few || k < p.wanted) add(g, coefficient, rowAt(p, k));
		}
	}

	// train trains a group of rows.
	__device__ __forceinline__ void train(uint32_t group) {
		const uint32_t i = rowOf(group);
		const bool live = group * gpus + ofWarp < t.rows, idle = __shfl_sync(warp, target[0], 0, L) == noContext;
		const size_t ofRow = size_t(byRows ? i : (exchanged % 2 * stride + first) * gpus + ofWarp) * a.messages;
		exchange.tag = byRows ? number : tag;
		tag++, exchanged++;
		Row<F> w, m, v, g = zeros<F>();
		auto loadMoments = [&] { m = load(t.first, i), v = load(t.second, i); };
		for (uint32_t part = 0; part < parts; part++) {
			const size_t messages = ofRow + part * most;
			if (part == 0 && gpus == 1) loadMoments();
			const Part p = arrived(part);
			if (part == 0) w = stage.row(stage.place(numberOf(most)));
			float x[targetsOfPart], c[held];
			bool mine[held];
			dots(x, p, w);
#pragma unroll
			for (int h = 0; h < held; h++) {
				mine[h] = live && asks(h, p.wanted);
				if (mine[h]) exchange.send(messages + slot + h, x[h]);
			}
			if (part == 0 && gpus > 1 && !ONLY_SENDS) loadMoments();
			if (!ONLY_SENDS) {
				coefficients(c, x, mine, idle, part, messages);
				__syncwarp();
				addTargets(g, c, p);
			}
			__syncwarp();
			if (tells() && group >= lastRound && part == 0) tell();
			end();
			ask(nextGroup, nextPart, t.rows);
			draw();
		}
		if (ONLY_SENDS) return;
		optimize<adam>(t, s, i, w, m, v, g);
		if (!live) return;
		save(t.first, i, m, false);
		save(t.second, i, v, false);
		save(t.values, i, w, true);
	}

	__device__ __forceinline__ void step() {
		start();
		for (uint32_t group = first; group < groups; group += stride) train(group);
		if (ONLY_SENDS) return;
		if (tells() && first + lastRound >= groups) tell();
		report(a.loss, __float2ll_rn(loss * unitsOfLoss), loss < 1e12f); // not so if it is no number
	}
};

extern __shared__ float4 columnsMemory[];

// COLUMNS is a kernel for 32 / L GPUs and N up to 128 F. A multiprocessor must have registers for so many thread blocks of so
// many warps.
#define COLUMNS(name, L, F, few, warps, blocks) \
	extern "C" __global__ void __launch_bounds__(32 * warps, blocks) columns_##name##L##_##F(const __grid_constant__ ColumnsLaunch a) { \
		Columns<L, F, few>(a, columnsMemory, blockDim.x / 32).step(); \
	}
#if ONLY_SENDS
#define OF_SIZE(L, F, warps, blocks) COLUMNS(sends_, L, F, false, warps, blocks)
#else
#define OF_SIZE(L, F, warps, blocks) COLUMNS(, L, F, false, warps, blocks) COLUMNS(few_, L, F, true, warps, blocks)
#endif
#define OF_GPUS(L) OF_SIZE(L, 1, 16, 2) OF_SIZE(L, 2, 8, 3) OF_SIZE(L, 3, 8, 2) OF_SIZE(L, 4, 8, 2) OF_SIZE(L, 8, 4, 2)

#if !ONLY_SENDS
OF_GPUS(32)
#endif
OF_GPUS(16)
OF_GPUS(8)
OF_GPUS(4)
