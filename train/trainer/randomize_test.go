package trainer

import (
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

func TestRandomize(t *testing.T) {
	const dim, seed = 3, 42
	table := make([]float32, 600_001) // more than a goroutine does at a time, and than is drawn
	Randomize(table, dim, seed)
	for i, got := range table {
		bits := corpus.Philox(seed, corpus.StreamInitWords, uint64(i/4))[i%4]
		if want := (float32(bits>>8)/(1<<24) - 0.5) / dim; got != want {
			t.Fatalf("value %d is %v, want %v", i, got, want)
		}
	}
}

func TestUniform(t *testing.T) {
	const limit, seed, parameter = 0.3, 42, 7
	for _, n := range []int{0, 1, 4095, 4097, 100_001} {
		values := make([]float32, n)
		Uniform(values, limit, seed, parameter)
		for i, got := range values {
			bits := corpus.Philox(seed, corpus.StreamInitEncoder.Sub(parameter), uint64(i/4))[i%4]
			if want := float32((float64(bits>>8)/(1<<23) - 1) * limit); got != want {
				t.Fatalf("value %d of %d is %v, want %v", i, n, got, want)
			}
		}
	}
}
