// A step of W2V-CL as in cl.cu, with half precision: frozen rows are read rounded to
// bfloat16, and moments are stored in it. The values that a step changes stay float32: a
// table has them rounded in one plane and the rest of their bits in another. So reading
// frozen rows takes half the bytes, and nothing is written twice.
//
// Warps stay for many rows. The targets of the next rows are drawn while one is trained,
// and all values of a row are asked for at once, straight into registers. Warps of a
// scheduler hide each other's waiting; so registers and instructions count, beside bytes.
// Registers that spill, and more warps than needed, made it slower, and so did one warp
// that feeds the others by the bulk copy engine. A row of up to 128 values belongs to 16
// lanes, which have eight values each; so a warp trains two rows with the instructions of
// one.
#include "cl.cuh"
#include "half.cuh"
#include "meet.cuh"

// A row consists of octets of values, of which a lane has some. An octet is four pairs of 16
// bits, the first value of a pair in the lower bits. A row ends in zeros, which no kernel
// changes.
struct HalfTable {
	uint32_t *left;        // (rows, octets), rounded to bfloat16
	const uint32_t *right; // (rows, octets), rounded
	uint32_t *leftLow;     // (own rows, octets), the lower 16 bits of the float32 values
	uint32_t *first;       // first moments, (own rows, octets)
	uint32_t *second;      // second moments, (own rows, octets)
	float *secondOfRow;    // second moments of row-wise Adam, (own rows)
	const uint2 *alias;    // (rows)
	uint64_t seed;
	uint32_t rows, octets, columns, negatives;
	float beta1, oneMinusBeta1, beta2, oneMinusBeta2;
	Sharing sharing;

	__device__ __forceinline__ uint32_t own() const { return several ? sharing.own : rows; }
	__device__ __forceinline__ uint32_t row(uint32_t j) const { return sharing.row(j); }
};

struct HalfLaunch {
	HalfTable table;
	const ClStep *step;
	const uint32_t *column; // (rows)
	float *losses;          // (warps)
};

using Octet = Pairs<4>;

constexpr int octetPairs = 4, octetValues = 8;

// A Place is where this lane's F octets are in a row that L lanes have, counted in pairs. A
// lane that has fewer reads the row's last octet in their place, takes its values of left as
// zeros and does not write them.
template <int F, int L> struct Place {
	static constexpr int sure = F - 1; // octets that every lane has
	uint32_t at[F];
	uint32_t octets;

	__device__ __forceinline__ Place(uint32_t octets) : octets(octets) {
#pragma unroll
		for (int f = 0; f < F; f++) at[f] = octetPairs * (f < sure ? number(f) : min(number(f), octets - 1));
	}
	__device__ __forceinline__ uint32_t number(int f) const { return laneNumber() % L + L * f; }
	__device__ __forceinline__ bool has(int f) const { return f < sure || number(f) < octets; }
};

