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
	"github.com/w2vcl/w2vcl/subword"
)

// The layout of a launch is that of vanilla.cu.
func TestStructureSizes(t *testing.T) {
	if got := unsafe.Sizeof(minibatchArgs{}); got != 288 {
		t.Errorf("Minibatch has %d bytes, want 288", got)
	}
	if got := unsafe.Offsetof(minibatchArgs{}.lefts); got != 168 {
		t.Errorf("lefts stand at byte %d, want 168", got)
	}
	if got := unsafe.Sizeof(segment{}); got != 16 {
		t.Errorf("Segment has %d bytes, want 16", got)
	}
}

// A vanillaCase is W2V-Vanilla: with a network, words are composed, beside vectors of their own or not.
type vanillaCase struct {
	dim, negatives, batch int
	method                optim.Method
	dense                 bool
	network               *subword.NetworkOptions
	own                   bool
}

// newCase is W2V-Vanilla on the CPU, and the same on the device.
func newCase(t testing.TB, d *cuda.Device, text string, o graph.VanillaOptions, x vanillaCase, seed uint64) (*graph.Vanilla, *Kernels) {
	t.Helper()
	c, noise := corpustest.Read(t, text)
	optimizer := optim.Options{Method: x.method, WeightDecay: .1, Epsilon: 1e-3} // see package cl's tests
	o.Batch, o.Dense = x.batch, x.dense
	options := graph.Options{Dim: x.dim, Negatives: x.negatives, Seed: seed, Threads: 2, Optimizer: optimizer}
	device := Options{
		Rows: c.Vocabulary.Len(), Dim: x.dim, Negatives: x.negatives, Batch: o.Batch, Dense: o.Dense,
		Method: string(x.method), Beta1: .9, Beta2: optimizer.WithDefaults().Beta2, Epsilon: 1e-3, WeightDecay: .1,
	}
	if x.network != nil {
		network := *x.network
		network.Dim = x.dim
		e, err := subword.NewNetwork("cnn", c.Vocabulary.Words, network)
		if err != nil {
			t.Fatal(err)
		}
		if options.Encoder = e; x.own {
			options.Encoder = subword.WithWords(e)
		}
		structure, err := subword.StructureOf(options.Encoder)
		if err != nil {
			t.Fatal(err)
		}
		device.Encoder = &structure
	}
	reference, err := graph.NewVanilla(c, noise, o, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	return reference, newKernels(t, d, device)
}

func newKernels(t testing.TB, d *cuda.Device, c Options) *Kernels {
	t.Helper()
	k, err := New(d, c)
	cudatest.Closes(t, k, err)
	return k
}

func train(t testing.TB, k *Kernels, reference *graph.Vanilla, unit, first int, rate float64) (loss float64, count int) {
	t.Helper()
	u := NewUnit(k.options.Rows, k.options.Negatives, k.network != nil)
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

// vanillaCases are all optimizers and dimensions, with tables and with networks.
func vanillaCases() (tests []vanillaCase) {
	add := func(dim, negatives, batch int, method optim.Method, dense bool) {
		tests = append(tests, vanillaCase{dim, negatives, batch, method, dense, nil, false})
	}
	for i, dim := range append(cudatest.Dims(), 3, 1024) {
		add(dim, 5, 170, optim.Adam, i%2 == 0)
		add(dim, 2, 64, optim.SGD, i%2 == 1)
	}
	quads := &subword.NetworkOptions{Rate: .5}
	odd := &subword.NetworkOptions{CharDim: 9, Filters: []int{21}, Widths: []int{1, 3}, Rate: .1}
	raw := &subword.NetworkOptions{CharDim: 8, Filters: []int{8, 16}, Widths: []int{2, 3}, Rate: .1, Raw: true}
	for _, dense := range []bool{false, true} {
		add(100, 5, 1024, optim.Adam, dense)
		add(300, 1, 1, optim.Adam, dense)
		add(100, 15, 333, optim.AdamRow, dense)
		add(500, 5, 20000, optim.AdamRow, dense)
		add(700, 40, 50, optim.SGD, dense)
		add(100, 5, 170, optim.RMSProp, dense)
		add(500, 2, 64, optim.AdaGrad, dense)
		add(300, 5, 170, optim.RMSProp, dense)
		add(1024, 5, 170, optim.AdaGrad, dense)
		tests = append(tests, vanillaCase{100, 5, 170, optim.Adam, dense, quads, dense}, vanillaCase{300, 2, 5000, optim.AdamRow, dense, quads, !dense},
			vanillaCase{128, 5, 64, optim.AdaGrad, dense, odd, dense}, vanillaCase{500, 5, 400, optim.RMSProp, dense, raw, !dense})
	}
	return tests
}

// Units end in the tables and moments of the Gorgonia graph.
func TestVanilla(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range vanillaCases() {
		t.Run(fmt.Sprintf("%s/N=%d/K=%d/batch=%d/dense=%v/composed=%v", x.method, x.dim, x.negatives, x.batch, x.dense, x.network != nil), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			tokens := 3000
			if x.batch == 1 {
				tokens = 200
			}
			o := graph.VanillaOptions{Window: 2, Epochs: 2}
			reference, k := newCase(t, d, corpustest.Zipf(seed, tokens, 200, 12)+"alone\n", o, x, seed)
			for _, s := range reference.State() {
				if s.Name != graph.MinibatchesTensor {
					if err := k.Send(s.Name, s.Data); err != nil {
						t.Fatal(err)
					}
				}
			}
			first, rate, ofLoss := 1, .01, 1e-4
			if x.network != nil {
				rate, ofLoss = 1e-3, 1e-3 // it multiplies numbers of 11 bits
			}
			for unit := range reference.Units() {
				want, err := reference.Advance(t.Context(), unit, rate)
				if err != nil {
					t.Fatal(err)
				}
				loss, count := train(t, k, reference, unit, first, rate)
				first += count
				if math.Abs(loss-want.Loss) > ofLoss*want.Loss {
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
				if x.network != nil {
					cudatest.Within(t, s.Name, got, s.Data, 2e-2)
				} else {
					cudatest.Near(t, s.Name, got, s.Data, 1e-4)
				}
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
			o := graph.VanillaOptions{Window: 4, Epochs: 2}
			x := vanillaCase{dim: 100, negatives: 5, batch: 2000, method: optim.Adam, dense: dense}
			reference, k := newCase(t, d, corpustest.Zipf(seed, 20000, 3000, 20), o, x, seed)
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
