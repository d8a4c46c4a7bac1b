package product

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Add computes the sum over k, for both views of a, for all small sizes and some
// that are no multiple of a tile, with gaps between rows.
func TestAdd(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	sizes := []int{0, 1, 2, 3, 5, 7, 16, 33, 100}
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range sizes {
				for _, view := range []string{"row-major", "transposed"} {
					gapB, gapC := r.IntN(3), r.IntN(3)
					data, b, c := random(m*k), random(k*(n+gapB)), random(m*(n+gapC))
					a := simd.RowMajor(data, k)
					if view == "transposed" {
						a = simd.Transposed(data, m)
					}
					want := make([]float64, len(c))
					for i, x := range c {
						want[i] = float64(x)
					}
					for i := range m {
						for j := range n {
							for l := range k {
								want[i*(n+gapC)+j] += float64(data[i*a.Row+l*a.Column]) * float64(b[l*(n+gapB)+j])
							}
						}
					}
					Add(c, n+gapC, a, b, n+gapB, m, n, k)
					for i, x := range want {
						if math.Abs(float64(c[i])-x) > 1e-4 {
							t.Fatalf("seed %d, %d x %d x %d, %s: value %d is %v, want %v", seed, m, n, k, view, i, c[i], x)
						}
					}
				}
			}
		}
	}
}
