// Lines of a table that several GPUs share, as they share rows: GPU g of G has made the lines g, g + G, ... and writes them into the
// memory of all. So sums of parts, one a line, have the same order on all GPUs.
#define SEVERAL true
#include "meet.cuh"

struct Lines {
	const float4 *from;     // (lines, line)
	float4 *to[mostOthers]; // the same, on the other GPUs
	uint32_t line, meets;   // float4s of a line; whether GPUs have all lines when the kernel ends
	Sharing sharing;        // tag: how often GPUs have met here; own: lines
};

extern "C" __global__ void __launch_bounds__(256) lines_share(const __grid_constant__ Lines a) {
	const Sharing &s = a.sharing;
	for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < s.own * a.line; i += gridDim.x * 256) {
		size_t at = size_t(s.row(i / a.line)) * a.line + i % a.line;
		float4 x = a.from[at];
		for (uint32_t n = 0; n < s.others; n++) a.to[n][at] = x;
	}
	if (!a.meets || !tellOthers(s)) return;
	uint32_t tag = *s.tag + s.number;
	for (uint32_t n = 0; n < s.others; n++) awaitOther(s, n, tag);
	*s.tag = tag;
}
