package subword

import (
	"fmt"
	"math"
	"math/rand/v2"
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

func (p *probe) value() []float32         { return p.rows.Value().(*tensor.Dense).Float32s() }
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

// checkDifferences compares the gradients with central differences. All our
// functions are linear in one parameter at a time, but where a maximum moves to
// another position or below zero: there the differences to either side disagree,
// and the value is left out; at least half of the values must remain. What is
// left is the rounding of float32 over the step: the tolerance is 2e-2 of the
// largest gradient. One value may be wrong: now and then two such places lie
// to either side and hide each other.
func checkDifferences(t *testing.T, p *probe) {
	t.Helper()
	const step = 1.0 / 512
	for i, in := range p.inputs {
		middle := p.loss(t)
		gradient := slices.Clone(p.gradient(i))
		var largest float64
		for _, g := range gradient {
			largest = max(largest, math.Abs(float64(g)))
		}
		if largest == 0 {
			t.Fatalf("the gradient of input %d is zero", i)
		}
		values, checked, wrong := in.Float32s(), 0, 0
		for j, x := range values {
			values[j] = x + step
			above := (p.loss(t) - middle) / step
			values[j] = x - step
			below := (middle - p.loss(t)) / step
			values[j] = x
			if math.Abs(above-below) > 1e-2*largest {
				continue // not linear here
			}
			checked++
			if d := math.Abs((above+below)/2 - float64(gradient[j])); d > 2e-2*largest {
				wrong++
				t.Logf("input %d, value %d: gradient %v, differences %v and %v", i, j, gradient[j], above, below)
			}
		}
		if wrong > 1 {
			t.Fatalf("input %d: %d of %d values are wrong", i, wrong, len(values))
		}
		if checked*2 < len(values) {
			t.Fatalf("input %d: only %d of %d values could be checked", i, checked, len(values))
		}
	}
}

func TestDifferences(t *testing.T) {
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
	for name, batch := range map[string][]uint32{"all": nil, "batch": {3, 0, 3, 2}} {
		t.Run("rows added, "+name, func(t *testing.T) {
			in := []*tensor.Dense{randomMatrix(r, 4, 3), randomMatrix(r, 4, 3)}
			p := newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) { return addRows(n[0], n[1], batch, 2) })
			checkDifferences(t, p)
		})
	}
	t.Run("convolve", func(t *testing.T) {
		alphabet, err := NewAlphabet(words, SpellingOptions{Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		in := []*tensor.Dense{randomMatrix(r, alphabet.Len(), 3), randomMatrix(r, 1*3+1, 16), randomMatrix(r, 3*3+1, 5)}
		p := newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
			return Convolve(alphabet.Spell(words, 3), n[0], n[1:], []int{1, 3}, 2)
		})
		checkDifferences(t, p)
	})
	for name, e := range encoders(t, words) {
		t.Run(name, func(t *testing.T) {
			e.Randomize(r.Uint64())
			checkDifferences(t, encoderProbe(t, r, e, 2))
		})
	}
}

func encoders(t testing.TB, vocabulary []string) map[string]Encoder {
	cnn, err := NewCNN(vocabulary, CNNOptions{Dim: 6, CharDim: 3, Widths: []int{2, 4}, Filters: 5})
	if err != nil {
		t.Fatal(err)
	}
	grams, err := NewCNN(vocabulary, CNNOptions{Dim: 4, CharDim: 2, Widths: []int{1, 2}, Filters: 16, Spelling: SpellingOptions{Gram: 2, Limit: 7}})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := NewNGrams(vocabulary, NGramOptions{Dim: 5, Buckets: 50})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Encoder{"cnn": cnn, "cnn of bigrams": grams, "n-grams": sums}
}

func encoderProbe(t testing.TB, r *rand.Rand, e Encoder, threads int) *probe {
	t.Helper()
	var in []*tensor.Dense
	for _, p := range e.Parameters() {
		in = append(in, p.Value)
	}
	return newProbe(t, r, in, func(n gorgonia.Nodes) (*gorgonia.Node, error) { return e.Rows(n, nil, threads) })
}

