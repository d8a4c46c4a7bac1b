// Random walks over a graph, as package walk defines them: the same graph, seed and options give the same walks there and here.
#include "philox.cuh"

constexpr uint32_t streamWalk = 11;

// An Order is the order in which the walks of a round begin at the nodes; see simd.Bijection.
struct Order {
	uint64_t keys[4], low, high;
};

struct Walks {
	uint64_t seed;
	const uint64_t *starts;    // (V+1): the edges of node i are ends[starts[i]] ... ends[starts[i+1]-1]
	const uint32_t *ends;
	const uint2 *cells;        // of each edge, {accept, other}; null: all weights are 1
	const Order *orders;       // of each round
	uint64_t first;            // walk that sentence 0 is
	uint64_t starters, firstOrder, directed;
	uint64_t back, near, far, folded, foldedAcceptance;
};

// The random numbers of a walk, in the order of package walk.
struct Numbers {
	uint64_t seed, counter;
	uint32_t round, used; // of ready
	uint4 ready;

	__device__ uint32_t next() {
		if (used == 4) {
			ready = philox(seed, streamWalk, round, counter++);
			used = 0;
		}
		return quarter(ready, used++);
	}
};

__device__ uint32_t startOf(const Order &o, uint32_t i, uint32_t nodes) {
	uint32_t low = uint32_t(o.low), high = uint32_t(o.high);
	do {
#pragma unroll
		for (int s = 0; s < 4; s++) {
			i = i * uint32_t(o.keys[s]) + uint32_t(o.keys[(s + 2) % 4]);
			if (s < 3) i ^= uint32_t((uint64_t(i & high) * o.keys[s] + o.keys[s + 1]) >> 32) & low;
		}
		i &= low | high;
	} while (i >= nodes);
	return i;
}

__device__ uint64_t chosen(const Walks &g, uint64_t start, uint32_t cell, uint32_t low) {
	uint64_t at = start + cell;
	if (g.cells) {
		uint2 c = __ldg(&g.cells[at]);
		if (low >= c.x) at = start + c.y;
	}
	return at;
}

// draw draws a neighbour by the weights alone.
__device__ uint32_t draw(const Walks &g, uint32_t node, uint32_t random) {
	uint64_t start = g.starts[node];
	uint32_t degree = uint32_t(g.starts[node + 1] - start);
	return g.ends[chosen(g, start, __umulhi(random, degree), random * degree)];
}

__device__ bool edge(const Walks &g, uint32_t from, uint32_t to) {
	uint64_t first = g.starts[from], end = g.starts[from + 1];
	while (first < end) {
		uint64_t middle = (first + end) / 2;
		uint32_t x = g.ends[middle];
		if (x == to) return true;
		if (x < to) first = middle + 1;
		else end = middle;
	}
	return false;
}

__device__ bool linked(const Walks &g, uint32_t from, uint32_t to) {
	if (!g.directed && to > from && g.starts[to + 1] - g.starts[to] < g.starts[from + 1] - g.starts[from]) return edge(g, to, from);
	return edge(g, from, to);
}

// acceptance returns the largest level that accepts x.
__device__ uint32_t acceptance(const Walks &g, uint32_t previous, uint32_t x) {
	if (x == previous) return uint32_t(g.back);
	return uint32_t(linked(g, previous, x) ? g.near : g.far);
}

__device__ bool accepts(const Walks &g, uint32_t previous, uint32_t x, uint32_t level) {
	if (x == previous) return level <= g.back;
	if (level <= min(g.near, g.far)) return true;
	if (level > max(g.near, g.far)) return false;
	return level <= acceptance(g, previous, x);
}

__device__ uint32_t foldedAt(const Walks &g, uint32_t previous, uint32_t here) {
	return g.folded > 0 && g.directed && !edge(g, here, previous) ? 0 : uint32_t(g.folded);
}

