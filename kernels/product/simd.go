//go:build !openblas || !cgo

package product

import "github.com/w2vcl/w2vcl/kernels/simd"

// Add computes c += a b; see simd.AddProduct.
func Add(c []float32, strideC int, a simd.Matrix, b []float32, strideB, m, n, k int) {
	simd.AddProduct(c, strideC, a, b, strideB, m, n, k)
}
