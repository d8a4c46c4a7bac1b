// A kernel that only a test launches: it shows that random numbers equal those of the CPU.
#include "philox.cuh"

struct RandomArgs {
	uint64_t seed;
	uint64_t first; // number of the first bits
	uint32_t stream, sub;
	uint32_t count;
	uint32_t columns; // of the alias table
	const uint2 *alias;
	uint32_t *bits;  // (count)
	uint32_t *drawn; // (count): numbers drawn from the alias table with the bits
};

//	bits[i] = bits first+i of the stream
//	drawn[i] = alias draw of bits[i]
extern "C" __global__ void random_bits(const RandomArgs *args) {
	RandomArgs a = *args;
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count) return;
	uint32_t x = randomBits(a.seed, a.stream, a.sub, a.first + i);
	a.bits[i] = x;
	a.drawn[i] = aliasDraw(a.alias, a.columns, x);
}
