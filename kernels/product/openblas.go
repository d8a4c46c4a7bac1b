//go:build openblas && cgo

package product

// #cgo LDFLAGS: -lopenblas
// extern void cblas_sgemm(int order, int transA, int transB, int m, int n, int k,
//	float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
// extern void openblas_set_num_threads(int);
import "C"

import (
	"unsafe"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

func init() {
	C.openblas_set_num_threads(1) // callers run several products at a time, one a thread
}

// Constants of cblas.h.
const (
	rowMajor      = 101
	notTransposed = 111
	transposed    = 112
)

// Add computes c += a b, as simd.AddProduct does. It calls simd.AddProduct itself
// for a view that is neither row-major nor transposed, and at the level simd.Go.
func Add(c []float32, strideC int, a simd.Matrix, b []float32, strideB, m, n, k int) {
	order, strideA := C.int(notTransposed), a.Row
	if a.Column != 1 {
		order, strideA = transposed, a.Column
	}
	if m == 0 || n == 0 || k == 0 || a.Row != 1 && a.Column != 1 || simd.Current() == simd.Go {
		simd.AddProduct(c, strideC, a, b, strideB, m, n, k)
		return
	}
	// OpenBLAS does not look at the lengths.
	_, _, _ = c[(m-1)*strideC+n-1], b[(k-1)*strideB+n-1], a.Data[(m-1)*a.Row+(k-1)*a.Column]
	columnsA := k
	if order == transposed {
		columnsA = m
	}
	C.cblas_sgemm(rowMajor, order, notTransposed, C.int(m), C.int(n), C.int(k), 1,
		pointer(a.Data), C.int(max(strideA, columnsA)), pointer(b), C.int(max(strideB, n)), 1, pointer(c), C.int(max(strideC, n)))
}

func pointer(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }
