package subword

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// words are vocabularies with short, long, repeated and foreign words.
var words = []string{"the", "a", "", "running", "runner", "naïve", "bananas", "日本語", "internationalization", "aaaaaaaa", "x", "réseau", "the"}

// A probe is a graph of an encoder's rows, or of any function of matrices, and
// the gradient of loss = sum of rows * weights.
type probe struct {
	inputs  []*tensor.Dense
	rows    *gorgonia.Node
	grads   gorgonia.Nodes
	weights []float32
	machine gorgonia.VM
}

func newProbe(t testing.TB, r *rand.Rand, inputs []*tensor.Dense, build func(nodes gorgonia.Nodes) (*gorgonia.Node, error)) *probe {
	t.Helper()
	g := gorgonia.NewGraph()
	var nodes gorgonia.Nodes
	for i, in := range inputs {
		nodes = append(nodes, gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(fmt.Sprintf("p%d", i)), gorgonia.WithShape(in.Shape()...), gorgonia.WithValue(in)))
	}
	rows, err := build(nodes)
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{inputs: inputs, rows: rows, weights: random(r, make([]float32, rows.Shape().TotalSize()))}
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("weights"), gorgonia.WithShape(rows.Shape()...), gorgonia.WithValue(matrixOf(p.weights, rows.Shape()[0], rows.Shape()[1])))
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(rows, w))))
	if p.grads, err = gorgonia.Grad(loss, nodes...); err != nil {
		t.Fatal(err)
	}
	p.machine = gorgonia.NewTapeMachine(g)
	return p
}

func (p *probe) run(t testing.TB) {
	t.Helper()
	p.machine.Reset()
	if err := p.machine.RunAll(); err != nil {
		t.Fatal(err)
	}
}

// loss is summed in float64.
func (p *probe) loss(t testing.TB) float64 {
	p.run(t)
	var sum float64
	for i, x := range p.value() {
		sum += float64(x) * float64(p.weights[i])
	}
	return sum
}

func (p *probe) value() []float32 { return p.rows.Value().(*tensor.Dense).Float32s() }

func (p *probe) gradient(i int) []float32 { return p.grads[i].Value().(*tensor.Dense).Float32s() }

func random(r *rand.Rand, x []float32) []float32 {
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func randomMatrix(r *rand.Rand, rows, columns int) *tensor.Dense {
	return matrixOf(random(r, make([]float32, rows*columns)), rows, columns)
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// checkDifferences compares the gradients with central differences. Where a maximum moves to another position or below zero, the
// differences to either side disagree, and the value is left out; at least a quarter of the values must remain. They also disagree
// where an activation or a gate bends, which a shorter step ends. What is left is the rounding of float32 over the step: the
// tolerance is 2e-2 of the largest gradient. One value in six may be wrong: now and then two such places lie to either
// side and hide each other. A wrong gradient is wrong nearly everywhere.
func checkDifferences(t *testing.T, p *probe) {
	t.Helper()
	for i, in := range p.inputs {
		middle := p.loss(t)
		gradient := slices.Clone(p.gradient(i))
		largest := largestOf(gradient)
		if largest == 0 {
			t.Fatalf("the gradient of input %d is zero", i)
		}
		values, checked, wrong := in.Float32s(), 0, 0
		for j := range values {
			above, below := p.differences(t, values, j, middle, 1.0/512)
			if math.Abs(above-below) > 1e-2*largest {
				above, below = p.differences(t, values, j, middle, 1.0/2048)
			}
			if math.Abs(above-below) > 1e-2*largest {
				continue // not linear here
			}
			checked++
			if d := math.Abs((above+below)/2 - float64(gradient[j])); d > 2e-2*largest {
				wrong++
				t.Logf("input %d, value %d: gradient %v, differences %v and %v", i, j, gradient[j], above, below)
			}
		}
		if wrong*6 > checked+5 {
			t.Fatalf("input %d: %d of %d values are wrong", i, wrong, len(values))
		}
		if checked*4 < len(values) {
			t.Fatalf("input %d: only %d of %d values could be checked", i, checked, len(values))
		}
	}
}

// differences returns those of the loss to either side of value j, by the step.
func (p *probe) differences(t testing.TB, values []float32, j int, middle float64, step float32) (above, below float64) {
	x := values[j]
	values[j] = x + step
	above = (p.loss(t) - middle) / float64(step)
	values[j] = x - step
	below = (middle - p.loss(t)) / float64(step)
	values[j] = x
	return above, below
}

func TestDifferences(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // with a second processor, threads wait for little work by turning on it
	r := newRand(t)
	t.Run("connect", func(t *testing.T) {
		p := newProbe(t, r, []*tensor.Dense{randomMatrix(r, 7, 5), randomMatrix(r, 6, 3)}, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
			return Connect(n[0], n[1], 2)
		})
		checkDifferences(t, p)
	})
	for _, fixed := range []bool{false, true} {
		t.Run(fmt.Sprintf("standardize, fixed %v", fixed), func(t *testing.T) {
			statistics := &Statistics{random(r, make([]float32, 3)), random(r, make([]float32, 3))}
			p := newProbe(t, r, []*tensor.Dense{randomMatrix(r, 40, 3)}, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
				return Standardize(n[0], statistics, fixed, 2)
			})
			checkDifferences(t, p)
		})
	}
	t.Run("sum of each", func(t *testing.T) {
		checkDifferences(t, newProbe(t, r, []*tensor.Dense{randomMatrix(r, 12, 5)}, func(n gorgonia.Nodes) (*gorgonia.Node, error) { return SumEach(n[0], 3, 2) }))
	})
	for name, batch := range map[string][]uint32{"all": nil, "batch": {3, 0, 3, 2}} {
		t.Run("rows added, "+name, func(t *testing.T) {
			in := []*tensor.Dense{randomMatrix(r, 4, 3), randomMatrix(r, 4, 3)}
			p := newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) { return addRows(n[0], n[1], batch, 2) })
			checkDifferences(t, p)
		})
	}
	for _, activation := range []Activation{ReLU, Tanh, Linear} {
		t.Run(fmt.Sprintf("convolve, %s", activation), func(t *testing.T) {
			alphabet, err := NewAlphabet(words, SpellingOptions{Limit: 9})
			if err != nil {
				t.Fatal(err)
			}
			in := []*tensor.Dense{randomMatrix(r, alphabet.Len(), 3), randomMatrix(r, 1*3+1, 16), randomMatrix(r, 3*3+1, 5)}
			p := newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
				return Convolve(alphabet.Spell(words, 9), n[0], n[1:], Convolution{Widths: []int{1, 3}, Activation: activation}, 2)
			})
			checkDifferences(t, p)
		})
	}
	for name, e := range encoders(t, words) {
		t.Run(name, func(t *testing.T) {
			e.Randomize(r.Uint64())
			checkDifferences(t, encoderProbe(t, r, e, 2))
		})
	}
}

