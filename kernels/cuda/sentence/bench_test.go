//go:build gpu

package sentence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// benchmarkText is a text as long as 100 MB of Wikipedia, whose words are as frequent.
// Sentences have 1000 words.
func benchmarkText(b *testing.B) Options {
	const tokens, vocabulary = 16_700_000, 67_869
	counts := make([]uint64, vocabulary)
	weights := make([]float64, vocabulary)
	for i := range counts {
		weights[i] = 1 / (float64(i) + 2.7)
		counts[i] = max(5, uint64(1.6e6*weights[i]))
	}
	text, err := corpus.NewAlias(weights)
	if err != nil {
		b.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(counts, .75))
	if err != nil {
		b.Fatal(err)
	}
	c := Options{
		Mode: FullW2V, Batch: 24, Vocabulary: vocabulary, Negatives: 5, Seed: 1, Alias: noise.Table(), Counts: counts, Keep: corpus.KeepThresholds(counts, 1e-4),
		Tokens: make([]uint32, tokens), Epochs: benchmarkEpochs,
	}
	for i := range c.Tokens {
		c.Tokens[i] = text.Draw(rand.Uint32())
	}
	for first := 0; first < tokens; first += 1000 {
		c.Sentences = append(c.Sentences, first)
	}
	c.Sentences = append(c.Sentences, tokens)
	c.Units = []int{0, len(c.Sentences) - 1}
	return c
}

const benchmarkEpochs = 4

// Train words a second of FULL-W2V.
func BenchmarkFullW2V(b *testing.B) {
	c := benchmarkText(b)
	for _, x := range []struct {
		dim, radius, inFlight int
		choice
	}{
		{128, 3, 528, choice{}}, {128, 3, 1056, choice{}}, {128, 3, 1584, choice{}}, {128, 5, 1584, choice{}},
		{200, 3, 1584, choice{}}, {256, 3, 1584, choice{}}, {300, 3, 1584, choice{}}, {384, 3, 1584, choice{}}, {512, 3, 1584, choice{}}, {1000, 3, 1584, choice{}},
		{200, 5, 1584, choice{}}, {256, 5, 1584, choice{}}, {300, 5, 1584, choice{}}, {384, 5, 1584, choice{}}, {512, 5, 1584, choice{}}, {1000, 5, 1584, choice{}},
		{128, 3, 528, choice{half: true}}, {128, 3, 1056, choice{half: true}}, {128, 3, 1584, choice{half: true}}, {128, 5, 1584, choice{half: true}},
		{256, 3, 1056, choice{half: true}}, {300, 3, 1056, choice{half: true}}, {300, 5, 1056, choice{half: true}}, {1000, 3, 792, choice{half: true}},
	} {
		name := "float32"
		if x.half {
			name = "half"
		}
		b.Run(fmt.Sprintf("%s/N=%d/Wf=%d/inflight=%d", name, x.dim, x.radius, x.inFlight), func(b *testing.B) {
			c.Dim, c.Radius, c.InFlight, c.HalfPrecision = x.dim, x.radius, x.inFlight, x.half
			benchmark(b, c)
		})
	}
}

func benchmark(b *testing.B, c Options) {
	d := cudatest.Open(b)
	f := newKernelsOf(b, d, c)
	words, contexts := make([]float32, c.Vocabulary*c.Dim), make([]float32, c.Vocabulary*c.Dim)
	for i := range words {
		words[i] = (rand.Float32() - .5) / float32(c.Dim)
	}
	if err := f.SetTables(words, contexts); err != nil {
		b.Fatal(err)
	}
	var rates []float64
	var mean float64
	for b.Loop() {
		start := time.Now()
		losses, pairs := trainAll(b, f, testRate)
		rates = append(rates, float64(benchmarkEpochs*len(c.Tokens))/time.Since(start).Seconds())
		mean = total(losses) / total(pairs)
	}
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2]/1e6, "Mwords/s")
	b.ReportMetric(mean, "loss/pair")
}
