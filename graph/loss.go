package graph

import "github.com/w2vcl/w2vcl/kernels/simd"

// descent is the rate at which simd.Gradients gives the gradient of the loss
// itself.
const descent = -1

// kindsOf returns the kinds of n scores, width of them a row, the positive first.
func kindsOf(n, width int) []uint32 {
	kinds := make([]uint32, n)
	for i := 0; i < n; i += width {
		kinds[i] = simd.Positive
	}
	return kinds
}