// stockCNN is the network in Gorgonia's own operations, for words of one
// length: one-hot products for the embeddings and max(a,b) = a + ReLU(b-a).
// Inputs are the symbols, then per width its filters at each offset and its
// bias, then the weights and their bias.
func stockCNN(spelt *Spellings, alphabet int, widths []int, n gorgonia.Nodes) *gorgonia.Node {
	must, g := gorgonia.Must, n[0].Graph()
	v, length := spelt.Len(), len(spelt.Word(0))
	constant := func(name string, d *tensor.Dense) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(d.Shape()...), gorgonia.WithValue(d))
	}
	column := newMatrix(v, 1)
	for i := range v {
		column.Float32s()[i] = 1
	}
	ones := constant("ones", column)
	var embedded gorgonia.Nodes
	for t := range length {
		hot := newMatrix(v, alphabet)
		for i := range v {
			hot.Float32s()[i*alphabet+int(spelt.Word(i)[t])] = 1
		}
		embedded = append(embedded, must(gorgonia.Mul(constant(fmt.Sprintf("hot%d", t), hot), n[0])))
	}
	at := 1
	var features gorgonia.Nodes
	for _, width := range widths {
		var best *gorgonia.Node
		for t := range length - width + 1 {
			x := must(gorgonia.Mul(ones, n[at+width]))
			for o := range width {
				x = must(gorgonia.Add(x, must(gorgonia.Mul(embedded[t+o], n[at+o]))))
			}
			if best == nil {
				best = must(gorgonia.Rectify(x))
			} else {
				best = must(gorgonia.Add(best, must(gorgonia.Rectify(must(gorgonia.Sub(x, best))))))
			}
		}
		features = append(features, best)
		at += width + 1
	}
	var out *gorgonia.Node
	share, least := newMatrix(1, v), newMatrix(1, features[0].Shape()[1])
	for i := range share.Float32s() {
		share.Float32s()[i] = 1 / float32(v)
	}
	for i := range least.Float32s() {
		least.Float32s()[i] = leastVariance
	}
	mean, floor := constant("share", share), constant("least", least)
	for i, f := range features {
		f = must(gorgonia.Sub(f, must(gorgonia.Mul(ones, must(gorgonia.Mul(mean, f))))))
		variance := must(gorgonia.Add(must(gorgonia.Mul(mean, must(gorgonia.HadamardProd(f, f)))), floor))
		f = must(gorgonia.HadamardDiv(f, must(gorgonia.Mul(ones, must(gorgonia.Sqrt(variance))))))
		layer := must(gorgonia.Mul(f, n[at+i]))
		if out == nil {
			out = layer
		} else {
			out = must(gorgonia.Add(out, layer))
		}
	}
	return must(gorgonia.Add(out, must(gorgonia.Mul(ones, n[len(n)-1]))))
}

