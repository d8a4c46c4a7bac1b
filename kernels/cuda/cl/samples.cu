// The samples of a series of iterations, from M as package wordcontext stores it: of row i
// the n contexts, once. In which order each further round over them goes, follows from
// random numbers: this repeats wordcontext/order.go. Which entries of its row a step
// reads, repeats wordcontext/samples.go.
//
//	for each step s, iteration j, row i and number k of its slots:
//		first, count = Share(i, j, s)
//		samples[s][j][slots[i] + k] = k < count ? M(i, (first + k) mod lengths[i]) : noSample
//
// A thread has a slot and a few iterations: threads side by side write slots side by side.
#include "philox.cuh"

constexpr uint32_t streamDuplicate = 6, noContext = 0xffffffffu, noSample = 0xfffffffeu;
constexpr uint32_t smallOrder = 64, perThread = 8, threads = 128;

// sampleArgs of samples.go is the same.
struct SampleArgs {
	const uint64_t *offsets;         // (rows + 1)
	const void *stored;              // ids of 16 or 32 bits
	const uint32_t *lengths, *phases; // (rows)
	const uint32_t *slots;           // (rows + 1)
	const uint32_t *rowOf;           // row of a slot, (size)
	uint32_t *samples;               // (2, series, size)
	uint64_t seed;
	uint32_t size, contexts, series;
	uint32_t inOrder; // every round has the order of the first one
};

// Order is the pseudo-random order of a round.
struct Order {
	uint32_t n;
	uint8_t table[smallOrder]; // if n <= smallOrder
	uint64_t key[4];
	uint32_t mask, low, high;
};

__device__ __forceinline__ void randomPair(uint64_t seed, uint32_t round, uint32_t row, uint32_t counter, uint64_t &a, uint64_t &b) {
	uint4 r = philox(seed, streamDuplicate, round, uint64_t(row) << 32 | counter);
	a = uint64_t(r.y) << 32 | r.x;
	b = uint64_t(r.w) << 32 | r.z;
}

__device__ __forceinline__ void shuffle(Order &o, uint64_t seed, uint32_t round, uint32_t row) {
	for (uint32_t k = 0; k < o.n; k++) o.table[k] = uint8_t(k);
	uint32_t last = o.n - 1;
	for (uint32_t counter = 0; last > 0; counter++) {
		uint64_t fractions[2];
		randomPair(seed, round, row, counter, fractions[0], fractions[1]);
		for (int n = 0; n < 2; n++) {
			uint64_t fraction = fractions[n];
			for (int k = 0; k < 6 && last > 0; k++, last--) {
				uint32_t x = uint32_t(__umul64hi(fraction, last + 1));
				fraction *= last + 1;
				uint8_t swapped = o.table[last];
				o.table[last] = o.table[x];
				o.table[x] = swapped;
			}
		}
	}
}

__device__ __forceinline__ void setOrder(Order &o, uint64_t seed, uint32_t round, uint32_t row) {
	if (o.n <= smallOrder) {
		shuffle(o, seed, round, row);
		return;
	}
	uint32_t bits = 32 - __clz(o.n - 1);
	o.mask = uint32_t((1ull << bits) - 1);
	o.low = (1u << (bits + 1) / 2) - 1;
	o.high = o.mask & ~o.low;
	randomPair(seed, round, row, 0, o.key[0], o.key[1]);
	randomPair(seed, round, row, 1, o.key[2], o.key[3]);
	for (int k = 0; k < 4; k++) o.key[k] |= 1;
}

// at returns which stored context comes at a position of the round.
__device__ __forceinline__ uint32_t at(const Order &o, uint32_t position) {
	if (o.n <= smallOrder) return o.table[position];
	uint64_t k0 = o.key[0], k1 = o.key[1], k2 = o.key[2], k3 = o.key[3];
	uint32_t x = position;
	do {
		x = (x * uint32_t(k0) + uint32_t(k2)) & o.mask;
		x ^= uint32_t((uint64_t(x & o.high) * k0 + k1) >> 32) & o.low;
		x = (x * uint32_t(k1) + uint32_t(k3)) & o.mask;
		x ^= uint32_t((uint64_t(x & o.high) * k1 + k2) >> 32) & o.low;
		x = (x * uint32_t(k2) + uint32_t(k0)) & o.mask;
		x ^= uint32_t((uint64_t(x & o.high) * k2 + k3) >> 32) & o.low;
		x = (x * uint32_t(k3) + uint32_t(k1)) & o.mask;
	} while (x >= o.n);
	return x;
}

template <class Id>
__device__ __forceinline__ void samples(const SampleArgs *args, uint64_t first, uint64_t count) {
	SampleArgs a = *args;
	uint32_t blocksOfSlots = (a.size + threads - 1) / threads;
	uint32_t slot = blockIdx.x % blocksOfSlots * threads + threadIdx.x, part = blockIdx.x / blocksOfSlots;
	if (slot >= a.size) return;
	uint32_t step = part & 1, from = part / 2 * perThread;
	uint32_t row = a.rowOf[slot], k = slot - a.slots[row], length = a.lengths[row];
	const Id *stored = (const Id *)a.stored + a.offsets[row];
	Order o;
	o.n = uint32_t(a.offsets[row + 1] - a.offsets[row]);
	uint32_t ordered = 0; // the round that o is of; 0 has none
	uint64_t before = (first + from) * length + a.phases[row];
	uint32_t rest = uint32_t(before % a.contexts), position = uint32_t((before / a.contexts + step * (length / 2)) % length);
	for (uint32_t i = from; i < min(from + perThread, uint32_t(count)); i++) {
		uint32_t &to = a.samples[(uint64_t(step) * a.series + i) * a.size + slot];
		uint64_t end = uint64_t(rest) + length; // the share is what this has more whole iterations than rest
		uint32_t share = uint32_t(end / a.contexts);
		rest = uint32_t(end % a.contexts);
		if (k >= share) {
			to = noSample;
		} else if (o.n == 0) {
			to = noContext;
		} else {
			uint32_t entry = position + k;
			if (entry >= length) entry -= length;
			uint32_t round = entry / o.n, place = entry % o.n;
			if (round > 0 && !a.inOrder && round != ordered) {
				setOrder(o, a.seed, round, row);
				ordered = round;
			}
			to = stored[round > 0 && !a.inOrder ? at(o, place) : place];
		}
		position += share;
		if (position >= length) position -= length;
	}
}

extern "C" __global__ void samples_16(const SampleArgs *args, uint64_t first, uint64_t count) { samples<uint16_t>(args, first, count); }
extern "C" __global__ void samples_32(const SampleArgs *args, uint64_t first, uint64_t count) { samples<uint32_t>(args, first, count); }
