// How long two GPUs take to bring each other rows of a table, both at the same time, and to meet: what an iteration of large-batch CBOW
// would add if GPUs shared it. nvcc -O3 -arch=sm_90 exchange.cu -o exchange && ./exchange
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <vector>

#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)

// share stores the listed rows of a table, of so many 8 bytes, into the peer's. A warp has a row.
__global__ void share(const uint2 *table, uint2 *peer, const uint32_t *list, uint32_t count, uint32_t units) {
	uint32_t warps = gridDim.x * blockDim.x / 32;
	for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < count; i += warps) {
		size_t at = size_t(list[i]) * units;
		for (uint32_t k = threadIdx.x % 32; k < units; k += 32) peer[at + k] = table[at + k];
	}
}

// meet tells the peer that this GPU has come to a number, and waits until the peer has.
__global__ void meet(uint32_t *told, const volatile uint32_t *seen, uint32_t number) {
	asm volatile("fence.acq_rel.sys;" ::: "memory");
	*(volatile uint32_t *)told = number;
	while (int32_t(*seen - number) < 0) {}
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

struct Gpu {
	uint2 *table;
	uint32_t *list, *flag;
	cudaStream_t stream;
};

int main() {
	const int times = 300;
	Gpu g[2];
	const size_t bytes = size_t(1) << 30;
	for (int d = 0; d < 2; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
		CHECK(cudaMalloc(&g[d].table, bytes));
		CHECK(cudaMalloc(&g[d].list, 1 << 22));
		CHECK(cudaMalloc(&g[d].flag, 4));
		CHECK(cudaMemset(g[d].flag, 0, 4));
		CHECK(cudaMemset(g[d].table, d + 1, bytes));
		CHECK(cudaStreamCreate(&g[d].stream));
	}
	uint32_t number = 0;
	printf("rows\tof\tbytes\tshares\tmeets\tmicroseconds\n");
	auto time = [&](uint32_t rows, uint32_t of, uint32_t size, bool shares, bool meets) {
		for (int d = 0; d < 2; d++) {
			std::vector<uint32_t> list(rows);
			for (uint32_t i = 0; i < rows; i++) list[i] = uint64_t(i) * of / rows / 2 + d * (of / 2);
			CHECK(cudaSetDevice(d));
			CHECK(cudaMemcpy(g[d].list, list.data(), 4 * rows, cudaMemcpyHostToDevice));
		}
		double best = 1e9;
		for (int round = 0; round < 5; round++) {
			auto start = std::chrono::steady_clock::now();
			for (int i = 0; i < times; i++) {
				if (meets) number++;
				for (int d = 0; d < 2; d++) {
					CHECK(cudaSetDevice(d));
					if (shares) share<<<264, 256, 0, g[d].stream>>>(g[d].table, g[1 - d].table, g[d].list, rows, size / 8);
					if (meets) meet<<<1, 1, 0, g[d].stream>>>(g[1 - d].flag, g[d].flag, number);
				}
			}
			for (int d = 0; d < 2; d++) {
				CHECK(cudaSetDevice(d));
				CHECK(cudaStreamSynchronize(g[d].stream));
				CHECK(cudaGetLastError());
			}
			double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
			if (s < best) best = s;
		}
		printf("%u\t%u\t%u\t%d\t%d\t%.1f\n", rows, of, size, shares, meets, best * 1e6);
	};
	time(1, 2, 8, false, true);
	for (uint32_t dim : {100, 300}) {
		for (bool meets : {false, true}) {
			time(6000, 18116, 4 * dim, true, meets);  // rows that occur, English text
			time(9000, 18116, 4 * dim, true, meets);  // random text
			time(9000, 18116, 2 * dim, true, meets);  // gradients in 16 bits
			time(35000, 70000, 2 * dim, true, meets); // n-grams in 16 bits
			time(50000, 100000, 2 * dim, true, meets);
			time(12000, 800000, 4 * dim, true, meets); // a large vocabulary
			time(22500, 45000, 4 * dim, true, meets);  // all sums at places, N values
		}
	}
}
