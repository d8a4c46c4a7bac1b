// An iteration of large-batch CBOW on a stretch of the text, whose places have windows.
//
//	X: (V, N)  C: (V, N)  h: (T, N)  s: (T, N)  H shared negatives in either step
//	jobs    beside the iteration before: the jobs of rows that occur (step.cuh), and how often each was updated
//	means   h_p = mean of d_(q-p) * X over the places q in the window of place p, by element
//	(step 1 is step.cuh, with left C and frozen h; then with the new C)
//	errors  e_p = (sigmoid(C_t . h_p + bias) - 1) C_t + sum of K/H sigmoid(C_n . h_p + bias) C_n, t the word at p; in place of h_p: see stretch_errors.cu
//	back    s_q = sum over the windows p that have q in them of d_(q-p) * e_p, by element; and the gradient of d
//	rows    gradient of a row: sum of s_q over its places q / number of the windows
//
// d are weights of positions (graph.Options.Positions), or 1: then h is a plain mean.
#include "stretch.cuh"

// A thread of stretch_jobs has a job.
extern "C" __global__ void __launch_bounds__(256) stretch_jobs(const __grid_constant__ StretchArgs a) {
	startNext();
	const Stretch &s = a.stretch;
	uint32_t i = blockIdx.x * 256 + threadIdx.x;
	if (i == 0) {
		*s.tileCount = s.tiles;
		*s.next = 0;
		*a.loss = Loss{};
	}
	if (i >= s.tiles * tileRows) return;
	uint2 o = s.order[i];
	uint32_t row = none, start = 0, samples = 0;
	float updates = 1;
	if (o.x != none) {
		row = s.rows[o.x], start = s.slots[o.x], samples = s.slots[o.x + 1] - start;
		if ((o.y & 0xffff) == 0) updates = a.updates[row] += 1;
	}
	s.jobs[i] = jobOf(a.rule, row, start, samples, updates, o.y);
}

// A thread block of means and of back has a run of places, because neighbours share most of their windows, and a slice of the columns. It brings
// the rows of so many places at a time, and those around them, to shared memory. Slices are as wide as that allows: bytesOf in
// cbow_kernels.go knows what is there. A group of threads, one for each quad of the slice, has some neighbours.
constexpr int run = 128, together = 64, neighbours = 4; // places; cbow_kernels.go has the first two, and parts
constexpr int parts = 2;                                // that the places of together are in, of which the gradient of d is summed up

extern __shared__ float4 windowsMemory[];

__device__ __forceinline__ void addProduct(float4 &y, const float4 &a, const float4 &x) {
	y.x = fmaf(a.x, x.x, y.x);
	y.y = fmaf(a.y, x.y, y.y);
	y.z = fmaf(a.z, x.z, y.z);
	y.w = fmaf(a.w, x.w, y.w);
}

// Windows are those of a run. Places and offsets are those from W before the first on: place start - W is in rows[0], offset -W has number 0.
struct Windows {
	const StretchArgs &a;
	const int window, offsets, wide, quad, group, groups; // wide: quads of a slice
	const uint32_t slices, at, number, count;             // at: the thread's quad of a row; number: of the run
	const bool mine;                                      // the row has the quad
	float4 *weights, *rows, *words, *gradients;           // (offsets), (together + 2W), (together), (parts, offsets), of the thread's quad
	uint2 *bounds;                                        // (together + 2W) from and to of places

	__device__ __forceinline__ Windows(const StretchArgs &a)
		: a(a), window(a.stretch.window), offsets(2 * window + 1), wide(1 << a.slice), quad(threadIdx.x % wide), group(threadIdx.x >> a.slice), groups(blockDim.x >> a.slice),
		  slices((a.contexts.quads + wide - 1) >> a.slice), at((blockIdx.x % slices << a.slice) + quad), number(blockIdx.x / slices), count(a.stretch.count), mine(at < a.contexts.quads),
		  weights(windowsMemory + quad), rows(weights + offsets * wide), words(rows + (together + 2 * window) * wide), gradients(words + together * wide),
		  bounds((uint2 *)(windowsMemory + (offsets + together + 2 * window) * wide)) {
		if (a.positions.values) bounds = (uint2 *)(gradients - quad + parts * offsets * wide);
	}

