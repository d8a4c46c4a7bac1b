//go:build !amd64 || noasm

package simd

// The functions of product.go never call these: the level is always Go.

func productColumns(int) int { panic("unreachable") }

func product6(_ *float32, _ int, _ *float32, _, _ int, _ *float32, _, _, _ int) { panic("unreachable") }

func convolveMax(_ *float32, _ *uint32, _ int, _ *float32, _ int, _ *uint32, _, _ int, _ float32) {
	panic("unreachable")
}