func encoders(t testing.TB, vocabulary []string) map[string]Encoder {
	cnn, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 6, CharDim: 3, Widths: []int{2, 4}, Filters: []int{5}})
	if err != nil {
		t.Fatal(err)
	}
	grams, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 4, CharDim: 2, Widths: []int{1, 2}, Filters: []int{16}, Spelling: SpellingOptions{Gram: []int{2}, Limit: 7}})
	if err != nil {
		t.Fatal(err)
	}
	paper, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 4, CharDim: 2, Widths: []int{1, 3}, Filters: []int{5, 16}, Activation: Tanh, Raw: true, Spelling: SpellingOptions{Gram: []int{1, 2}, Limit: 8}})
	if err != nil {
		t.Fatal(err)
	}
	tanh, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 5, CharDim: 3, Widths: []int{2, 3}, Filters: []int{16, 7}, Activation: Tanh})
	if err != nil {
		t.Fatal(err)
	}
	linear, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 4, CharDim: 3, Widths: []int{3}, Filters: []int{9}, Activation: Linear, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 4, CharDim: 3, Widths: []int{1, 3}, Filters: []int{16, 5}, Activation: Tanh, Raw: true, Spelling: SpellingOptions{Gram: []int{1, 2, 4}, Limit: 8, MinCount: 1}})
	if err != nil {
		t.Fatal(err)
	}
	hashed, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 4, CharDim: 2, Widths: []int{2}, Filters: []int{6}, Activation: Tanh, Spelling: SpellingOptions{Gram: []int{2, 3}, Limit: 9, MinCount: 1, Buckets: 20}})
	if err != nil {
		t.Fatal(err)
	}
	state, err := NewNetwork("recurrent", vocabulary, NetworkOptions{Dim: 4, CharDim: 5})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Encoder{
		"recurrent": state, "cnn": cnn, "cnn of bigrams": grams, "paper's cnn": paper, "cnn with tanh": tanh, "linear cnn": linear, "cnn of lengths": lengths,
		"cnn of buckets": hashed,
	}
}

func encoderProbe(t testing.TB, r *rand.Rand, e Encoder, threads int) *probe {
	t.Helper()
	var in []*tensor.Dense
	for _, p := range e.Parameters() {
		in = append(in, p.Value)
	}
	return newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) { return e.Rows(n, nil, threads) })
}

// manyWords are n different words of 0 to 20 characters.
func manyWords(r *rand.Rand, n int) []string {
	all := make([]string, n)
	for i := range all {
		var word []byte
		for range r.IntN(21) {
			word = append(word, byte('a'+min(r.IntN(26), r.IntN(26))))
		}
		all[i] = string(word)
	}
	return all
}