	// bringWeights brings d, from the last offset to the first if back.
	__device__ __forceinline__ void bringWeights(bool back) const {
		for (int o = group; o < offsets; o += groups) {
			float one = mine && o != window;
			float4 d = make_float4(one, one, one, one);
			if (a.positions.values && one) d = a.positions.values[size_t(o - (o > window)) * a.positions.quads + at];
			weights[(back ? offsets - 1 - o : o) * wide] = d;
		}
	}

	__device__ __forceinline__ void copy(float4 *to, const float4 *table, uint32_t row, bool there) const {
		copyShared(sharedAt(to), table + (there ? size_t(row) * a.contexts.quads + at : 0), there ? 16 : 0);
	}

	// bring brings the rows of the places from start on, and those around them: of a table by place, or of X.
	__device__ __forceinline__ void bring(uint32_t start, const float4 *byPlace) const {
		const Stretch &s = a.stretch;
		const int tile = together + 2 * window;
		__syncthreads();
		for (int j = group; j < tile; j += groups) {
			const uint32_t place = start + j - window; // before place 0 it is too large
			const bool there = mine && place < count;
			copy(rows + j * wide, byPlace ? byPlace : a.composed, byPlace || !there ? place : s.words[place], there);
			if (byPlace && a.positions.values && j < together) copy(words + j * wide, a.composed, start + j < count ? s.words[start + j] : 0, mine && start + j < count);
		}
		for (int j = threadIdx.x; j < tile; j += blockDim.x) {
			const uint32_t place = start + j - window;
			bounds[j] = place < count ? make_uint2(s.from[place], s.to[place]) : make_uint2(none, 0);
		}
		arrivedShared();
		__syncthreads();
	}

	// sums sums up, for the places from p0 on, the rows around them times d: those in the window of the place, or if back those in
	// whose windows the place is. counts are how many.
	template <bool back> __device__ __forceinline__ void sums(uint32_t start, uint32_t p0, float4 (&sum)[neighbours], uint32_t (&counts)[neighbours]) const {
		float4 d[neighbours] = {};
		uint2 own[neighbours];
		const uint32_t first = p0 - start;
#pragma unroll
		for (int r = 0; r < neighbours; r++) sum[r] = make_float4(0, 0, 0, 0), counts[r] = 0, own[r] = bounds[first + r + window];
		for (int i = 0; i < 2 * window + neighbours; i++) {
			const float4 x = rows[(first + i) * wide];
			const uint32_t q = p0 + i - window;
			const uint2 others = bounds[first + i];
#pragma unroll
			for (int r = neighbours - 1; r; r--) d[r] = d[r - 1];
			d[0] = i < offsets ? weights[i * wide] : make_float4(0, 0, 0, 0);
#pragma unroll
			for (int r = 0; r < neighbours; r++) {
				const uint2 b = back ? others : own[r];
				const uint32_t inner = back ? p0 + r : q;
				if (b.x <= inner && inner < b.y && q != p0 + r) addProduct(sum[r], d[r], x), counts[r]++;
			}
		}
	}

