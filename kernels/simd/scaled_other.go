//go:build !amd64 || noasm

package simd

// Scaled never calls it: the level is always Go.
func scaled(_, _, _ *float32, _ int, _ *ScaledStep) { panic("unreachable") }
