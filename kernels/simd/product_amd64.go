//go:build amd64 && !noasm

package simd

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

//go:noescape
func product6AVX512(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)

//go:noescape
func product6AVX2(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)

//go:noescape
func convolveMaxAVX512(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)

//go:noescape
func convolveMaxAVX2(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)