	// addGradients adds, for each offset, e_p X_q / words in the window of p, over the places q from start on.
	__device__ __forceinline__ void addGradients(uint32_t start) const {
		constexpr int each = 4;
		for (int unit = group; unit < parts * ((offsets + each - 1) / each); unit += groups) {
			const int o = unit / parts * each, first = unit % parts * (together / parts), toRow = 2 * window - o; // q - start and this are the row of p
			float4 sum[each] = {}, e[each];
			uint2 b[each];
			auto next = [&](int j) {
#pragma unroll
				for (int k = each - 1; k; k--) e[k] = e[k - 1], b[k] = b[k - 1];
				b[0] = bounds[max(j, 0)];
				const float share = 1.0f / (b[0].y - b[0].x - 1);
				const float4 x = rows[max(j, 0) * wide];
				e[0] = make_float4(share * x.x, share * x.y, share * x.z, share * x.w);
			};
#pragma unroll
			for (int k = each - 1; k; k--) next(first + toRow - k);
			for (int i = first; i < first + together / parts; i++) {
				next(i + toRow);
				const float4 x = words[i * wide];
				const uint32_t q = start + i;
#pragma unroll
				for (int k = 0; k < each; k++)
					if (b[k].x <= q && q < b[k].y) addProduct(sum[k], e[k], x);
			}
#pragma unroll
			for (int k = 0; k < each; k++)
				if (o + k < offsets) add(gradients[(unit % parts * offsets + o + k) * wide], 1, sum[k]);
		}
	}

	__device__ __forceinline__ void storeGradients() const {
		__syncthreads();
		for (int o = group; o < offsets; o += groups) {
			if (!mine || o == window) continue;
			float4 g = gradients[o * wide];
			for (int p = 1; p < parts; p++) add(g, 1, gradients[(p * offsets + o) * wide]);
			a.ofPositions[(size_t(number) * 2 * window + o - (o > window)) * a.contexts.quads + at] = g;
		}
	}
};

template <bool back> __device__ __forceinline__ void windows(const StretchArgs &a) {
	const Windows t(a);
	const uint32_t end = min(t.count, (t.number + 1) * run);
	const bool trains = back && a.positions.values;
	for (int o = t.group; trains && o < parts * t.offsets; o += t.groups) t.gradients[o * t.wide] = make_float4(0, 0, 0, 0);
	awaitInputs();
	t.bringWeights(back);
	for (uint32_t start = t.number * run; start < end; start += together) {
		t.bring(start, back ? a.means : nullptr);
		for (uint32_t p0 = start + neighbours * t.group; p0 < min(end, start + together); p0 += neighbours * t.groups) {
			float4 sum[neighbours];
			uint32_t counts[neighbours];
			t.sums<back>(start, p0, sum, counts);
#pragma unroll
			for (int r = 0; r < neighbours; r++) {
				if (p0 + r >= end || !t.mine) break;
				const float share = back ? 1 : 1.0f / counts[r];
				__stcs((back ? a.sums : a.means) + size_t(p0 + r) * a.contexts.quads + t.at, make_float4(share * sum[r].x, share * sum[r].y, share * sum[r].z, share * sum[r].w));
				if (back && t.at == 0) a.inside[p0 + r] = counts[r];
			}
		}
		if (trains) t.addGradients(start);
	}
	if (trains) t.storeGradients();
}

extern "C" __global__ void __launch_bounds__(32 * blockWarps, 2) stretch_means(const __grid_constant__ StretchArgs a) { windows<false>(a); }
extern "C" __global__ void __launch_bounds__(32 * blockWarps, 2) stretch_back(const __grid_constant__ StretchArgs a) { windows<true>(a); }

// addPlaces adds up what places have from a slot on: s, and in how many windows they are.
template <int F> __device__ __forceinline__ void addPlaces(Row<F> &sum, uint32_t &windows, const StretchArgs &a, uint32_t slot, uint32_t count) {
	constexpr int ahead = F <= 2 ? 4 : 2; // places on their way together
	const int quads = a.contexts.quads, l = laneNumber();
	for (uint32_t done = 0; done < count; done += 32) {
		const bool mine = done + l < count;
		const uint32_t places = mine ? a.stretch.places[slot + done + l] : 0;
		if (mine) windows += a.inside[places];
		int k = 0;
		inSome<ahead>(min(32u, count - done), [&](auto some) {
			constexpr int n = decltype(some)::value;
			Row<F> r[n];
#pragma unroll
			for (int i = 0; i < n; i++) {
				const float4 *s = a.sums + size_t(__shfl_sync(warp, places, k++)) * quads + l;
#pragma unroll
				for (int f = 0; f < F; f++) r[i].v[f] = has<F>(f, quads) ? __ldcs(s + 32 * f) : make_float4(0, 0, 0, 0);
			}
#pragma unroll
			for (int i = 0; i < n; i++) add(sum, 1, r[i]);
		});
	}
}

