//go:build gpu

package sentence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
)

// eachMode runs a test for every mode but FULL-W2V, which has tests of its own.
func eachMode(t *testing.T, test func(t *testing.T, c sequential.Options)) {
	for _, m := range modes {
		if m.mode != FullW2V {
			t.Run(string(m.mode), func(t *testing.T) { test(t, m.Options) })
		}
	}
}

// With one sentence in flight, the tables of every mode equal those of the CPU.
func TestModes(t *testing.T) {
	d := cudatest.Open(t)
	type shape struct{ dim, window, negatives int }
	var tests []shape
	for _, dim := range []int{1, 50, 128, 129, 300, 384, 500, 640, 1000} {
		tests = append(tests, shape{dim, 5, 5})
	}
	for _, k := range []int{1, 3, 7, 15} {
		tests = append(tests, shape{20, 5, k}, shape{300, 5, k})
	}
	for _, w := range []int{1, 2, 10, 15} {
		tests = append(tests, shape{128, w, 5}, shape{300, w, 5})
	}
	eachMode(t, func(t *testing.T, c sequential.Options) {
		for _, x := range tests {
			for _, vocabulary := range []int{20, 400} {
				t.Run(fmt.Sprintf("N=%d/W=%d/K=%d/V=%d", x.dim, x.window, x.negatives, vocabulary), func(t *testing.T) {
					c.Dim, c.Window, c.Negatives, c.Epochs, c.Seed = x.dim, x.window, x.negatives, 2, cudatest.FreshSeed(t)
					if !modeOf(c).Dynamic() && x.window == 15 {
						c.Window = 30 // as many words in a window
					}
					if vocabulary > 20 {
						c.Sample = 1e-2
					}
					reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 800, vocabulary, 40), c, 1, choice{})
					same(t, reference, f, 1e-5)
				})
			}
		}
	})
}

// Rows of C whose share is zero stay as they are, and no others.
func TestContextSharesKept(t *testing.T) {
	d := cudatest.Open(t)
	for _, m := range modes {
		for _, half := range []bool{false, true} {
			if LimitsOf(m.mode, half).Negatives < 5 {
				continue
			}
			t.Run(fmt.Sprintf("%s/half=%v", m.mode, half), func(t *testing.T) {
				c := m.Options
				c.Dim, c.Window, c.Negatives, c.Epochs, c.Seed = 60, 5, 5, 1, cudatest.FreshSeed(t)
				_, f := newCase(t, d, corpustest.Zipf(c.Seed, 500, 30, 40), c, 1, choice{half: half})
				if !f.options.sharesContexts() {
					t.Skip("all of each change is added")
				}
				f.leastShare = 0
				shares := make([]float32, f.options.Vocabulary)
				for i := range shares {
					shares[i] = float32(i % 2)
				}
				if err := d.Do(func() error { return cuda.Send(f.args.contextShares, shares) }); err != nil {
					t.Fatal(err)
				}
				words, before, after := make([]float32, f.options.Vocabulary*c.Dim), make([]float32, f.options.Vocabulary*c.Dim), make([]float32, f.options.Vocabulary*c.Dim)
				if err := f.Tables(words, before); err != nil {
					t.Fatal(err)
				}
				trainAll(t, f, testRate)
				if err := f.Tables(words, after); err != nil {
					t.Fatal(err)
				}
				kept := 0
				for w := range f.options.Vocabulary {
					if slices.Equal(before[w*c.Dim:][:c.Dim], after[w*c.Dim:][:c.Dim]) {
						kept++
					}
				}
				if want := (f.options.Vocabulary + 1) / 2; kept != want {
					t.Errorf("%d rows of C are as before, want %d", kept, want)
				}
			})
		}
	}
}

// In half precision tables differ from those of the CPU as those of FULL-W2V do.
func TestModesHalf(t *testing.T) {
	d := cudatest.Open(t)
	eachMode(t, func(t *testing.T, c sequential.Options) {
		most := LimitsOf(modeOf(c), true)
		if most.Negatives == 0 {
			t.Skip("no kernels in half precision")
		}
		for _, dim := range []int{1, 50, 128, 300, 384, 1000} {
			for _, k := range []int{5, 7} {
				for _, w := range []int{1, 5, 7} {
					t.Run(fmt.Sprintf("N=%d/W=%d/K=%d", dim, w, k), func(t *testing.T) {
						c.Dim, c.Window, c.Negatives, c.Epochs, c.Seed = dim, w, k, 2, cudatest.FreshSeed(t)
						reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 800, 400, 40), c, 1, choice{half: true})
						bound := 2e-2
						if dim == 1 { // a score is one product: its rounding has no others to cancel it
							bound = 4e-2
						}
						same(t, reference, f, bound)
					})
				}
			}
		}
	})
}

