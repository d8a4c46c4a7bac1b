//go:build !amd64 || noasm

package simd

// The functions of window.go never call these: the level is always Go.

func scores6(_ *float32, _ int, _ *float32, _ *uint32, _ int, _ *float32, _ *uint32, _ int) {
	panic("unreachable")
}

func update6(_ *float32, _ *uint32, _ *float32, _ *uint32, _ int, _ *float32, _ *uint32, _ int, _ *float32, _ int, _ *uint32) {
	panic("unreachable")
}

func gradients(_, _ *float32, _ *uint32, _ int, _ float32, _ *[8]float64) { panic("unreachable") }

func prefetchForUpdate(_ *float32, _ *uint32, _, _ int) { panic("unreachable") }
