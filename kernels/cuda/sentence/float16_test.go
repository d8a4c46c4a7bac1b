//go:build gpu

package sentence

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every float16 comes back from float32.
func TestFloat16Every(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		x := float(h)
		if h&0x7fff > 0x7c00 {
			if !math.IsNaN(float64(x)) || !math.IsNaN(float64(float(half(x)))) {
				t.Fatalf("%#x is %v, and comes back as %v", h, x, float(half(x)))
			}
		} else if got := half(x); got != h {
			t.Fatalf("%#x is %v, which is %#x", h, x, got)
		}
	}
}

// A value between two float16 goes to the nearer one, from the middle to the even one, and
// beyond the largest to infinity.
func TestFloat16Rounds(t *testing.T) {
	for range 100_000 {
		h := uint16(rand.IntN(0x7c00))
		low, high := float64(float(h)), float64(float(h+1))
		if h == 0x7bff {
			high = 65536
		}
		for _, at := range []float64{rand.Float64(), .5, math.Nextafter(.5, 0), math.Nextafter(.5, 1)} {
			x := float32(low + (high-low)*at)
			want := h
			if middle := (low + high) / 2; float64(x) > middle || float64(x) == middle && h&1 == 1 {
				want = h + 1
			}
			if got := half(x); got != want {
				t.Fatalf("%v between %v and %v is %#x, want %#x", x, low, high, got, want)
			}
			if got := half(-x); got != want|0x8000 {
				t.Fatalf("%v is %#x, want %#x", -x, got, want|0x8000)
			}
		}
	}
}
