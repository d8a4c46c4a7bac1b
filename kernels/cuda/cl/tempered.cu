// A step of W2V-CL as in tempered.cuh, with float32.
#include "tempered.cuh"

// Single is float32 values in rows of quads, of which a lane has every 32nd, at most F.
template <int F> struct Single {
	static constexpr int values = 4 * F, planes = 2;
	static constexpr bool early = F <= 2; // there are registers for moments while other rows of the tile are trained
	struct Left { float4 v[F]; };
	using Packed = Left;
	struct Moments { float4 m[F], v[F]; float ofRow; };

	const TemperedTable &t;
	uint32_t quads;

	__device__ __forceinline__ Single(const TemperedTable &t, const ClStep &) : t(t), quads(t.stride / 4) {}

	__device__ __forceinline__ static int number(int i) { return laneNumber() + 32 * i; }
	__device__ __forceinline__ bool has(int i) const { return number(i) < quads; }

	__device__ __forceinline__ void load(Left &r, uint32_t row) const {
		const float4 *from = (const float4 *)t.left + size_t(row) * quads;
#pragma unroll
		for (int i = 0; i < F; i++) r.v[i] = row != none && has(i) ? __ldcs(from + number(i)) : make_float4(0, 0, 0, 0);
	}

	template <Method method> __device__ __forceinline__ void load(Moments &r, uint32_t row) const {
		if (row == none) return;
		size_t from = size_t(row) * quads;
#pragma unroll
		for (int i = 0; i < F; i++) {
			if (!has(i)) continue;
			if constexpr (method != sgd) r.m[i] = __ldcs((const float4 *)t.first + from + number(i));
			if constexpr (method == adam) r.v[i] = __ldcs((const float4 *)t.second + from + number(i));
		}
		if constexpr (method == adamRow) r.ofRow = t.secondOfRow[row];
	}

	__device__ __forceinline__ void prefetch(uint32_t row) const {}

	__device__ __forceinline__ void gather(Packed &r, uint32_t row) const {
		const float4 *from = (const float4 *)t.right + size_t(row) * quads;
#pragma unroll
		for (int i = 0; i < F; i++) r.v[i] = has(i) ? __ldg(from + number(i)) : make_float4(0, 0, 0, 0);
	}

	__device__ __forceinline__ void values_(const Left &r, float (&x)[values]) const {
#pragma unroll
		for (int i = 0; i < F; i++) x[4 * i] = r.v[i].x, x[4 * i + 1] = r.v[i].y, x[4 * i + 2] = r.v[i].z, x[4 * i + 3] = r.v[i].w;
	}

	__device__ __forceinline__ float dot(const float (&x)[values], const Packed &r) const {
		float s = 0;
#pragma unroll
		for (int i = 0; i < F; i++) {
			s = fmaf(x[4 * i], r.v[i].x, s);
			s = fmaf(x[4 * i + 1], r.v[i].y, s);
			s = fmaf(x[4 * i + 2], r.v[i].z, s);
			s = fmaf(x[4 * i + 3], r.v[i].w, s);
		}
		return s;
	}

	__device__ __forceinline__ void add(float (&g)[values], float c, const Packed &r) const {
#pragma unroll
		for (int i = 0; i < F; i++) {
			g[4 * i] = fmaf(c, r.v[i].x, g[4 * i]);
			g[4 * i + 1] = fmaf(c, r.v[i].y, g[4 * i + 1]);
			g[4 * i + 2] = fmaf(c, r.v[i].z, g[4 * i + 2]);
			g[4 * i + 3] = fmaf(c, r.v[i].w, g[4 * i + 3]);
		}
	}

	__device__ __forceinline__ void add(float (&g)[values], const float *from) const {
#pragma unroll
		for (int i = 0; i < F; i++) {
			if (!has(i)) continue;
			float4 y = ((const float4 *)from)[number(i)];
			g[4 * i] += y.x, g[4 * i + 1] += y.y, g[4 * i + 2] += y.z, g[4 * i + 3] += y.w;
		}
	}

	__device__ __forceinline__ void store(float *to, const float (&g)[values]) const {
#pragma unroll
		for (int i = 0; i < F; i++)
			if (has(i)) ((float4 *)to)[number(i)] = make_float4(g[4 * i], g[4 * i + 1], g[4 * i + 2], g[4 * i + 3]);
	}

	// split writes a quad in two planes of bfloat16.
	__device__ __forceinline__ static void split(uint16_t *to, uint32_t plane, float4 x) {
		uint2 high, low;
		splitPair(x.x, x.y, high.x, low.x);
		splitPair(x.z, x.w, high.y, low.y);
		*(uint2 *)to = high;
		*(uint2 *)(to + plane) = low;
	}

	template <class Dense> __device__ __forceinline__ void keep(const Dense &d, int row, const Left &r) const {
#pragma unroll
		for (int i = 0; i < F; i++)
			if (number(i) < d.wide / 4) split(d.left + row * d.length + 4 * number(i), Dense::tileRows * d.length, r.v[i]);
	}

	template <class Dense> __device__ __forceinline__ void loadShared(const Dense &d, const TemperedTable &t, uint32_t first) const {
		uint32_t ofRow = d.wide / 4;
#pragma unroll 4
		for (uint32_t n = threadIdx.x; n < d.chunk * ofRow; n += blockDim.x) {
			uint32_t h = n / ofRow, i = n % ofRow;
			float4 x = make_float4(0, 0, 0, 0);
			if (first + h < t.shared && i < quads) x = __ldg((const float4 *)t.right + size_t(d.numbers[first + h]) * quads + i);
			split(d.right + h * d.length + 4 * i, d.chunk * d.length, x);
		}
	}

	template <Method method>
	__device__ __forceinline__ void update(uint32_t row, float (&x)[values], const float (&g)[values], Moments &moments, const ClStep &s) const {
		float scale = 0;
		if constexpr (method == adamRow) {
			float squares = 0;
#pragma unroll
			for (int i = 0; i < values; i++)
				if (has(i / 4)) squares = fmaf(g[i], g[i], squares);
			float second = t.beta2 * moments.ofRow + t.oneMinusBeta2 * (sum(squares) / t.columns);
			scale = s.scale / (sqrtf(second) + s.epsilon);
			if (laneNumber() == 0) t.secondOfRow[row] = second;
		}
		size_t to = size_t(row) * quads;
#pragma unroll
		for (int i = 0; i < F; i++) {
			float *m = &moments.m[i].x, *v = &moments.v[i].x;
#pragma unroll
			for (int k = 0; k < 4; k++) {
				float &w = x[4 * i + k], y = g[4 * i + k];
				if constexpr (method == adam) adamValue(w, m[k], v[k], y, t, s);
				else if constexpr (method == adamRow) momentumValue(w, m[k], y, t, s.keep, scale);
				else w = s.keep * w - s.rate * y;
			}
			if (!has(i)) continue;
			((float4 *)t.left)[to + number(i)] = make_float4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
			if constexpr (method != sgd) __stcs((float4 *)t.first + to + number(i), moments.m[i]);
			if constexpr (method == adam) __stcs((float4 *)t.second + to + number(i), moments.v[i]);
		}
	}
};

// For N up to 128 F. A multiprocessor must have registers for so many thread blocks of W
// warps.
#define CL(method, F, W, G, blocks) \
	extern "C" __global__ void __launch_bounds__(32 * W, blocks) tempered_##method##_##F(const __grid_constant__ TemperedLaunch a) { \
		temper<Single<F>, W, G, method>(a); \
	}
#define CL_METHODS(F, W, G, blocks) CL(adam, F, W, G, blocks) CL(adamRow, F, W, G, blocks) CL(sgd, F, W, G, blocks)

CL_METHODS(1, 8, 8, 3)
CL_METHODS(2, 8, 4, 2)
CL_METHODS(3, 16, 2, 1)
CL_METHODS(4, 16, 2, 1)
CL_METHODS(8, 8, 2, 1)
