// Kernels that only tests launch: they show that random numbers are those of the
// CPU.
#include "philox.cuh"

struct RandomArgs {
	uint64_t seed;
	uint64_t first; // number of the first word
	uint32_t stream, sub;
	uint32_t count;
	uint32_t columns; // of the alias table
	const uint2 *alias;
	uint32_t *words; // (count)
	uint32_t *drawn; // (count): what the alias table makes of the words
};

//	words[i] = word first+i of the stream
//	drawn[i] = alias draw of words[i]
extern "C" __global__ void random_words(const RandomArgs *args) {
	RandomArgs a = *args;
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count) return;
	uint32_t w = word(a.seed, a.stream, a.sub, a.first + i);
	a.words[i] = w;
	a.drawn[i] = aliasDraw(a.alias, a.columns, w);
}
