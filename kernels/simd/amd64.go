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

func scores6(out *float32, stride int, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int) {
	if current == AVX512 {
		scores6AVX512(out, stride, left, lefts, m, right, rights, n)
	} else {
		scores6AVX2(out, stride, left, lefts, m, right, rights, n)
	}
}

func update6(sums *float32, rows *uint32, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int, coefficients *float32, stride int, next *uint32) {
	if current == AVX512 {
		update6AVX512(sums, rows, left, lefts, m, right, rights, n, coefficients, stride, next)
	} else {
		update6AVX2(sums, rows, left, lefts, m, right, rights, n, coefficients, stride, next)
	}
}

func gradients(coefficients, scores *float32, kinds *uint32, n int, rate float32, products *[8]float64) {
	if current == AVX512 && n > 8 {
		gradientsAVX512(coefficients, scores, kinds, n, rate, products)
	} else {
		gradientsAVX2(coefficients, scores, kinds, n, rate, products)
	}
}

// productColumns is the width of product6's tiles for a product of n columns: at
// most 64 columns, shared out evenly, or 16.
func productColumns(n int) int {
	if current != AVX512 {
		return 16
	}
	vectors := (n + 15) / 16
	panels := (vectors + 3) / 4
	return (vectors + panels - 1) / panels * 16
}

func product6(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int) {
	if current == AVX512 {
		product6AVX512(c, strideC, a, row, column, b, strideB, k, columns)
	} else {
		product6AVX2(c, strideC, a, row, column, b, strideB, k, columns)
	}
}

func convolveMax(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32) {
	if current == AVX512 {
		convolveMaxAVX512(out, where, filters, tables, size, symbols, positions, width, floor)
	} else {
		convolveMaxAVX2(out, where, filters, tables, size, symbols, positions, width, floor)
	}
}

func scaled(w, v, g *float32, n int, s *ScaledStep) {
	if current == AVX512 {
		scaledAVX512(w, v, g, n, s)
	} else {
		scaledAVX2(w, v, g, n, s)
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

func scramble(x *uint32, eights int, b *Bijection) { scrambleAVX2(x, eights, b) }

func addToRows(table *float32, rows *uint32, coefficients *float32, count int, x *float32, n int, next *uint32) {
	addToRowsAVX2(table, rows, coefficients, count, x, n, next)
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

//go:noescape
func scores6AVX512(out *float32, stride int, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int)

//go:noescape
func scores6AVX2(out *float32, stride int, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int)

//go:noescape
func update6AVX512(sums *float32, rows *uint32, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int, coefficients *float32, stride int, next *uint32)

//go:noescape
func update6AVX2(sums *float32, rows *uint32, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int, coefficients *float32, stride int, next *uint32)

//go:noescape
func gradientsAVX2(coefficients, scores *float32, kinds *uint32, n int, rate float32, products *[8]float64)

//go:noescape
func gradientsAVX512(coefficients, scores *float32, kinds *uint32, n int, rate float32, products *[8]float64)

//go:noescape
func prefetchForUpdate(table *float32, rows *uint32, count, n int)

//go:noescape
func product6AVX512(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)

//go:noescape
func product6AVX2(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)

//go:noescape
func convolveMaxAVX512(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)

//go:noescape
func convolveMaxAVX2(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)

//go:noescape
func scaledAVX512(w, v, grad *float32, n int, s *ScaledStep)

//go:noescape
func scaledAVX2(w, v, grad *float32, n int, s *ScaledStep)

//go:noescape
func scrambleAVX2(x *uint32, eights int, b *Bijection)

//go:noescape
func addToRowsAVX2(table *float32, rows *uint32, coefficients *float32, count int, x *float32, n int, next *uint32)