// The CNN and its gradients are those of the graph in stock operations, to
// 1e-4 of the largest value.
func TestStockParity(t *testing.T) {
	r := newRand(t)
	vocabulary := []string{"abcde", "bcdea", "eeeee", "edcba", "aabbc", "xyzab"}
	c, err := NewCNN(vocabulary, CNNOptions{Dim: 7, CharDim: 4, Widths: []int{2, 3}, Filters: 17})
	if err != nil {
		t.Fatal(err)
	}
	c.Randomize(r.Uint64())
	random(r, c.weights.Float32s())
	fused := encoderProbe(t, r, c, 2)
	// part returns some rows of a matrix, sharing memory with nobody.
	part := func(x []float32, first, rows, columns int) *tensor.Dense {
		return matrixOf(slices.Clone(x[first*columns:(first+rows)*columns]), rows, columns)
	}
	split := func(value func(i int) []float32) []*tensor.Dense {
		all := []*tensor.Dense{part(value(0), 0, c.alphabet.Len(), 4)}
		for i, width := range c.options.Widths {
			for o := range width {
				all = append(all, part(value(1+i), o*4, 4, 17))
			}
			all = append(all, part(value(1+i), width*4, 1, 17))
		}
		return append(all, part(value(3), 0, 17, 7), part(value(3), 17, 17, 7), part(value(3), 34, 1, 7))
	}
	inputs := split(func(i int) []float32 { return c.Parameters()[i].Value.Float32s() })
	stock := newProbe(t, r, inputs, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
		return stockCNN(c.vocabulary, c.alphabet.Len(), c.options.Widths, n), nil
	})
	copy(stock.weights, fused.weights)
	fused.run(t)
	stock.run(t)
	compare := func(what string, got, want []float32) {
		t.Helper()
		var largest float64
		for _, x := range want {
			largest = max(largest, math.Abs(float64(x)))
		}
		for i, x := range want {
			if !(math.Abs(float64(got[i]-x)) <= 1e-4*largest) {
				t.Fatalf("%s: value %d is %v, in stock operations %v", what, i, got[i], x)
			}
		}
	}
	compare("rows", fused.value(), stock.value())
	for i, got := range split(fused.gradient) {
		compare(fmt.Sprintf("gradient of %d", i), got.Float32s(), stock.gradient(i))
	}
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
	for name, e := range encoders(t, manyWords(r, 3000)) {
		e.Randomize(1)
		var want *probe
		seed := r.Uint64()
		for _, threads := range []int{1, 2, 3, 7} {
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

// Any string gets a vector, and a word of the vocabulary that of its row.
func TestEncode(t *testing.T) {
	r := newRand(t)
	strange := []string{"", "q", "日", "\xff\xfe", "\xfe", "<a>", "a\x00b", "internationalizationalistically", "zzzzzz", "ab\x80cd", "👍🏽"}
	for name, e := range encoders(t, words) {
		e.Randomize(2)
		p := encoderProbe(t, r, e, 1)
		p.run(t)
		n := e.Dim()
		got := make([]float32, len(words)*n)
		if err := e.Encode(words, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, p.value()) {
			t.Errorf("%s: Encode and Rows differ", name)
		}
		all := append(append([]string{}, strange...), manyWords(r, 500)...)
		got = make([]float32, len(all)*n)
		if err := e.Encode(all, got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, x := range got {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				t.Fatalf("%s: vector of %q holds %v", name, all[i/n], x)
			}
		}
		one := make([]float32, n) // alone, a word gets the same vector
		if err := e.Encode(all[7:8], one); err != nil || !slices.Equal(one, got[7*n:8*n]) {
			t.Errorf("%s: %q alone gets %v (%v), among others %v", name, all[7], one, err, got[7*n:8*n])
		}
		if err := e.Encode(all, got[1:]); err == nil {
			t.Errorf("%s: no error for too little room", name)
		}
	}
}

// Randomize gives what its seed says, and different parameters different values.
func TestRandomize(t *testing.T) {
	for name, e := range encoders(t, words) {
		e.Randomize(3)
		var first [][]float32
		for _, p := range e.Parameters() {
			first = append(first, slices.Clone(p.Value.Float32s()))
		}
		e.Randomize(4)
		for i, p := range e.Parameters() {
			if slices.Equal(first[i], p.Value.Float32s()) {
				t.Errorf("%s: %s does not depend on the seed", name, p.Name)
			}
		}
		e.Randomize(3)
		for i, p := range e.Parameters() {
			if !slices.Equal(first[i], p.Value.Float32s()) {
				t.Errorf("%s: %s is not what the seed gave before", name, p.Name)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, o := range []CNNOptions{
		{}, {Dim: -1}, {Dim: 1, CharDim: -1}, {Dim: 1, Filters: -1}, {Dim: 1, Widths: []int{0}}, {Dim: 1, Widths: []int{17}},
		{Dim: 1, Spelling: SpellingOptions{Limit: 1}}, {Dim: 1, Spelling: SpellingOptions{Gram: -1}}, {Dim: 1, Spelling: SpellingOptions{MinCount: -1}},
	} {
		if _, err := NewCNN(words, o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
	for _, o := range []NGramOptions{{}, {Dim: 1, Shortest: 7}, {Dim: 1, Shortest: -1}, {Dim: 1, Buckets: -1}} {
		if _, err := NewNGrams(words, o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
	if _, err := NewCNN(nil, CNNOptions{Dim: 1}); err == nil {
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
	spelt := &Spellings{symbols: []uint32{0, 5}, starts: []int{0, 2}}
	for _, test := range []struct{ alphabet, rows, width int }{{5, 3, 1}, {6, 4, 1}, {6, 7, 3}} {
		if _, err := Convolve(spelt, node("s", test.alphabet, 2), gorgonia.Nodes{node("f", test.rows, 4)}, []int{test.width}, 1); err == nil {
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
