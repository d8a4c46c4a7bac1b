//go:build !amd64 || noasm

package simd

var available = []Level{Go}

var current = Go

// The functions of simd.go never call these: the level is always Go.

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
