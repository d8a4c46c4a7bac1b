package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// benchmarkStep times one step, without reading M, of rows with m samples on average, tempered
// by .75, or of one sample each if m is 0. Contexts are drawn as words are in a text.
func benchmarkStep(b *testing.B, v, n int, m float64, shared int, method optim.Method) {
	c, err := testOptions(n, 5, 0, method).withDefaults()
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
		if mean[i] *= m * float64(v) / sum; m == 0 {
			mean[i] = 1
		}
	}
	noise, err := corpus.NewAlias(weights)
	if err != nil {
		b.Fatal(err)
	}
	s := &step.Sampler{Noise: noise, Negatives: 5, Shared: shared, Slots: make([]uint32, v+1)}
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
	op := newStepNode(1, v, 0, team.New(c.Threads), c)
	op.core.Sampler, op.core.Blocks = s, step.Blocks(v, s, func(i int) float64 { return mean[i] })
	g := newIteration()
	op.train(g, words, g.input("words", words.dense), g.input("contexts", contexts.dense))
	if err := g.compile(); err != nil {
		b.Fatal(err)
	}
	number, seconds := 0, math.Inf(1) // of the fastest step: other processes disturb
	for b.Loop() {
		number++
		start := time.Now()
		if err := g.run(number, .001); err != nil {
			b.Fatal(err)
		}
		seconds = min(seconds, time.Since(start).Seconds())
	}
	b.ReportMetric(seconds*1e3, "least-ms")
	negatives := 5
	if shared > 0 {
		negatives = shared
	}
	b.ReportMetric(seconds*1e9/float64(count), "ns/sample")
	b.ReportMetric(4*float64(n)*float64(v*negatives+count)/seconds/1e9, "GFLOP/s")
}

func BenchmarkStep(b *testing.B) {
	for _, v := range []int{18116, 67869, 200000} {
		for _, n := range []int{100, 300, 500} {
			for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.SGD} {
				b.Run(fmt.Sprintf("V=%d/N=%d/%s", v, n, method), func(b *testing.B) {
					benchmarkStep(b, v, n, 0, 0, method)
				})
			}
		}
	}
}

func BenchmarkTempered(b *testing.B) {
	for _, n := range []int{100, 300, 500} {
		for _, m := range []float64{4, 8, 16} {
			for _, shared := range []int{0, 16, 32, 64} {
				for _, method := range []optim.Method{optim.Adam, optim.SGD} {
					b.Run(fmt.Sprintf("N=%d/m=%v/H=%d/%s", n, m, shared, method), func(b *testing.B) {
						benchmarkStep(b, 18116, n, m, shared, method)
					})
				}
			}
		}
	}
}
