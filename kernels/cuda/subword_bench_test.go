//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/subword"
)

// BenchmarkSubword is a step of W2V-CL with an encoder: forward, loss, backward and
// Adam on all parameters, of the vocabulary of 18,498 words of 16 symbols, K = 5;
// and beside it step 2, which updates the contexts.
func BenchmarkSubword(b *testing.B) {
	d := open(b)
	const v = 18498
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]string, v)
	for i := range words {
		var w strings.Builder
		for range 14 {
			w.WriteByte(byte('a' + min(r.IntN(26), r.IntN(26))))
		}
		words[i] = w.String()
	}
	for _, n := range []int{100, 128, 500} {
		for _, name := range []string{"cnn", "cnn+words", "ngrams"} {
			b.Run(fmt.Sprintf("N=%d/%s", n, name), func(b *testing.B) { benchmarkEncoder(b, d, r, words, n, name) })
		}
	}
}

func benchmarkEncoder(b *testing.B, d *Device, r *rand.Rand, words []string, n int, name string) {
	var e subword.Encoder
	var err error
	if name == "ngrams" {
		e, err = subword.NewNGrams(words, subword.NGramOptions{Dim: n})
	} else {
		e, err = subword.NewCNN(words, subword.CNNOptions{Dim: n})
	}
	if err != nil {
		b.Fatal(err)
	}
	if name == "cnn+words" {
		e = subword.WithWords(e)
	}
	e.Randomize(1)
	counts := make([]float64, len(words))
	for i := range counts {
		counts[i] = 1 / float64(1+i)
	}
	noise, err := corpus.NewAlias(counts)
	if err != nil {
		b.Fatal(err)
	}
	s, err := subword.StructureOf(e)
	if err != nil {
		b.Fatal(err)
	}
	cl, err := d.NewEncodedCL(CLConfig{
		Rows: len(words), Dim: n, Negatives: 5, Seed: 1, Alias: noise.Table(), Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8,
	}, EncoderConfig(s))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	for _, p := range e.Parameters() {
		if err := cl.Send(p.Name, p.Value.Float32s()); err != nil {
			b.Fatal(err)
		}
	}
	if err := cl.Send("contexts", randomFloats(r, len(words)*n)); err != nil {
		b.Fatal(err)
	}
	column := make([]uint32, clBlock*len(words))
	for i := range column {
		column[i] = noise.Draw(r.Uint32())
	}
	steps := make([]clStep, clBlock)
	for i := range steps {
		steps[i] = cl.config.step(CLIteration{Number: 100 + i/2, Rate: 1e-3}, i%2)
	}
	var both, first *recording
	err = d.do(func() (err error) {
		if err := errors.Join(send(cl.columns, column), send(cl.CL.steps, steps), send(cl.steps, steps[:CLBlock])); err != nil {
			return err
		}
		if both, err = record(d.stream, func() error { return cl.launchEach(CLBlock) }); err != nil {
			return err
		}
		first, err = record(d.stream, func() error {
			for i := range CLBlock {
				if err := cl.trainEncoder(i); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	run := func(graph *recording, times int) {
		err := d.do(func() error {
			for range times {
				if err := graph.launch(d.stream); err != nil {
					return err
				}
			}
			return d.stream.Synchronize()
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	run(both, 1)
	start := time.Now()
	run(both, b.N)
	iteration := time.Since(start)
	b.ResetTimer()
	run(first, b.N)
	perBlock := float64(b.N * CLBlock)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/perBlock, "µs/step")
	b.ReportMetric(float64(iteration.Microseconds())/perBlock, "µs/iteration")
	_ = d.do(func() error { return errors.Join(both.free(), first.free()) })
}
