//go:build gpu

package cl

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// With half precision a table lies on the device in two planes of 16 bits a value:
// its rows rounded to bfloat16, and the lower 16 bits of the float32 values. Of frozen
// rows a step reads the first plane only. Both together give back every bit: see join in
// rounded.cuh. In either plane a row is padded to whole sectors, 16 values, or more.
//
// Moments are one plane of bfloat16.

// halfStride is the number of values of a row of either plane.
func halfStride(dim int) int { return cuda.Padded(dim, 2) }

// split makes the planes of (rows, dim) values.
func split(values []float32, dim int) (high, low []uint16) {
	stride := halfStride(dim)
	high = make([]uint16, len(values)/dim*stride)
	low = make([]uint16, len(high))
	eachRow(len(values)/dim, func(row int) {
		for i, x := range values[row*dim:][:dim] {
			high[row*stride+i], low[row*stride+i] = splitValue(x)
		}
	})
	return high, low
}

// join is the way back, which is exact, of the rows of a part, whose lower bits are in low.
func join(to []float32, high, low []uint16, dim int, rows part) {
	stride := halfStride(dim)
	eachRow(len(low)/stride, func(j int) {
		row := rows.number + j*rows.of
		for i := range dim {
			to[row*dim+i] = joinValue(high[row*stride+i], low[j*stride+i])
		}
	})
}

// splitValue rounds to the nearest bfloat16, of two as near the larger one by size.
func splitValue(x float32) (high, low uint16) {
	bits := math.Float32bits(x)
	return uint16((bits + 1<<15) >> 16), uint16(bits)
}

// joinValue undoes the rounding, which went up if the lower bits begin with a one.
func joinValue(high, low uint16) float32 {
	return math.Float32frombits(uint32(high-low>>15)<<16 | uint32(low))
}

// narrow rounds (rows, dim) moments to bfloat16, to the nearest.
func narrow(values []float32, dim int) []uint16 {
	stride := halfStride(dim)
	to := make([]uint16, len(values)/dim*stride)
	eachRow(len(values)/dim, func(row int) {
		for i, x := range values[row*dim:][:dim] {
			to[row*stride+i], _ = splitValue(x)
		}
	})
	return to
}

// widen is the way back, which is exact.
func widen(to []float32, values []uint16, dim int) {
	stride := halfStride(dim)
	eachRow(len(to)/dim, func(row int) {
		for i := range dim {
			to[row*dim+i] = math.Float32frombits(uint32(values[row*stride+i]) << 16)
		}
	})
}

// eachRow calls f for every row, from all processors.
func eachRow(rows int, f func(row int)) {
	cuda.Parallel(rows, func(first, end int) {
		for row := first; row < end; row++ {
			f(row)
		}
	})
}