// A Mass is an exact sum of 64-bit products. Even the least probable neighbour has one above 0.
using Mass = unsigned __int128;

// masses adds up the probabilities that the neighbours of here are drawn and accepted, until the sum exceeds level.
__device__ Mass masses(const Walks &g, uint32_t previous, uint32_t here, Mass level, uint32_t &found) {
	uint64_t start = g.starts[here], end = g.starts[here + 1];
	Mass sum = 0;
	auto add = [&](uint64_t share, uint32_t x, uint64_t accepted) {
		sum += Mass(share) * (accepted + 1);
		found = x;
		return sum > level;
	};
	constexpr uint64_t cell = uint64_t(1) << 32;
	for (uint64_t at = start; at < end; at++) {
		uint32_t own = g.ends[at];
		uint64_t share = cell;
		if (g.cells) {
			uint2 c = g.cells[at];
			share = c.x;
			uint32_t other = g.ends[start + c.y];
			if (add(cell - share, other, acceptance(g, previous, other))) return sum;
		}
		if (share > 0 && add(share, own, acceptance(g, previous, own))) return sum;
	}
	uint32_t folded = foldedAt(g, previous, here);
	if (folded > 0) add(cell * folded, previous, g.foldedAcceptance);
	return sum;
}

__device__ uint32_t drawFromTable(const Walks &g, uint32_t previous, uint32_t here, Numbers &random) {
	uint32_t x = previous;
	Mass total = masses(g, previous, here, ~Mass(0), x);
	uint64_t u = random.next();
	u |= uint64_t(random.next()) << 32;
	masses(g, previous, here, Mass(u) * uint64_t(total >> 64) + __umul64hi(u, uint64_t(total)), x);
	return x;
}

// step draws the neighbour of here to which a walk of node2vec goes on that came from previous.
__device__ uint32_t step(const Walks &g, uint32_t previous, uint32_t here, Numbers &random) {
	uint64_t start = g.starts[here];
	uint32_t degree = uint32_t(g.starts[here + 1] - start);
	if (degree == 1) return g.ends[start];
	uint32_t folded = foldedAt(g, previous, here);
	for (uint32_t tries = max(degree, 8u); tries > 0; tries--) {
		uint32_t choice = random.next(), level = random.next();
		uint32_t k = __umulhi(choice, degree + folded);
		if (k >= degree) {
			if (level <= g.foldedAcceptance) return previous;
			continue;
		}
		uint32_t x = g.ends[chosen(g, start, k, choice * (degree + folded))];
		if (accepts(g, previous, x, level)) return x;
	}
	return drawFromTable(g, previous, here, random);
}

// sentence_walk walks the sentences first ... end-1, one a thread. tokens is where token 0 of the text would be, and sentences where
// the first token of sentence 0 would be.
extern "C" __global__ void sentence_walk(const Walks *walks, uint32_t *tokens, const uint64_t *sentences, uint64_t first, uint64_t end) {
	Walks g = *walks;
	uint32_t nodes = uint32_t(g.starters);
	for (uint64_t s = first + blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; s < end; s += uint64_t(gridDim.x) * blockDim.x) {
		uint64_t w = g.first + s;
		uint32_t round = uint32_t(w / nodes), here = startOf(g.orders[round], uint32_t(w % nodes), nodes), previous = here;
		Numbers random = {g.seed, uint64_t(here) << 32, round, 4, {}};
		uint32_t *to = tokens + sentences[s], length = uint32_t(sentences[s + 1] - sentences[s]);
		for (uint32_t n = 0; n < length; n++) {
			if (n > 0) {
				uint32_t x;
				if (g.firstOrder || n == 1) {
					x = draw(g, here, random.next());
					if (!g.firstOrder) random.next(); // so that a try's numbers are of one call of Philox
				} else {
					x = step(g, previous, here, random);
				}
				previous = here;
				here = x;
			}
			to[n] = here;
		}
	}
}