// optimize updates this lane's values w of row i, number j of this GPU, by the gradient g. It writes them if wanted.
template <int F, int L, Method method>
__device__ __forceinline__ void optimize(const HalfTable &t, const ClStep &s, uint32_t i, uint32_t j, bool wanted, const Place<F, L> &place,
	float (&w)[F][octetValues], const float (&g)[F][octetValues], const Octet (&m)[F], const Octet (&v)[F], uint32_t rounding) {
	float scaleOfRow = 0;
	if constexpr (method == adamRow) {
		float squares = 0;
#pragma unroll
		for (int f = 0; f < F; f++)
#pragma unroll
			for (int j = 0; j < octetValues; j++)
				if (place.has(f)) squares = fmaf(g[f][j], g[f][j], squares);
		float second = t.beta2 * t.secondOfRow[j] + t.oneMinusBeta2 * (sum<L>(squares) / t.columns);
		scaleOfRow = s.scale / (sqrtf(second) + s.epsilon);
		__syncwarp();
		if (laneNumber() % L == 0 && wanted) t.secondOfRow[j] = second;
	}
	uint32_t random = mix(rounding + i * golden);
	size_t row = size_t(i) * t.octets * octetPairs, own = size_t(j) * t.octets * octetPairs;
#pragma unroll
	for (int f = 0; f < F; f++) {
		float mean[octetValues], square[octetValues];
#pragma unroll
		for (int j = 0; j < octetValues; j++) {
			if constexpr (method == sgd) {
				w[f][j] = s.keep * w[f][j] - s.rate * g[f][j];
				continue;
			}
			if constexpr (method == scaled) {
				square[j] = value(v[f], j);
				scaledValue(w[f][j], square[j], g[f][j], t, s);
				continue;
			}
			mean[j] = t.beta1 * value(m[f], j) + t.oneMinusBeta1 * g[f][j];
			float step = scaleOfRow;
			if constexpr (method == adam) {
				square[j] = t.beta2 * value(v[f], j) + t.oneMinusBeta2 * g[f][j] * g[f][j];
				step = s.scale * inverse(root(square[j]) + s.epsilon);
			}
			w[f][j] = s.keep * w[f][j] - step * mean[j];
		}
		if (!wanted || !place.has(f)) continue;
		size_t to = own + place.at[f];
		Octet u;
		nearest(u, w[f]);
		put(t.left + row + place.at[f], u);
#pragma unroll 1
		for (uint32_t n = 0; several && n < t.sharing.others; n++) put((uint32_t *)t.sharing.copies[n] + row + place.at[f], u);
		lowerBits(u, w[f]);
		putStream(t.leftLow + to, u);
		if constexpr (hasFirst(method)) {
			nearest(u, mean);
			putStream(t.first + to, u);
		}
		if constexpr (hasSecond(method)) {
			atRandom(u, square, random + place.at[f] * golden);
			putStream(t.second + to, u);
		}
	}
}

