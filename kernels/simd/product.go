package simd

import "math"

// This file holds the kernels of the subword encoders: a dense product, and a
// convolution over characters that looks its products up.

// A Matrix is a view of a matrix in memory: element (i, j) is
// Data[i*Row+j*Column]. A transposed view exchanges Row and Column.
type Matrix struct {
	Data        []float32
	Row, Column int
}

// RowMajor returns the view of rows of n values.
func RowMajor(data []float32, n int) Matrix { return Matrix{Data: data, Row: n, Column: 1} }

// Transposed returns the transposed view of rows of n values.
func Transposed(data []float32, n int) Matrix { return Matrix{Data: data, Row: 1, Column: n} }

// productRows is the height of the tile of c that a kernel keeps in registers.
const productRows = 6

// AddProduct adds the product of a (m, k) and b (k, n) to c (m, n). c and b are
// in row-major order, with rows of strideC and strideB values; a is any view.
//
//	for i := range m {
//		for j := range n {
//			for l := range k { c[i*strideC+j] += a[i, l] * b[l*strideB+j] }
//		}
//	}
//
// AVX2 and AVX-512 fuse the multiplications and keep this order of the sums, so
// they give the same bits. c must not overlap a or b.
func AddProduct(c []float32, strideC int, a Matrix, b []float32, strideB, m, n, k int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	_, _, _ = c[(m-1)*strideC+n-1], b[(k-1)*strideB+n-1], a.Data[(m-1)*a.Row+(k-1)*a.Column]
	if current == Go {
		addProductGo(c, strideC, a, b, strideB, m, n, k)
		return
	}
	columns := productColumns(n)
	for j := 0; j < n; j += columns { // a panel of b stays in the first-level cache
		wide := min(columns, n-j)
		i := 0
		for ; i+productRows <= m; i += productRows {
			product6(&c[i*strideC+j], strideC, &a.Data[i*a.Row], a.Row, a.Column, &b[j], strideB, k, wide)
		}
		for ; i < m; i++ { // six times the same row
			product6(&c[i*strideC+j], 0, &a.Data[i*a.Row], 0, a.Column, &b[j], strideB, k, wide)
		}
	}
}

func addProductGo(c []float32, strideC int, a Matrix, b []float32, strideB, m, n, k int) {
	for i := range m {
		out := c[i*strideC:][:n]
		for l := range k {
			x, row := a.Data[i*a.Row+l*a.Column], b[l*strideB:][:n]
			for j := range out {
				out[j] += x * row[j]
			}
		}
	}
}

// ConvolutionLanes is the number of filters that ConvolveMax takes at a time. It
// must divide the number of all filters.
const ConvolutionLanes = 16

// NoPosition is ConvolveMax's position of a filter that is nowhere above the floor.
const NoPosition = math.MaxUint32

// ConvolveMax slides len(out) filters of the given width over the symbols of a
// word. out gets the maximum of each filter over all positions, or the floor if no value
// is above it; where gets the first position of the maximum, or NoPosition. The
// tables hold the products of symbols and filters: the values of symbol s at
// offset o of the filters are tables[o*size+s*len(out):][:len(out)].
//
//	for f := range out {
//		out[f], where[f] = floor, NoPosition
//		for t := range len(symbols)-width+1 {
//			x := 0
//			for o := range width { x += tables[o*size+symbols[t+o]*len(out)+f] }
//			if x > out[f] { out[f], where[f] = x, t }
//		}
//	}
//
// All levels give the same bits. len(out) must be a multiple of
// ConvolutionLanes; every symbol must have a row in the tables.
func ConvolveMax(out []float32, where []uint32, tables []float32, size int, symbols []uint32, width int, floor float32) {
	filters, positions := len(out), len(symbols)-width+1
	_ = where[:filters]
	if current == Go || filters == 0 || positions < 1 || width < 1 {
		convolveMaxGo(out, where, tables, size, symbols, width, floor)
		return
	}
	convolveMax(&out[0], &where[0], filters, &tables[0], size, &symbols[0], positions, width, floor)
}

func convolveMaxGo(out []float32, where []uint32, tables []float32, size int, symbols []uint32, width int, floor float32) {
	for f := range out {
		out[f], where[f] = floor, NoPosition
		for t := range len(symbols) - width + 1 {
			var x float32
			for o, s := range symbols[t : t+width] {
				x += tables[o*size+int(s)*len(out)+f]
			}
			if x > out[f] {
				out[f], where[f] = x, uint32(t)
			}
		}
	}
}
