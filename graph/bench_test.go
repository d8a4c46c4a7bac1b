package graph

import (
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
)

// benchmarkHalfStep times one of the two steps, sampling included, and reports
// the share of the table traffic the step cannot avoid: read and write of w, m
// and v.
func benchmarkHalfStep(b *testing.B, v, n int, form Form) {
	c, err := testConfig(n, 5, 0, form, optim.Adam).withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	words, contexts, err := newTables(v, c)
	if err != nil {
		b.Fatal(err)
	}
	copy(contexts.data, words.data)
	r := rand.New(rand.NewPCG(1, 1))
	column := make([]uint32, v)
	for i := range column {
		column[i] = uint32(r.IntN(v))
	}
	t := &sampler{noise: uniformNoise(b, v), negatives: 5, column: column}
	s, err := newHalfStep(words, contexts, t, c)
	if err != nil {
		b.Fatal(err)
	}
	step := 0
	b.ReportAllocs()
	b.SetBytes(6 * 4 * int64(v) * int64(n))
	for b.Loop() {
		step++
		words.optimizer.Begin(step, .001)
		if _, err := s.run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHalfStep(b *testing.B) {
	b.Logf("simd level %s", simd.Current())
	for _, n := range []int{100, 500} {
		name := map[int]string{100: "N=100", 500: "N=500"}[n]
		b.Run("V=18498/"+name+"/fused", func(b *testing.B) { benchmarkHalfStep(b, 18498, n, FormFused) })
		b.Run("V=18498/"+name+"/stock", func(b *testing.B) { benchmarkHalfStep(b, 18498, n, FormStock) })
	}
}