// train trains this warp's rows, 32 / L at a time, and returns this lane's part of their
// loss. The rows of targets are held in registers between dot and gradient, G at a time.
template <int F, int L, int G, Method method>
__device__ __forceinline__ float train(const HalfTable &t, const ClStep &s, const uint32_t *positives) {
	constexpr int slots = G <= 4 ? 4 : 8, together = 32 / L; // slots of sums
	int l = laneNumber() % L, ofWarp = laneNumber() / L, width = 1 + t.negatives, warps = blockDim.x / 32;
	uint32_t first = (blockIdx.x * warps + threadIdx.x / 32) * together, stride = gridDim.x * warps * together, pairs = t.octets * octetPairs;
	Place<F, L> place(t.octets);
	Targets<together> draw(width, width <= 8 ? 8 : width <= 16 || together > 1 ? 16 : 32);
	draw.begin(t, s, positives, 0, first, stride);
	uint32_t targets = 0, round = 0;
	uint32_t rounding = quarter(philox(t.seed, streamRounding, s.stream, 0), 0);
	awaitPrevious();
	awaitOthers(t.sharing);
	float loss = 0;
	int of = draw.sets - 1; // which of the sets of rows drawn together
	for (uint32_t start = first; start < t.own(); start += stride) {
		bool live = start + ofWarp < t.own(); // else a row twice
		uint32_t j = live ? start + ofWarp : start, i = t.row(j);
		size_t row = size_t(i) * pairs, own = size_t(j) * pairs;
		if (++of == draw.sets) of = 0;
		int from = (of * together + ofWarp) * draw.slots; // the lane of the first target
		Octet left[F], low[F], m[F], v[F];
#pragma unroll
		for (int f = 0; f < F; f++) {
			stream(left[f], t.left + row + place.at[f]);
			stream(low[f], t.leftLow + own + place.at[f]);
		}
		float w[F][octetValues], g[F][octetValues];
#pragma unroll
		for (int f = 0; f < F; f++)
#pragma unroll
			for (int j = 0; j < octetValues; j++) g[f][j] = 0;
		bool idle = false;
		for (int part = 0; part < draw.parts; part++) {
			if (of == 0) {
				targets = draw.end();
				draw.begin(t, s, positives, ++round, first, stride);
			}
			if (part == 0) idle = __shfl_sync(warp, targets, from) == noContext;
			int wanted = min(draw.slots, width - part * draw.slots);
			for (int k0 = 0; k0 < wanted; k0 += G) {
				Octet r[G][F];
#pragma unroll
				for (int n = 0; n < G; n++) {
					uint32_t target = __shfl_sync(warp, targets, from + min(k0 + n, wanted - 1));
#pragma unroll
					for (int f = 0; f < F; f++) gather(r[n][f], t.right + size_t(idle ? 0 : target) * pairs + place.at[f]);
				}
				if (part + k0 == 0) { // behind the first rows, which are needed first
#pragma unroll
					for (int f = 0; f < F; f++) {
						if constexpr (hasFirst(method)) stream(m[f], t.first + own + place.at[f]);
						if constexpr (hasSecond(method)) stream(v[f], t.second + own + place.at[f]);
#pragma unroll
						for (int j = 0; j < octetValues; j++) w[f][j] = place.has(f) ? join(left[f], low[f], j) : 0;
					}
				}
				float x[slots];
#pragma unroll
				for (int n = 0; n < slots; n++) {
					x[n] = 0;
					if (n >= G) continue;
#pragma unroll
					for (int f = 0; f < F; f++)
#pragma unroll
						for (int j = 0; j < octetValues; j++) x[n] = fmaf(value(r[n][f], j), w[f][j], x[n]);
				}
				float score = sums<slots, L>(x);
				int n = l % slots;
				bool mine = n < G && k0 + n < wanted && !idle && live, positive = part + k0 + n == 0;
				Logistic y = fastLogistic(positive ? -score : score); // to the loss, a positive is a negative of opposite score
				float c = !mine ? 0 : positive ? -y.sigmoid : y.sigmoid;
				if (mine && l < slots) loss += __logf(y.factor);
#pragma unroll
				for (int n = 0; n < G; n++) {
					float coefficient = __shfl_sync(warp, c, n, L);
#pragma unroll
					for (int f = 0; f < F; f++)
#pragma unroll
						for (int j = 0; j < octetValues; j++) g[f][j] = fmaf(coefficient, again(r[n][f], j), g[f][j]);
				}
			}
		}
		optimize<F, L, method>(t, s, i, j, live, place, w, g, m, v, rounding);
	}
	return loss;
}

// CL is a kernel of thread blocks of four warps. A multiprocessor must have registers for so
// many thread blocks.
#define CL(method, name, F, L, G, blocks) \
	extern "C" __global__ void __launch_bounds__(128, blocks) cl_half_##method##_##name(const __grid_constant__ HalfLaunch a) { \
		startNext(); \
		ClStep s = *a.step; \
		float loss = sum(train<F, L, G, method>(a.table, s, a.column)); \
		if (laneNumber() == 0) a.losses[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = loss; \
		tellOthers(a.table.sharing); \
	}
#define CL_METHODS(name, F, L, G, blocks, sgdBlocks) \
	CL(adam, name, F, L, G, blocks) CL(adamRow, name, F, L, G, blocks) CL(sgd, name, F, L, G, sgdBlocks) CL(scaled, name, F, L, G, blocks)

// For N up to 128 times the name.
CL_METHODS(1, 1, 16, 6, 5, 5)
CL_METHODS(2, 1, 32, 6, 5, 5)
CL_METHODS(4, 2, 32, 6, 3, 4)
CL_METHODS(6, 3, 32, 3, 3, 3)
CL_METHODS(8, 4, 32, 3, 2, 2)
