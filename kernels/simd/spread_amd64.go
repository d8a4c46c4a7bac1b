//go:build amd64 && !noasm

package simd

// It waits for memory: one version serves both levels.
func addToRows(table *float32, rows *uint32, coefficients *float32, count int, x *float32, n int, next *uint32) {
	addToRowsAVX2(table, rows, coefficients, count, x, n, next)
}

//go:noescape
func addToRowsAVX2(table *float32, rows *uint32, coefficients *float32, count int, x *float32, n int, next *uint32)
