//go:build !amd64 || noasm

package simd

func partialDots6(_, _, _ *float32, _ *uint32, _, _ int) { panic("simd: no vector level") }
