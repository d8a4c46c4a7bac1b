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
)

// benchmarkStep times one step, without reading M, of rows with one sample each. Contexts are drawn as words are in a text.
func benchmarkStep(b *testing.B, v, n int, method optim.Method) {
	const negatives = 5
	c, err := testOptions(n, negatives, 0, method).withDefaults()
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
	weights := make([]float64, v)
	for i := range weights {
		f := .1 / float64(i+1)
		weights[i] = min(f, math.Sqrt(1e-4*f)+1e-4)
	}
	noise, err := corpus.NewAlias(weights)
	if err != nil {
		b.Fatal(err)
	}
	s := &step.Sampler{Noise: noise, Negatives: negatives, Slots: make([]uint32, v+1)}
	for i := range v {
		s.Samples = append(s.Samples, noise.Draw(r.Uint32()))
		s.Slots[i+1] = uint32(len(s.Samples))
	}
	op := newStepNode(1, v, 0, team.New(c.Threads), c)
	op.core.Sampler, op.core.Blocks = s, step.Blocks(v, s, func(int) float64 { return 1 })
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
	b.ReportMetric(seconds*1e9/float64(v), "ns/sample")
	b.ReportMetric(4*float64(n)*float64(v*(negatives+1))/seconds/1e9, "GFLOP/s")
}

func BenchmarkStep(b *testing.B) {
	for _, v := range []int{18116, 67869, 200000} {
		for _, n := range []int{100, 300, 500} {
			for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.SGD} {
				b.Run(fmt.Sprintf("V=%d/N=%d/%s", v, n, method), func(b *testing.B) {
					benchmarkStep(b, v, n, method)
				})
			}
		}
	}
}
