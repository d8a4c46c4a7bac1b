package devicetest

// virtualLanes are those of a row, on any number of GPUs: quad q of a row is with lane q mod virtualLanes.
const virtualLanes = 32

// splitDot is a dot product as cl_split.cu has it: each of some GPUs sums over its part of the dimensions, and gets the
// same sum of all parts. The bits do not depend on the number of GPUs.
func splitDot(a, b []float32, gpus int) float32 {
	parts := make([]float32, gpus)
	for g := range parts {
		parts[g] = partialDot(a, b, g, gpus)
	}
	sums := make([]float32, gpus)
	for g := range sums {
		got := make([]float32, gpus) // by GPU g, number i from GPU g^i
		for i := range got {
			got[i] = parts[g^i]
		}
		sums[g] = butterfly(got)
		if sums[g] != sums[0] && sums[0] == sums[0] {
			panic("GPUs have different sums")
		}
	}
	return sums[0]
}

// partialDot is what GPU g sums: over the lanes g, g + gpus, ...
func partialDot(a, b []float32, g, gpus int) float32 {
	lanes := make([]float32, virtualLanes/gpus)
	for i, x := range a {
		if lane := i / 4 % virtualLanes; lane%gpus == g {
			lanes[lane/gpus] += x * b[i]
		}
	}
	return butterfly(lanes)
}

// butterfly sums numbers of which there are a power of two, those far apart first.
func butterfly(x []float32) float32 {
	for d := len(x) / 2; d > 0; d /= 2 {
		for i := range d {
			x[i] += x[i+d]
		}
	}
	return x[0]
}
