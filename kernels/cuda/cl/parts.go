package cl

import "github.com/w2vcl/w2vcl/kernels/cuda"

// MaxDevices is the largest number of devices that share the dimensions or the rows of a model: there may
// be 1, 2, 4 or 8.
const MaxDevices = 8

// A part is what a device has of something that devices share: of the dimensions the quads number, number + of, ...
// of each row, or of the rows those.
type part struct{ number, of int }

// SplitsRows is the one place that chooses the kernels of a step. Float32 rows with one sample each and their own negatives,
// which Adam trains, take columns.cu, and devices share the dimensions. All others take step.cuh, and devices share the
// rows. Traffic decides which: to share rows sends the values of each row, to share dimensions a number for each target.
func (c Options) SplitsRows() bool {
	return c.Method != "adam" || c.Shares != nil || c.SharedNegatives > 0 || c.HalfPrecision || c.composed
}

// count returns how many of some rows are the part's.
func (p part) count(rows int) int { return (rows - p.number + p.of - 1) / p.of }

// pickRows returns a part's rows of (rows, width) values, putRows is the way back.
func pickRows[T any](values []T, p part, width int) []T {
	if p.of == 1 {
		return values
	}
	own := make([]T, 0, p.count(len(values)/width)*width)
	for i := p.number; i*width < len(values); i += p.of {
		own = append(own, values[i*width:][:width]...)
	}
	return own
}

func putRows[T any](values, own []T, p part, width int) {
	for j := 0; j*width < len(own); j++ {
		copy(values[(p.number+j*p.of)*width:][:width], own[j*width:])
	}
}

// quads returns the float4s of a row of so many values on the device. A part's are enough for part 0, which
// has the most.
func (p part) quads(dim int) int {
	if p.of == 1 {
		return cuda.Quads(dim)
	}
	quads := (dim + 3) / 4
	return cuda.Quads(4 * ((quads + p.of - 1) / p.of))
}

// PaddedDim returns the length of a row of dim float32 values on each of some devices.
func PaddedDim(dim, devices int) int { return 4 * part{of: devices}.quads(dim) }

// each calls f for each quad of the part, with its place in a row of the part and its values in a whole
// row: the last may have fewer than four.
func (p part) each(dim int, f func(to, first, end int)) {
	for to, quad := 0, p.number; 4*quad < dim; to, quad = to+1, quad+p.of {
		f(4*to, 4*quad, min(4*quad+4, dim))
	}
}

// pack returns the part of (rows, dim) values, each row with zeros behind.
func (p part) pack(values []float32, dim int) []float32 {
	stride := 4 * p.quads(dim)
	packed := make([]float32, len(values)/dim*stride)
	for i := 0; i*dim < len(values); i++ {
		row, to := values[i*dim:][:dim], packed[i*stride:][:stride]
		p.each(dim, func(at, first, end int) { copy(to[at:], row[first:end]) })
	}
	return packed
}

// unpack is the way back. It leaves the values of other parts as they are.
func (p part) unpack(values, packed []float32, dim int) {
	stride := 4 * p.quads(dim)
	for i := 0; i*dim < len(values); i++ {
		row, from := values[i*dim:][:dim], packed[i*stride:][:stride]
		p.each(dim, func(at, first, end int) { copy(row[first:end], from[at:]) })
	}
}

// ExchangeBytes estimates the memory of each of some devices for what the others send it: of rows with so many
// negatives. Each warp has two times the numbers of its rows there.
func ExchangeBytes(rows, negatives, devices int) int64 {
	const warps = 148 * 36 // of the largest GPUs of today
	return 2 * 8 * int64(devices-1) * int64(min(rows+devices*36, warps*devices)) * int64(1+negatives)
}

// MessageBytes is the memory of each of some devices that exchange by messages (Rank): a place for each row and device.
func MessageBytes(rows, negatives, devices int) int64 {
	return 8 * int64(devices) * int64(rows) * int64(1+negatives)
}
