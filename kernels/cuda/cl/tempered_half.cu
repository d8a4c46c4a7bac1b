// A step of W2V-CL as in tempered.cuh, with half precision: tables and moments as in
// cl_half.cu. A score with a shared negative is that of the rounded row of left.
#include "tempered.cuh"
#include "half.cuh"

// Rounded is values in rows of groups of P pairs, of which a lane has every 32nd, at most
// F. A lane that has fewer reads the row's last group in their place, takes its values of
// left as zeros and does not write them.
template <int P, int F> struct Rounded {
	static constexpr int each = 2 * P, values = each * F, planes = 1;
	static constexpr bool early = true;
	struct Left { Pairs<P> high[F], low[F]; };
	struct Packed { Pairs<P> v[F]; };
	struct Moments { Pairs<P> m[F], v[F]; float ofRow; };

	const TemperedTable &t;
	uint32_t groups, rounding;

	__device__ __forceinline__ Rounded(const TemperedTable &t, const ClStep &s)
		: t(t), groups(t.stride / each), rounding(quarter(philox(t.seed, streamRounding, s.stream, 0), 0)) {}

	__device__ __forceinline__ static int number(int i) { return laneNumber() + 32 * i; }
	__device__ __forceinline__ bool has(int i) const { return number(i) < groups; }
	__device__ __forceinline__ uint32_t at(int i) const { return P * min(number(i), groups - 1); }
	__device__ __forceinline__ size_t start(uint32_t row) const { return size_t(row) * groups * P; }

	__device__ __forceinline__ void load(Left &r, uint32_t row) const {
		if (row == none) return;
#pragma unroll
		for (int i = 0; i < F; i++) {
			stream(r.high[i], (const uint32_t *)t.left + start(row) + at(i));
			stream(r.low[i], (const uint32_t *)t.leftLow + start(row) + at(i));
		}
	}

	template <Method method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		if (row == none) return;
#pragma unroll
		for (int i = 0; i < F; i++) {
			if constexpr (method != sgd) stream(r.m[i], (const uint32_t *)t.first + start(row) + at(i));
			if constexpr (method == adam) stream(r.v[i], (const uint32_t *)t.second + start(row) + at(i));
		}
		if constexpr (method == adamRow) r.ofRow = t.secondOfRow[row];
	}

	__device__ __forceinline__ void prefetch(uint32_t row) const {}

	__device__ __forceinline__ void gather(Packed &r, uint32_t row) const {
#pragma unroll
		for (int i = 0; i < F; i++) ::gather(r.v[i], (const uint32_t *)t.right + start(row) + at(i));
	}

	__device__ __forceinline__ void values_(const Left &r, float (&x)[values]) const {
#pragma unroll
		for (int i = 0; i < values; i++) x[i] = has(i / each) ? join(r.high[i / each], r.low[i / each], i % each) : 0;
	}

	__device__ __forceinline__ float dot(const float (&x)[values], const Packed &r) const {
		float s = 0;
#pragma unroll
		for (int i = 0; i < values; i++) s = fmaf(x[i], value(r.v[i / each], i % each), s);
		return s;
	}

	__device__ __forceinline__ void add(float (&g)[values], float c, const Packed &r) const {
#pragma unroll
		for (int i = 0; i < values; i++) g[i] = fmaf(c, again(r.v[i / each], i % each), g[i]);
	}

	__device__ __forceinline__ void add(float (&g)[values], const float *from) const {
#pragma unroll
		for (int i = 0; i < values; i += 4) {
			float4 y = *(const float4 *)(from + 2 * at(i / each) + i % each);
			g[i] += y.x, g[i + 1] += y.y, g[i + 2] += y.z, g[i + 3] += y.w;
		}
	}

	__device__ __forceinline__ void store(float *to, const float (&g)[values]) const {
#pragma unroll
		for (int i = 0; i < values; i += 4)
			if (has(i / each)) *(float4 *)(to + 2 * at(i / each) + i % each) = make_float4(g[i], g[i + 1], g[i + 2], g[i + 3]);
	}

	template <class Dense> __device__ __forceinline__ void keep(const Dense &d, int row, const Left &r) const {
#pragma unroll
		for (int i = 0; i < F; i++)
			if (has(i)) put((uint32_t *)(d.left + row * d.length) + at(i), r.high[i]);
	}

	template <class Dense> __device__ __forceinline__ void loadShared(const Dense &d, const TemperedTable &t, uint32_t first) const {
		uint32_t ofRow = d.wide / 8;
		for (uint32_t n = threadIdx.x; n < d.chunk * ofRow; n += blockDim.x) {
			uint32_t h = n / ofRow, i = n % ofRow;
			bool wanted = first + h < t.shared;
			copyShared(d.right + h * d.length + 8 * i, (const uint32_t *)t.right + start(wanted ? d.numbers[first + h] : 0) + 4 * i, wanted);
		}
	}

	template <Method method>
	__device__ __forceinline__ void update(uint32_t row, float (&x)[values], const float (&g)[values], const Moments &moments, const ClStep &s) const {
		float scale = 0;
		if constexpr (method == adamRow) {
			float squares = 0;
#pragma unroll
			for (int i = 0; i < values; i++)
				if (has(i / each)) squares = fmaf(g[i], g[i], squares);
			float second = t.beta2 * moments.ofRow + t.oneMinusBeta2 * (sum(squares) / t.columns);
			scale = s.scale / (sqrtf(second) + s.epsilon);
			if (laneNumber() == 0) t.secondOfRow[row] = second;
		}
		uint32_t random = mix(rounding + row * golden);
#pragma unroll
		for (int i = 0; i < F; i++) {
			float w[each], mean[each], square[each];
#pragma unroll
			for (int k = 0; k < each; k++) {
				float y = g[each * i + k];
				w[k] = x[each * i + k];
				if constexpr (method != sgd) mean[k] = value(moments.m[i], k);
				if constexpr (method == adam) square[k] = value(moments.v[i], k);
				if constexpr (method == adam) adamValue(w[k], mean[k], square[k], y, t, s);
				else if constexpr (method == adamRow) momentumValue(w[k], mean[k], y, t, s.keep, scale);
				else w[k] = s.keep * w[k] - s.rate * y;
			}
			if (!has(i)) continue;
			size_t to = start(row) + at(i);
			Pairs<P> u;
			nearest(u, w);
			put((uint32_t *)t.left + to, u);
			lowerBits(u, w);
			putStream((uint32_t *)t.leftLow + to, u);
			if constexpr (method != sgd) {
				nearest(u, mean);
				putStream((uint32_t *)t.first + to, u);
			}
			if constexpr (method == adam) {
				atRandom(u, square, random + at(i) * golden);
				putStream((uint32_t *)t.second + to, u);
			}
		}
	}
};

// A multiprocessor must have registers for so many thread blocks of W warps.
#define CL(method, name, P, F, W, G, blocks) \
	extern "C" __global__ void __launch_bounds__(32 * W, blocks) tempered_half_##method##_##name(const __grid_constant__ TemperedLaunch a) { \
		temper<Rounded<P, F>, W, G, method>(a); \
	}
#define CL_METHODS(name, P, F, W, G, blocks) CL(adam, name, P, F, W, G, blocks) CL(adamRow, name, P, F, W, G, blocks) CL(sgd, name, P, F, W, G, blocks)

// For N up to 128 times the name.
CL_METHODS(1, 2, 1, 8, 8, 4)
CL_METHODS(2, 4, 1, 8, 4, 3)
CL_METHODS(4, 4, 2, 8, 4, 2)
CL_METHODS(6, 4, 3, 16, 2, 1)
CL_METHODS(8, 4, 4, 8, 2, 1)