// Every sentence has its turn once in an epoch, however many are trained at a time and however the
// units are cut into calls: the windows, and so the pairs of dynamic ones, do not depend on the
// order.
func TestTurns(t *testing.T) {
	d := cudatest.Open(t)
	c := sequential.Options{Algorithm: sequential.PWord2Vec, Dim: 20, Window: 5, Negatives: 5, Epochs: 3, Seed: cudatest.FreshSeed(t)}
	var want float64
	for _, inFlight := range []int{1, 7, 1000} {
		for _, call := range []int{1, 2, 9} {
			_, f := newCase(t, d, corpustest.Zipf(c.Seed, 3000, 400, 40), c, inFlight, choice{})
			var all float64
			for first := 0; first < f.units(); first += call {
				_, pairs, err := f.Train(first, slices.Repeat([]float32{testRate}, min(call, f.units()-first)))
				if err != nil {
					t.Fatal(err)
				}
				all += total(pairs)
			}
			if want == 0 {
				want = all
			} else if all != want {
				t.Errorf("%d in flight, %d units in a call: %v pairs, want %v", inFlight, call, all, want)
			}
		}
	}
}

// No mode diverges with wide windows, many negatives and a high rate, with and without subsampling,
// although hundreds of sentences change the rows of frequent words at a time.
func TestStable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := cudatest.Open(t)
	text := corpustest.Zipf(5, 1_000_000, 20_000, 200)
	parsed, noise := corpustest.Read(t, text)
	for _, m := range modes {
		for _, window := range []int{1, 5, 10} {
			for _, negatives := range []int{1, 5, 15} {
				for _, sample := range []float64{0, 1e-5} {
					t.Run(fmt.Sprintf("%s/W=%d/K=%d/sample=%v", m.mode, window, negatives, sample), func(t *testing.T) {
						c := m.Options
						c.Dim, c.Window, c.Negatives, c.Sample, c.Epochs, c.Seed = 64, window, negatives, sample, 1, 1
						f, err := New(d, optionsOf(parsed, noise, c, families[m.mode].sentences*d.Multiprocessors))
						if err != nil {
							t.Fatal(err)
						}
						words, contexts := make([]float32, f.options.Vocabulary*c.Dim), make([]float32, f.options.Vocabulary*c.Dim)
						r := rand.New(rand.NewPCG(1, 2))
						for i := range words {
							words[i] = (r.Float32() - .5) / float32(c.Dim)
						}
						if err := f.SetTables(words, contexts); err != nil {
							t.Fatal(err)
						}
						losses, pairs := trainAll(t, f, .05)
						last := len(losses) - 1
						if loss := losses[last] / pairs[last]; !(loss < 1) { // it began with log 2
							t.Errorf("loss %v a pair", loss)
						}
						if err := f.Close(); err != nil {
							t.Fatal(err)
						}
					})
				}
			}
		}
	}
}

// With many sentences in flight, the loss of every mode is near the loss with one.
func TestModesInFlight(t *testing.T) {
	d := cudatest.Open(t)
	for _, m := range modes {
		c, words := m.Options, 100_000
		c.Dim, c.Window, c.Negatives, c.Sample, c.Epochs, c.Seed = 100, 5, 5, 1e-3, 2, 11
		if m.mode == FullW2V {
			c.Epochs, words = 3, 300_000
		}
		var one float64
		for _, inFlight := range []int{1, 16, 0} {
			_, f := newCase(t, d, corpustest.Zipf(3, words, 2000, 40), c, inFlight, choice{})
			losses, pairs := trainAll(t, f, testRate)
			mean := total(losses) / total(pairs)
			t.Logf("%s, %d in flight: loss %.5f a pair", m.mode, inFlight, mean)
			if inFlight == 1 {
				one = mean
			} else if !(math.Abs(mean-one) < .03*one) {
				t.Errorf("%s, %d in flight: loss %v a pair, one in flight %v", m.mode, inFlight, mean, one)
			}
		}
	}
}
