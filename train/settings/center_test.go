package settings

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows lose the mean of W, and nothing else.
func TestCenter(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	v, n := 1+r.IntN(50), 1+r.IntN(20)
	words, rows, want := make([]float32, v*n), make([]float32, v*n), make([]float32, v*n)
	for i := range words {
		words[i], rows[i] = r.Float32()+1, r.Float32()
	}
	for j := range n {
		mean := 0.0
		for w := range v {
			mean += float64(words[w*n+j]) / float64(v)
		}
		for w := range v {
			want[w*n+j] = rows[w*n+j] - float32(mean)
		}
	}
	center(rows, words, n)
	for i, x := range want {
		if math.Abs(float64(rows[i]-x)) > 1e-6 {
			t.Fatalf("seed %d: value %d is %v, want %v", seed, i, rows[i], x)
		}
	}
	center(nil, nil, n) // no words
}
