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

// dotsMany and combineMany are the kernels for any number of rows, or do nothing and
// return false: only AVX-512 has them.
func dotsMany(out, left, table *float32, rows *uint32, count, n int) bool {
	if current == AVX512 {
		dotsAVX512(out, left, table, rows, count, n)
	}
	return current == AVX512
}

func combineMany(out, coefficients, table *float32, rows *uint32, count, n, add int, next *uint32) bool {
	if current == AVX512 {
		combineAVX512(out, coefficients, table, rows, count, n, add, next)
	}
	return current == AVX512
}

func combine6(out, coefficients, table *float32, rows *uint32, n, add int) {
	combine6AVX2(out, coefficients, table, rows, n, add)
}

func sumProducts(table *float32, n, columns int, sums []ProductSum, weights, a, b *float32) {
	if current == AVX512 {
		sumProductsAVX512(table, n, columns, &sums[0], len(sums), weights, a, b)
	} else {
		sumProductsAVX2(table, n, columns, &sums[0], len(sums), weights, a, b)
	}
}

func adam(w, m, v, g *float32, n int, s *AdamStep) {
	if current == AVX512 {
		adamAVX512(w, m, v, g, n, s)
	} else {
		adamAVX2(w, m, v, g, n, s)
	}
}

// The kernels below take a small part of a step, or wait for memory: one version
// serves both levels.

func dot(x, y *float32, n int) float32 { return dotAVX2(x, y, n) }

func momentum(w, m, g *float32, n int, beta1, rest, keep, scale float32) {
	momentumAVX2(w, m, g, n, beta1, rest, keep, scale)
}

func sgd(w, g *float32, n int, keep, rate float32) { sgdAVX2(w, g, n, keep, rate) }

func exchange(shared, own, before *float32, n int) { exchangeAVX2(shared, own, before, n) }

func philox(dst *uint32, eights int, seed, stream, counter uint64) {
	philoxAVX2(dst, eights, &[6]uint32{
		uint32(seed), uint32(seed >> 32), uint32(stream), uint32(stream >> 32), uint32(counter), uint32(counter >> 32),
	})
}

//go:noescape
func dots6AVX512(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dotsAVX512(out, left, table *float32, rows *uint32, count, n int)

//go:noescape
func dots6AVX2(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dotAVX2(x, y *float32, n int) float32

//go:noescape
func combineAVX512(out, coefficients, table *float32, rows *uint32, count, n, add int, next *uint32)

//go:noescape
func combine6AVX2(out, coefficients, table *float32, rows *uint32, n, add int)

//go:noescape
func sumProductsAVX512(table *float32, n, columns int, sums *ProductSum, count int, weights, a, b *float32)

//go:noescape
func sumProductsAVX2(table *float32, n, columns int, sums *ProductSum, count int, weights, a, b *float32)

//go:noescape
func adamAVX512(w, m, v, grad *float32, n int, s *AdamStep)

//go:noescape
func adamAVX2(w, m, v, grad *float32, n int, s *AdamStep)

//go:noescape
func momentumAVX2(w, m, grad *float32, n int, beta1, rest, keep, scale float32)

//go:noescape
func sgdAVX2(w, grad *float32, n int, keep, rate float32)

//go:noescape
func exchangeAVX2(shared, own, before *float32, n int)

//go:noescape
func philoxAVX2(dst *uint32, eights int, key *[6]uint32)

//go:noescape
func prefetch(table *float32, rows *uint32, count, n int)
