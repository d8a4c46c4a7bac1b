//go:build !amd64 || noasm

package simd

var available = []Level{Go}

var current = Go

// Nobody calls these: the level is always Go.

func dotsMany(_, _, _ *float32, _ *uint32, _, _ int) bool                  { panic("unreachable") }
func combineMany(_, _, _ *float32, _ *uint32, _, _, _ int, _ *uint32) bool { panic("unreachable") }
func dots6(_, _, _ *float32, _ *uint32, _ int)                             { panic("unreachable") }
func dot(_, _ *float32, _ int) float32                                     { panic("unreachable") }
func combine6(_, _, _ *float32, _ *uint32, _, _ int)                       { panic("unreachable") }
func sumProducts(_ *float32, _, _ int, _ []ProductSum, _, _, _ *float32)   { panic("unreachable") }
func adam(_, _, _, _ *float32, _ int, _ *AdamStep)                         { panic("unreachable") }
func momentum(_, _, _ *float32, _ int, _, _, _, _ float32)                 { panic("unreachable") }
func sgd(_, _ *float32, _ int, _, _ float32)                               { panic("unreachable") }
func exchange(_, _, _ *float32, _ int)                                     { panic("unreachable") }
func philox(_ *uint32, _ int, _, _, _ uint64)                              { panic("unreachable") }
func prefetch(_ *float32, _ *uint32, _, _ int)                             { panic("unreachable") }

func productColumns(int) int { panic("unreachable") }

func product6(_ *float32, _ int, _ *float32, _, _ int, _ *float32, _, _, _ int) { panic("unreachable") }

func convolveMax(_ *float32, _ *uint32, _ int, _ *float32, _ int, _ *uint32, _, _ int, _ float32) {
	panic("unreachable")
}

func scores6(_ *float32, _ int, _ *float32, _ *uint32, _ int, _ *float32, _ *uint32, _ int) {
	panic("unreachable")
}

func update6(_ *float32, _ *uint32, _ *float32, _ *uint32, _ int, _ *float32, _ *uint32, _ int, _ *float32, _ int, _ *uint32) {
	panic("unreachable")
}

func gradients(_, _ *float32, _ *uint32, _ int, _ float32, _ *[8]float64) { panic("unreachable") }

func prefetchForUpdate(_ *float32, _ *uint32, _, _ int) { panic("unreachable") }

func scaled(_, _, _ *float32, _ int, _ *ScaledStep) { panic("unreachable") }

func scramble(_ *uint32, _ int, _ *Bijection) { panic("unreachable") }

func addToRows(_ *float32, _ *uint32, _ *float32, _ int, _ *float32, _ int, _ *uint32) {
	panic("unreachable")
}
