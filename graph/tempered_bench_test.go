package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// benchmarkTempered times one step, without reading M, of rows with m samples on
// average, tempered by .75. Contexts are drawn as words are in a text.
func benchmarkTempered(b *testing.B, v, n int, m float64, shared int, method optim.Method) {
	c, err := testConfig(n, 5, 0, FormFused, method).withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	words, contexts, err := newTables(v, c)
	if err != nil {
		b.Fatal(err)
	}
	copy(contexts.data, words.data)
	r := rand.New(rand.NewPCG(1, 1))
	// Frequencies of a text under a subsampling threshold of 1e-4.
	weights, mean, sum := make([]float64, v), make([]float64, v), 0.0
	for i := range weights {
		f := .1 / float64(i+1)
		weights[i] = min(f, math.Sqrt(1e-4*f)+1e-4)
		mean[i] = math.Pow(weights[i], .75)
		sum += mean[i]
	}
	for i := range mean {
		mean[i] *= m * float64(v) / sum
	}
	noise, err := corpus.NewAlias(weights)
	if err != nil {
		b.Fatal(err)
	}
	s := &tempered.Sampler{Noise: noise, Negatives: 5, Shared: shared, Slots: make([]uint32, v+1), Updates: func(int) int { return 1 }}
	count := 0
	for i := range mean {
		width := int(mean[i] + .999999)
		share := int(mean[i] + r.Float64())
		for k := range width {
			x := uint32(wordcontext.NoSample)
			if k < share {
				x = noise.Draw(r.Uint32())
				count++
			}
			s.Samples = append(s.Samples, x)
		}
		s.Slots[i+1] = uint32(len(s.Samples))
	}
	blocks := tempered.Blocks(v, s, func(i int) float64 { return mean[i] })
	step, err := newTemperedStep(words, contexts, s, blocks, team.New(c.Threads), c)
	if err != nil {
		b.Fatal(err)
	}
	number, seconds := 0, math.Inf(1) // of the fastest step: other processes disturb
	for b.Loop() {
		number++
		start := time.Now()
		words.optimizer.Begin(number, .001)
		if _, err := step.run(); err != nil {
			b.Fatal(err)
		}
		seconds = min(seconds, time.Since(start).Seconds())
	}
	b.ReportMetric(seconds*1e3, "least-ms")
	flops := 4 * float64(n) * float64(v*shared+count)
	if shared == 0 {
		flops = 4 * float64(n) * float64(v*5+count)
	}
	b.ReportMetric(seconds*1e9/float64(count), "ns/sample")
	b.ReportMetric(flops/seconds/1e9, "GFLOP/s")
}

func BenchmarkTempered(b *testing.B) {
	const v = 18116
	for _, n := range []int{100, 300, 500} {
		b.Run(fmt.Sprintf("N=%d/today", n), func(b *testing.B) { benchmarkStep(b, v, n, FormFused, optim.Adam) })
		for _, m := range []float64{4, 8, 16} {
			for _, shared := range []int{0, 16, 32, 64} {
				for _, method := range []optim.Method{optim.Adam, optim.SGD} {
					b.Run(fmt.Sprintf("N=%d/m=%v/H=%d/%s", n, m, shared, method), func(b *testing.B) {
						benchmarkTempered(b, v, n, m, shared, method)
					})
				}
			}
		}
	}
}
