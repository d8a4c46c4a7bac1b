#include <cstdint>

// sentence_renumber gives the words of the text the numbers they have here.
extern "C" __global__ void sentence_renumber(uint32_t *tokens, uint64_t count, uint64_t successor, uint64_t vocabulary) {
	for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
		tokens[i] = tokens[i] * successor % vocabulary;
}
