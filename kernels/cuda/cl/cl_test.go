//go:build gpu

package cl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// newCase is W2V-CL on the CPU, M, and the same on the device.
func newCase(t testing.TB, d *cuda.Device, text string, dim, negatives int, seed uint64, o optim.Options, half bool) (trainer.Trainer, *Kernels, *wordcontext.Matrix) {
	t.Helper()
	c, noise := corpustest.Read(t, text)
	m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 2, Contexts: 40, Passes: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	reference, err := graph.NewCL(m, noise, 1000, graph.Options{Dim: dim, Negatives: negatives, Seed: seed, Optimizer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	k, err := New(d, Options{
		Rows: m.Rows(), Dim: dim, Negatives: negatives, Seed: seed, Alias: noise.Table(),
		Method: string(o.Method), Beta1: 0.9, Beta2: o.WithDefaults().Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay, HalfPrecision: half,
	})
	cudatest.Closes(t, k, err)
	words, contexts := reference.Tables()
	send(t, k, words, contexts)
	return reference, k, m
}

// send sends W and C.
func send(t testing.TB, k *Kernels, words, contexts []float32) {
	t.Helper()
	for name, values := range map[string][]float32{"words": words, "contexts": contexts} {
		if err := k.Send(name, values); err != nil {
			t.Fatal(err)
		}
	}
}

// received returns W and C.
func received(t testing.TB, k *Kernels) (words, contexts []float32) {
	t.Helper()
	words, contexts = make([]float32, k.options.Rows*k.options.Dim), make([]float32, k.options.Rows*k.options.Dim)
	for name, values := range map[string][]float32{"words": words, "contexts": contexts} {
		if err := k.Receive(name, values); err != nil {
			t.Fatal(err)
		}
	}
	return words, contexts
}

// An iteration is one for Start.
type iteration struct {
	number  int // counted from 0
	rate    float64
	columns [2][]uint32 // of M: of step 1 and step 2, V entries each
}

// iterations are those that package graph runs.
func iterations(m *wordcontext.Matrix, count int, rate float64) (all []iteration) {
	for n := range count {
		it := iteration{number: n, rate: rate}
		for step := range 2 {
			it.columns[step] = make([]uint32, m.Rows())
			m.Samples(step, n, 1, 0, m.Rows(), it.columns[step])
		}
		all = append(all, it)
	}
	return all
}

// train runs iterations one after the other and returns the loss of each.
func train(t testing.TB, k *Kernels, iterations []iteration) (losses []float64) {
	t.Helper()
	columns, err := k.Samples(0)
	if err != nil {
		t.Fatal(err)
	}
	v := k.options.Rows
	for part := range slices.Chunk(iterations, k.series) {
		var rates []float64
		for i, it := range part {
			for side, column := range it.columns {
				copy(columns[(side*k.series+i)*v:][:v], column)
			}
			rates = append(rates, it.rate)
		}
		if err := k.Start(0, part[0].number, rates); err != nil {
			t.Fatal(err)
		}
		got, _, err := k.Wait(0)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, got...)
	}
	return losses
}

// With epsilon 1e-8, the default, Adam makes a step of about the learning rate of
// any gradient, a rounding error's too: after 100 iterations the CPU's plain Go
// and its AVX-512 kernels differ by 2e-5 to 3e-3 themselves. A larger one keeps
// steps in proportion to gradients near zero, and so shows errors of the kernels.
const smooth = 1e-3

// loneWord is a sentence of a word that has no contexts.
const loneWord = "alone\n"

// A hundred iterations end in the tables of the Gorgonia graph.
func TestCL(t *testing.T) {
	d := cudatest.Open(t)
	type test struct {
		dim, negatives int
		method         optim.Method
	}
	var tests []test
	for _, dim := range append(cudatest.Dims(), 200, 700) {
		tests = append(tests, test{dim, 5, optim.Adam})
	}
	for _, k := range []int{1, 2, 7, 8, 31, 40} {
		tests = append(tests, test{20, k, optim.Adam}, test{600, k, optim.Adam})
	}
	for _, method := range []optim.Method{optim.AdamRow, optim.RMSProp, optim.AdaGrad, optim.SGD} {
		tests = append(tests, test{3, 5, method}, test{500, 5, method}, test{1024, 5, method})
	}
	for _, dim := range []int{100, 200, 300} {
		tests = append(tests, test{dim, 40, optim.RMSProp}, test{dim, 10, optim.AdaGrad})
	}
	for _, x := range tests {
		t.Run(fmt.Sprintf("%s/N=%d/K=%d", x.method, x.dim, x.negatives), func(t *testing.T) {
			const count = 2*SeriesLength + 8 // two graphs and a rest
			seed := cudatest.FreshSeed(t)
			reference, k, m := newCase(t, d, loneWord+corpustest.Zipf(seed, 20_000, 700, 40), x.dim, x.negatives, seed, optim.Options{Method: x.method, WeightDecay: .1, Epsilon: smooth}, false)
			losses := train(t, k, iterations(m, count, 1e-3))
			for n := range count {
				report, err := reference.Advance(t.Context(), n, 1e-3)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(losses[n]-report.Loss) > 1e-4*report.Loss {
					t.Fatalf("iteration %d: loss %v, want %v", n, losses[n], report.Loss)
				}
			}
			words, contexts := reference.Tables()
			gotWords, gotContexts := received(t, k)
			cudatest.Near(t, "words", gotWords, words, 1e-4)
			cudatest.Near(t, "contexts", gotContexts, contexts, 1e-4)
		})
	}
}

func TestConfigErrors(t *testing.T) {
	d := cudatest.Open(t)
	sound := Options{Rows: 2, Dim: 2, Negatives: 1, Alias: make([]uint32, 4), Method: "adam"}
	for want, change := range map[string]func(c *Options){
		"unknown to the CUDA kernels": func(c *Options) { c.Method = "lion" },
		"at most 1024":                func(c *Options) { c.Dim = 1025 },
		"there should be two a row":   func(c *Options) { c.Alias = c.Alias[:3] },
		"all must be at least 1":      func(c *Options) { c.Negatives = 0 },
	} {
		c := sound
		change(&c)
		if _, err := New(d, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
