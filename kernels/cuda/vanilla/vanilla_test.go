//go:build gpu

package vanilla

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
)

// The layout of a launch is that of vanilla.cu.
func TestStructureSizes(t *testing.T) {
	if got := unsafe.Sizeof(minibatchArgs{}); got != 240 {
		t.Errorf("Minibatch has %d bytes, want 240", got)
	}
	if got := unsafe.Offsetof(minibatchArgs{}.lefts); got != 152 {
		t.Errorf("lefts stand at byte %d, want 152", got)
	}
	if got := unsafe.Sizeof(segment{}); got != 16 {
		t.Errorf("Segment has %d bytes, want 16", got)
	}
}

// newCase is W2V-Vanilla on the CPU, and the same on the device.
func newCase(t testing.TB, d *cuda.Device, text string, o graph.VanillaOptions, dim, negatives int, seed uint64, method optim.Method) (*graph.Vanilla, *Kernels) {
	t.Helper()
	c, noise := corpustest.Read(t, text)
	optimizer := optim.Options{Method: method, WeightDecay: .1, Epsilon: 1e-3} // see package cl's tests
	reference, err := graph.NewVanilla(c, noise, o, graph.Options{Dim: dim, Negatives: negatives, Seed: seed, Optimizer: optimizer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	return reference, newKernels(t, d, Options{
		Rows: c.Vocabulary.Len(), Dim: dim, Negatives: negatives, Batch: o.Batch, Dense: o.Dense,
		Method: string(method), Beta1: .9, Beta2: optimizer.WithDefaults().Beta2, Epsilon: 1e-3, WeightDecay: .1,
	})
}

func newKernels(t testing.TB, d *cuda.Device, c Options) *Kernels {
	t.Helper()
	k, err := New(d, c)
	cudatest.Closes(t, k, err)
	return k
}

// train trains a unit.
func train(t testing.TB, k *Kernels, reference *graph.Vanilla, unit, first int, rate float64) (loss float64, count int) {
	t.Helper()
	u := NewUnit(k.options.Rows, k.options.Negatives)
	for words, contexts := range reference.Of(unit) {
		u.Add(words, contexts)
	}
	if err := k.Start(unit%2, u, first, rate); err != nil {
		t.Fatal(err)
	}
	loss, err := k.Wait(unit % 2)
	if err != nil {
		t.Fatal(err)
	}
	return loss, u.Minibatches()
}

// Units end in the tables and moments of the Gorgonia graph.
func TestVanilla(t *testing.T) {
	d := cudatest.Open(t)
	type test struct {
		dim, negatives, batch int
		method                optim.Method
		dense                 bool
	}
	var tests []test
	for i, dim := range append(cudatest.Dims(), 3, 1024) {
		tests = append(tests, test{dim, 5, 170, optim.Adam, i%2 == 0}, test{dim, 2, 64, optim.SGD, i%2 == 1})
	}
	for _, dense := range []bool{false, true} {
		tests = append(tests, test{100, 5, 1024, optim.Adam, dense}, test{300, 1, 1, optim.Adam, dense},
			test{100, 15, 333, optim.AdamRow, dense}, test{500, 5, 20000, optim.AdamRow, dense}, test{700, 40, 50, optim.SGD, dense},
			test{100, 5, 170, optim.RMSProp, dense}, test{500, 2, 64, optim.AdaGrad, dense}, test{300, 5, 170, optim.RMSProp, dense}, test{1024, 5, 170, optim.AdaGrad, dense})
	}
	for _, x := range tests {
		t.Run(fmt.Sprintf("%s/N=%d/K=%d/batch=%d/dense=%v", x.method, x.dim, x.negatives, x.batch, x.dense), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			tokens := 3000
			if x.batch == 1 {
				tokens = 200
			}
			o := graph.VanillaOptions{Window: 2, Batch: x.batch, Epochs: 2, Dense: x.dense}
			reference, k := newCase(t, d, corpustest.Zipf(seed, tokens, 200, 12)+"alone\n", o, x.dim, x.negatives, seed, x.method)
			for _, s := range reference.State() {
				if s.Name != graph.MinibatchesTensor {
					if err := k.Send(s.Name, s.Data); err != nil {
						t.Fatal(err)
					}
				}
			}
			first := 1
			for unit := range reference.Units() {
				want, err := reference.Advance(t.Context(), unit, .01)
				if err != nil {
					t.Fatal(err)
				}
				loss, count := train(t, k, reference, unit, first, .01)
				first += count
				if math.Abs(loss-want.Loss) > 1e-4*want.Loss {
					t.Errorf("unit %d: loss %v, want %v", unit, loss, want.Loss)
				}
			}
			if first-1 != reference.Trained() {
				t.Errorf("%d minibatches, want %d", first-1, reference.Trained())
			}
			for _, s := range reference.State() {
				if s.Name == graph.MinibatchesTensor {
					continue
				}
				got := make([]float32, len(s.Data))
				if err := k.Receive(s.Name, got); err != nil {
					t.Fatal(err)
				}
				cudatest.Near(t, s.Name, got, s.Data, 1e-4)
			}
		})
	}
}

// Two runs end in the same bits, whatever lay on the device before.
func TestVanillaRepeats(t *testing.T) {
	d := cudatest.Open(t)
	for _, dense := range []bool{false, true} {
		seed := cudatest.FreshSeed(t)
		var before []float32
		for range 3 {
			o := graph.VanillaOptions{Window: 4, Batch: 2000, Epochs: 2, Dense: dense}
			reference, k := newCase(t, d, corpustest.Zipf(seed, 20000, 3000, 20), o, 100, 5, seed, optim.Adam)
			words, _ := reference.Tables()
			if err := k.Send("words", words); err != nil {
				t.Fatal(err)
			}
			first := 1
			for unit := range reference.Units() {
				_, count := train(t, k, reference, unit, first, .01)
				first += count
			}
			got := make([]float32, 2*len(words))
			for i, name := range []string{"words", "contexts"} {
				if err := k.Receive(name, got[i*len(words):][:len(words)]); err != nil {
					t.Fatal(err)
				}
			}
			if before != nil && !slices.Equal(got, before) {
				t.Errorf("dense %v: other bits", dense)
			}
			before = got
		}
	}
}

func TestErrors(t *testing.T) {
	d := cudatest.Open(t)
	good := Options{Rows: 5, Dim: 4, Negatives: 2, Batch: 8, Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8}
	for name, change := range map[string]func(*Options){
		"rows": func(c *Options) { c.Rows = 0 }, "dim": func(c *Options) { c.Dim = 1025 }, "negatives": func(c *Options) { c.Negatives = 0 },
		"batch": func(c *Options) { c.Batch = 0 }, "method": func(c *Options) { c.Method = "quick" },
	} {
		c := good
		change(&c)
		if _, err := New(d, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	k := newKernels(t, d, good)
	for name, n := range map[string]int{"words": 19, "words.first-moment": 5, "other": 20} {
		if err := k.Send(name, make([]float32, n)); err == nil {
			t.Errorf("%s of %d values: no error", name, n)
		}
	}
}
