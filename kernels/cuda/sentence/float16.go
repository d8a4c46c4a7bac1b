//go:build gpu

package sentence

import "math"

// halves rounds values to float16, as IEEE 754 has it: to the nearest, of two as
// near the even one.
func halves(to []uint16, values []float32) {
	for i := range to {
		to[i] = half(values[i])
	}
}

// floats is the way back, which is exact.
func floats(to []float32, values []uint16) {
	for i := range to {
		to[i] = float(values[i])
	}
}

func half(x float32) uint16 {
	bits := math.Float32bits(x)
	sign, size := uint16(bits>>16)&0x8000, bits&0x7fffffff
	switch {
	case size > 0x7f800000: // not a number
		return sign | 0x7e00
	case size >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case size < 0x38800000: // less than the least normal number: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(size))*(1<<24)))
	}
	size -= 112 << 23 // the exponents begin elsewhere
	return sign | uint16((size+0xfff+size>>13&1)>>13)
}

func float(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
