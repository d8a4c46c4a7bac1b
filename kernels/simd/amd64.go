//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

var available = detect()
var current = available[len(available)-1]

func detect() []Level {
	levels := []Level{Go}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		levels = append(levels, AVX2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL {
			levels = append(levels, AVX512)
		}
	}
	return levels
}

func dots6(out, left, table *float32, rows *uint32, n int) {
	if current == AVX512 {
		dots6AVX512(out, left, table, rows, n)
	} else {
		dots6AVX2(out, left, table, rows, n)
	}
}

func combine6(out, coefficients, table *float32, rows *uint32, n, add int) {
	if current == AVX512 {
		combine6AVX512(out, coefficients, table, rows, n, add)
	} else {
		combine6AVX2(out, coefficients, table, rows, n, add)
	}
}

func adam(w, m, v, g *float32, n int, s *AdamStep) {
	if current == AVX512 {
		adamAVX512(w, m, v, g, n, s)
	} else {
		adamAVX2(w, m, v, g, n, s)
	}
}

// Eight scores at a time are enough for one row, so one version serves both.
func logistic(gradient, factors, scores *float32, n int) {
	logisticAVX2(gradient, factors, scores, n)
}

//go:noescape
func dots6AVX512(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dots6AVX2(out, left, table *float32, rows *uint32, n int)

//go:noescape
func combine6AVX512(out, coefficients, table *float32, rows *uint32, n, add int)

//go:noescape
func combine6AVX2(out, coefficients, table *float32, rows *uint32, n, add int)

//go:noescape
func adamAVX512(w, m, v, grad *float32, n int, s *AdamStep)

//go:noescape
func adamAVX2(w, m, v, grad *float32, n int, s *AdamStep)

//go:noescape
func logisticAVX2(gradient, factors, scores *float32, n int)

//go:noescape
func prefetch(table *float32, rows *uint32, count, n int)
