//go:build amd64 && !noasm

package simd

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