// Rows and gradients do not depend on the threads.
func TestThreads(t *testing.T) {
	r := newRand(t)
	for name, e := range encoders(t, manyWords(r, 1500)) {
		e.Randomize(1)
		var want *probe
		seed := r.Uint64()
		for _, threads := range []int{1, 3, 7} {
			p := encoderProbe(t, rand.New(rand.NewPCG(seed, 1)), e, threads)
			for range 2 { // again on used memory
				p.run(t)
				if want == nil {
					want = p
				}
				if !slices.Equal(p.value(), want.value()) {
					t.Fatalf("%s: rows differ with %d threads", name, threads)
				}
				for i := range p.inputs {
					if !slices.Equal(p.gradient(i), want.gradient(i)) {
						t.Fatalf("%s: gradient %d differs with %d threads", name, i, threads)
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, o := range []NetworkOptions{
		{Dim: 1, Filters: []int{3, 4}}, {Dim: 1, Filters: []int{3, 0, 4}}, {Dim: 1, Activation: "gelu"},
		{}, {Dim: -1}, {Dim: 1, CharDim: -1}, {Dim: 1, Filters: []int{-1}}, {Dim: 1, Widths: []int{0}}, {Dim: 1, Widths: []int{17}},
		{Dim: 1, Spelling: SpellingOptions{Limit: 1}}, {Dim: 1, Spelling: SpellingOptions{Gram: []int{-1}}}, {Dim: 1, Spelling: SpellingOptions{Gram: []int{2, 2}}}, {Dim: 1, Spelling: SpellingOptions{MinCount: -1}},
	} {
		if _, err := NewNetwork("cnn", words, o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
	for _, o := range []NGramOptions{{}, {Dim: 1, Shortest: 7}, {Dim: 1, Shortest: -1}, {Dim: 1, Buckets: -1}} {
		if _, err := NewNGrams(words, o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
	if _, err := NewNetwork("cnn", nil, NetworkOptions{Dim: 1}); err == nil {
		t.Error("no error for an empty vocabulary")
	}
	if _, err := NewNGrams(nil, NGramOptions{Dim: 1}); err == nil {
		t.Error("no error for an empty vocabulary")
	}
	g := gorgonia.NewGraph()
	node := func(name string, rows, columns int) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(rows, columns))
	}
	if _, err := Connect(node("x", 4, 3), node("w", 3, 2), 1); err == nil {
		t.Error("no error for a layer without a bias row")
	}
	if _, err := SumEach(node("x", 4, 3), 3, 1); err == nil {
		t.Error("no error for sums of three of four rows")
	}
	spelt := &Spellings{symbols: []uint32{0, 5}, starts: []uint32{0, 2}}
	for _, test := range []struct{ alphabet, rows, width int }{{5, 3, 1}, {6, 4, 1}, {6, 7, 3}} {
		if _, err := Convolve(spelt, node("s", test.alphabet, 2), gorgonia.Nodes{node("f", test.rows, 4)}, Convolution{Widths: []int{test.width}, Activation: ReLU}, 1); err == nil {
			t.Errorf("no error for %+v", test)
		}
	}
}

// The vector kernels give the network that plain Go gives, to rounding.
func TestLevels(t *testing.T) {
	best := simd.Current()
	defer func() { _ = simd.Use(best) }()
	c := encoders(t, words)["cnn"]
	c.Randomize(5)
	var want []float32
	for _, level := range simd.Levels() {
		if err := simd.Use(level); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(words)*c.Dim())
		if err := c.Encode(words, got); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 1e-5 {
				t.Fatalf("%s: value %d is %v, in plain Go %v", level, i, got[i], want[i])
			}
		}
	}
}

// With LayerRates filters and layers learn the slower the more inputs they have, symbols as words' own vectors do.
func TestLayerRates(t *testing.T) {
	o := NetworkOptions{Dim: 4, CharDim: 3, Widths: []int{1, 5}, Filters: []int{20}, Rate: .5, Spelling: SpellingOptions{Gram: []int{1, 2}, MinCount: 1}}
	for _, layers := range []bool{false, true} {
		o.LayerRates = layers
		c, err := NewNetwork("cnn", words, o)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{.5, .5, .5, .5}
		if layers {
			want = []float64{.5, .5, .5 * 5 / 15., .5 * 5 / 40.}
		}
		for i, p := range c.Parameters() {
			if math.Abs(p.Rate-want[i]) > 1e-9 {
				t.Errorf("layers %v: rate of %s is %v, want %v", layers, p.Name, p.Rate, want[i])
			}
		}
		if s, err := StructureOf(c); err != nil || s.LayerRates != layers {
			t.Errorf("structure %+v (%v)", s, err)
		}
	}
}

// A name that is taken, or that stands for something else, is not registered.
func TestRegister(t *testing.T) {
	for _, name := range []string{"", "none", "ngram", "fit", "cnn", "recurrent"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a network is registered as %q", name)
				}
			}()
			Register(Network{Name: name})
		}()
	}
	if _, err := NewNetwork("unheard-of", words, NetworkOptions{Dim: 1}); err == nil {
		t.Error("no error for a network that nobody registered")
	}
}
