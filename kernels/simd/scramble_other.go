//go:build !amd64 || noasm

package simd

// Scramble never calls it: the level is always Go.
func scramble(_ *uint32, _ int, _ *Bijection) { panic("unreachable") }
