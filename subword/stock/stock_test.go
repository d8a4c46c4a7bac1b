package stock_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/subword/stock"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var vocabulary = []string{"the", "a", "", "running", "runner", "naïve", "bananas", "日本語", "internationalization", "aaaaaaaa", "x", "the"}

func newNetwork(t *testing.T, name string, o stock.Options) *stock.Network {
	t.Helper()
	e, err := stock.New(name, vocabulary, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A probe is a graph of a network's rows, and the gradient of loss = sum of rows * weights.
type probe struct {
	rows    *gorgonia.Node
	grads   gorgonia.Nodes
	weights []float32
	machine gorgonia.VM
}

func newProbe(t *testing.T, r *rand.Rand, e *stock.Network, batch []uint32, threads int) *probe {
	t.Helper()
	g := gorgonia.NewGraph()
	matrix := func(name string, value *tensor.Dense) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(value.Shape()...), gorgonia.WithValue(value))
	}
	var nodes gorgonia.Nodes
	for _, p := range e.Parameters() {
		nodes = append(nodes, matrix(p.Name, p.Value))
	}
	rows, err := e.Rows(nodes, batch, threads)
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{rows: rows, weights: make([]float32, rows.Shape().TotalSize())}
	for i := range p.weights {
		p.weights[i] = float32(r.NormFloat64())
	}
	w := matrix("weights", tensor.New(tensor.WithShape(rows.Shape()...), tensor.WithBacking(p.weights)))
	if p.grads, err = gorgonia.Grad(gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(rows, w)))), nodes...); err != nil {
		t.Fatal(err)
	}
	p.machine = gorgonia.NewTapeMachine(g)
	t.Cleanup(func() { p.machine.Close() })
	return p
}

func (p *probe) run(t *testing.T) []float32 {
	t.Helper()
	p.machine.Reset()
	if err := p.machine.RunAll(); err != nil {
		t.Fatal(err)
	}
	return p.rows.Value().(*tensor.Dense).Float32s()
}

// loss is summed in float64.
func (p *probe) loss(t *testing.T) (sum float64) {
	for i, x := range p.run(t) {
		sum += float64(x) * float64(p.weights[i])
	}
	return sum
}

func (p *probe) gradient(i int) []float32 { return p.grads[i].Value().(*tensor.Dense).Float32s() }

// fill sets the parameters to random values.
func fill(r *rand.Rand, e *stock.Network) {
	for _, p := range e.Parameters() {
		for i := range p.Value.Float32s() {
			p.Value.Float32s()[i] = float32(r.NormFloat64() / 2)
		}
	}
}

// The gradients are those of central differences, to a hundredth of the largest.
func TestDifferences(t *testing.T) {
	r := newRand(t)
	for _, name := range stock.Names() {
		for _, batch := range [][]uint32{nil, {3, 3, 0, 7}} {
			t.Run(fmt.Sprintf("%s, batch %v", name, batch), func(t *testing.T) {
				e := newNetwork(t, name, stock.Options{Dim: 2, Hidden: 3})
				fill(r, e)
				p := newProbe(t, r, e, batch, 2)
				for i, parameter := range e.Parameters() {
					p.loss(t)
					gradient, values := slices.Clone(p.gradient(i)), parameter.Value.Float32s()
					largest := 0.0
					for _, g := range gradient {
						largest = max(largest, math.Abs(float64(g)))
					}
					if largest == 0 {
						t.Fatalf("the gradient of %s is zero", parameter.Name)
					}
					for j, x := range values {
						slope := func(step float32) float64 {
							values[j] = x + step
							above := p.loss(t)
							values[j] = x - step
							below := p.loss(t)
							values[j] = x
							return (above - below) / float64(2*step)
						}
						// Richardson's extrapolation: a recurrent network bends within one step, rarely within a shorter one, too.
						differences := func(step float32) float64 { return (4*slope(step/2) - slope(step)) / 3 }
						wrong := func(d float64) bool { return math.Abs(d-float64(gradient[j])) > 1e-2*largest+1e-3 }
						if d := differences(1. / 64); wrong(d) && wrong(differences(1./512)) {
							t.Errorf("%s, value %d: gradient %v, differences %v", parameter.Name, j, gradient[j], d)
						}
					}
				}
			})
		}
	}
}