// position trains row number k of d. The warps add up the runs by turns.
template <int F, class method> __device__ __forceinline__ void position(const StretchArgs &a, uint32_t k, float4 (&sumOf)[blockWarps][32 * F]) {
	const int w = warpOfBlock(), quads = a.contexts.quads;
	const uint32_t runs = (a.stretch.count + run - 1) / run, rows = 2 * a.stretch.window;
	Row<F> g = zeros<F>();
#pragma unroll 4
	for (uint32_t r = w; r < runs; r += blockWarps) add(g, 1, load<F>(a.ofPositions + (size_t(r) * rows + k) * quads, quads));
	store(sumOf[w], 32 * F, g);
	__syncthreads();
	if (w) return;
	for (int other = 1; other < blockWarps; other++) add(g, 1, load<F>(sumOf[other], 32 * F));
	scale(g, 1.0f / a.stretch.count);
	updateRow<method>(a.positions, a.stretch.steps[2], k, g);
}

// rows trains the rows of a tile of jobs, and writes what their parts are to be trained by. The first thread blocks train d.
template <int F, class method> __device__ __forceinline__ void rows(const StretchArgs &a) {
	__shared__ float4 sumOf[blockWarps][32 * F];
	__shared__ uint32_t windowsOf[blockWarps];
	const uint32_t w = warpOfBlock(), positions = a.positions.values ? 2 * a.stretch.window : 0;
	if (blockIdx.x < positions) {
		awaitInputs();
		return position<F, method>(a, blockIdx.x, sumOf);
	}
	// A lane has a word of the job.
	const uint32_t job = ((const uint32_t *)(a.stretch.jobs + (blockIdx.x - positions) * tileRows + w))[laneNumber() % (sizeof(Job) / 4)];
	auto word = [&](int i) { return __shfl_sync(warp, job, i); };
	const uint32_t row = word(0), pieces = word(7);
	const bool owner = row != none && word(6) == 0;
	if (a.words.values && owner) prefetch<method>(a.words, row);
	awaitInputs();
	Row<F> g = zeros<F>();
	uint32_t all = 0;
	addPlaces(g, all, a, word(1), word(2));
	all = __reduce_add_sync(warp, all);
	if (pieces > 1) { // so it is in all jobs of the tile
		if (!owner) store(sumOf[w], 32 * F, g);
		if (laneNumber() == 0) windowsOf[w] = all;
		__syncthreads();
		for (uint32_t other = w + 1; owner && other < w + pieces; other++) {
			add(g, 1, load<F>(sumOf[other], 32 * F));
			all += windowsOf[other];
		}
	}
	if (!owner) return;
	scale(g, 1.0f / all);
	if (a.ofParts.trained) a.ofParts.keep(row, row, g, a.ofParts.weights[row], a.stretch.steps[1].stream);
	const float2 corrections = make_float2(__uint_as_float(word(4)), __uint_as_float(word(5)));
	if (a.words.values) updateRow<method>(a.words, numbersOf<method>(a.rule, a.stretch.steps[0], corrections, word(3)), row, g);
}

#define ROWS(method, F) \
	extern "C" __global__ void __launch_bounds__(32 * blockWarps, residentBlocks(F)) stretch_rows_##method##_##F(const __grid_constant__ StretchArgs a) { rows<F, method>(a); }
#define ROWS_OF_SIZE(F, ...) METHODS(ROWS, F)

// For N up to 128 F.
SIZES(ROWS_OF_SIZE)
