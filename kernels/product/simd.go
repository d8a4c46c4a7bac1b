//go:build !openblas || !cgo

package product

import "github.com/w2vcl/w2vcl/kernels/simd"

// Add is simd.AddProduct: c += a b.
func Add(c []float32, strideC int, a simd.Matrix, b []float32, strideB, m, n, k int) {
	simd.AddProduct(c, strideC, a, b, strideB, m, n, k)
}