// Any words get the vectors that they have in the graph, whose values do not depend on the threads; a saved encoder
// gives the same.
func TestEncode(t *testing.T) {
	r := newRand(t)
	for _, name := range stock.Names() {
		t.Run(name, func(t *testing.T) {
			e := newNetwork(t, name, stock.Options{Dim: 5, Hidden: 7, Spelling: subword.SpellingOptions{Gram: subword.Lengths{2}, Limit: 9}})
			fill(r, e)
			want := slices.Clone(newProbe(t, r, e, nil, 1).run(t))
			if got := newProbe(t, r, e, nil, 3).run(t); !slices.Equal(got, want) {
				t.Error("the rows depend on the number of threads")
			}
			path := filepath.Join(t.TempDir(), "encoder")
			if err := subword.Save(path, subword.WithWords(e), make([]float32, 5)); err != nil {
				t.Fatal(err)
			}
			loaded, err := subword.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			for what, c := range map[string]subword.Composer{"encoder": e, "file": loaded} {
				got := make([]float32, len(want))
				if err := c.Encode(vocabulary, got); err != nil {
					t.Fatal(err)
				}
				for i, x := range want {
					if math.Abs(float64(got[i]-x)) > 1e-5 {
						t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], x)
					}
				}
				if err := c.Encode([]string{"unseen", "", "Ω"}, make([]float32, 15)); err != nil {
					t.Error(err)
				}
				if err := c.Encode([]string{"unseen"}, make([]float32, 4)); err == nil {
					t.Errorf("%s: a vector of the wrong length is no error", what)
				}
			}
		})
	}
}

// Training lowers the loss, of tempered samples, too, and any number of threads gives the same bits.
func TestTraining(t *testing.T) {
	text, err := corpus.ReadFrom(t.Context(), testdata.Corpus(), "sotu", corpus.Options{MinCount: 400, Lowercase: true, Tokenizer: corpus.Words})
	if err != nil {
		t.Fatal(err)
	}
	for _, positives := range []float64{1, 3} {
		m, err := wordcontext.Build(t.Context(), text, wordcontext.Options{Window: 2, Contexts: 64, Passes: 1, Seed: 3, Positives: positives})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range stock.Names() {
			t.Run(fmt.Sprintf("%s, %v", name, positives), func(t *testing.T) {
				var tables [2][]float32
				for i, threads := range []int{1, 3} {
					e, err := stock.New(name, text.Vocabulary.Words, stock.Options{Dim: 8, Hidden: 8, Spelling: subword.SpellingOptions{Limit: 8}})
					if err != nil {
						t.Fatal(err)
					}
					c, err := graph.NewCL(m, noise, 12, graph.Options{Dim: 8, Negatives: 3, Seed: 7, Threads: threads, Encoder: subword.WithWords(e), Optimizer: optim.Options{Method: optim.Adam}})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					var losses []float64
					for n := range 12 {
						report, err := c.Advance(t.Context(), n, .02)
						if err != nil {
							t.Fatal(err)
						}
						losses = append(losses, report.Loss/report.Pairs)
					}
					if losses[11] > .95*losses[0] {
						t.Errorf("losses %v", losses)
					}
					if err := c.Refresh(); err != nil {
						t.Fatal(err)
					}
					words, _ := c.Tables()
					tables[i] = slices.Clone(words)
				}
				if !slices.Equal(tables[0], tables[1]) {
					t.Error("the vectors depend on the number of threads")
				}
			})
		}
	}
}

func TestErrors(t *testing.T) {
	for want, f := range map[string]func() error{
		"unknown": func() error { _, err := stock.New("other", vocabulary, stock.Options{Dim: 3}); return err },
		"empty":   func() error { _, err := stock.New(stock.Recurrent, nil, stock.Options{Dim: 3}); return err },
		"dimension is 0": func() error {
			_, err := stock.New(stock.Attention, vocabulary, stock.Options{})
			return err
		},
		"parameters instead": func() error {
			_, err := newNetwork(t, stock.Recurrent, stock.Options{Dim: 3}).Rows(nil, nil, 1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
