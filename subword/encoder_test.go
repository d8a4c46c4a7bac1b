package subword

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stockCNN is the network in Gorgonia's own operations, for words of one
// length: one-hot products for the embeddings and max(a,b) = a + ReLU(b-a).
// Inputs are the symbols, then per width its filters at each offset and its
// bias, then the weights of each width, and their bias.
func stockCNN(spelt *Spellings, alphabet int, o NetworkOptions, n gorgonia.Nodes) *gorgonia.Node {
	s := &stock{g: n[0].Graph(), words: spelt.Len() / max(spelt.each, 1)}
	column := newMatrix(s.words, 1)
	for i := range s.words {
		column.Float32s()[i] = 1
	}
	s.ones = s.constant("ones", column)
	var features gorgonia.Nodes
	at := 1
	for k := range max(spelt.each, 1) {
		of, next := s.convolve(spelt, k, alphabet, o, n)
		for i := range of {
			if k > 0 {
				of[i] = must(gorgonia.Add(features[i], of[i]))
			}
		}
		features, at = of, next
	}
	return s.connect(features, o, n, at)
}

// stock builds a graph in Gorgonia's own operations.
type stock struct {
	g     *gorgonia.ExprGraph
	words int
	ones  *gorgonia.Node // (V, 1)
}

func must(n *gorgonia.Node, err error) *gorgonia.Node { return gorgonia.Must(n, err) }

func (s *stock) constant(name string, d *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewMatrix(s.g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(d.Shape()...), gorgonia.WithValue(d))
}

// convolve returns the features of length k, those of each width apart.
func (s *stock) convolve(spelt *Spellings, k, alphabet int, o NetworkOptions, n gorgonia.Nodes) (features gorgonia.Nodes, at int) {
	each := max(spelt.each, 1)
	length := len(spelt.Word(k))
	var embedded gorgonia.Nodes
	for t := range length {
		hot := newMatrix(s.words, alphabet)
		for i := range s.words {
			hot.Float32s()[i*alphabet+int(spelt.Word(i*each + k)[t])] = 1
		}
		embedded = append(embedded, must(gorgonia.Mul(s.constant(fmt.Sprintf("hot%d,%d", k, t), hot), n[0])))
	}
	activate := map[Activation]func(*gorgonia.Node) *gorgonia.Node{
		ReLU:   func(x *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Rectify(x)) },
		Tanh:   func(x *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Tanh(x)) },
		Linear: func(x *gorgonia.Node) *gorgonia.Node { return x },
	}[o.Activation]
	at = 1
	for _, width := range o.Widths {
		var best *gorgonia.Node
		for t := range length - width + 1 {
			x := must(gorgonia.Mul(s.ones, n[at+width]))
			for offset := range width {
				x = must(gorgonia.Add(x, must(gorgonia.Mul(embedded[t+offset], n[at+offset]))))
			}
			if x = activate(x); best == nil {
				best = x
			} else {
				best = must(gorgonia.Add(best, must(gorgonia.Rectify(must(gorgonia.Sub(x, best))))))
			}
		}
		features = append(features, best)
		at += width + 1
	}
	return features, at
}

// connect standardizes features and returns the vectors.
func (s *stock) connect(features gorgonia.Nodes, o NetworkOptions, n gorgonia.Nodes, at int) *gorgonia.Node {
	var out *gorgonia.Node
	v := s.words
	share := newMatrix(1, v)
	for i := range share.Float32s() {
		share.Float32s()[i] = 1 / float32(v)
	}
	mean := s.constant("share", share)
	for i, f := range features {
		columns := f.Shape()[1]
		if !o.Raw {
			least := newMatrix(1, columns)
			for k := range least.Float32s() {
				least.Float32s()[k] = leastVariance
			}
			f = must(gorgonia.Sub(f, must(gorgonia.Mul(s.ones, must(gorgonia.Mul(mean, f))))))
			variance := must(gorgonia.Add(must(gorgonia.Mul(mean, must(gorgonia.HadamardProd(f, f)))), s.constant(fmt.Sprintf("least%d", i), least)))
			f = must(gorgonia.HadamardDiv(f, must(gorgonia.Mul(s.ones, must(gorgonia.Sqrt(variance))))))
		}
		layer := must(gorgonia.Mul(f, n[at+i]))
		if out == nil {
			out = layer
		} else {
			out = must(gorgonia.Add(out, layer))
		}
	}
	return must(gorgonia.Add(out, must(gorgonia.Mul(s.ones, n[len(n)-1]))))
}

// The CNN and its gradients are those of the graph in stock operations, to
// 1e-4 of the largest value.
func TestStockParity(t *testing.T) {
	for _, o := range []NetworkOptions{
		{Filters: []int{17}},
		{Filters: []int{5, 16}, Activation: Tanh},
		{Filters: []int{6}, Activation: Linear, Raw: true},
		{Filters: []int{17, 5}, Activation: Tanh, Raw: true, Spelling: SpellingOptions{Gram: []int{1, 2, 4}}},
		{Filters: []int{5, 7}, Activation: Tanh, Spelling: SpellingOptions{Gram: []int{1, 3}, Buckets: 9}},
	} {
		t.Run(fmt.Sprintf("%v, %s, raw %v, grams %v", o.Filters, o.Activation, o.Raw, o.Spelling.Gram), func(t *testing.T) {
			o.Dim, o.CharDim, o.Widths, o.Spelling.Limit = 7, 4, []int{2, 3}, 7
			testStockParity(t, o)
		})
	}
}

func testStockParity(t *testing.T, o NetworkOptions) {
	r := newRand(t)
	vocabulary := []string{"abcde", "bcdea", "eeeee", "edcba", "aabbc", "xyzab"}
	c, err := newNetwork("cnn", vocabulary, o)
	if err != nil {
		t.Fatal(err)
	}
	o = c.options
	c.Randomize(r.Uint64())
	for _, p := range c.Parameters()[1+len(o.Widths):] {
		random(r, p.Value.Float32s())
	}
	fused := encoderProbe(t, r, c, 2)
	// part returns some rows of a matrix, sharing memory with nobody.
	part := func(x []float32, first, rows, columns int) *tensor.Dense {
		return matrixOf(slices.Clone(x[first*columns:(first+rows)*columns]), rows, columns)
	}
	var groups [][]int // of inputs whose gradients have one tolerance
	split := func(value func(i int) []float32) []*tensor.Dense {
		all := []*tensor.Dense{part(value(0), 0, c.alphabet.Len(), o.CharDim)}
		groups = [][]int{{0}}
		var columns []int // of each node of features
		for i, width := range o.Widths {
			groups = append(groups, nil)
			for offset := range width + 1 { // the last is the bias
				rows := min(width-offset, 1)*(o.CharDim-1) + 1
				groups[len(groups)-1] = append(groups[len(groups)-1], len(all))
				all = append(all, part(value(1+i), offset*o.CharDim, rows, o.Filters[i]))
			}
			columns = append(columns, o.Filters[i])
		}
		weights, row := value(1+len(o.Widths)), 0
		for _, n := range columns {
			groups = append(groups, []int{len(all)})
			all = append(all, part(weights, row, n, o.Dim))
			row += n
		}
		groups = append(groups, []int{len(all)})
		return append(all, part(weights, row, 1, o.Dim))
	}
	inputs := split(func(i int) []float32 { return c.Parameters()[i].Value.Float32s() })
	stock := newProbe(t, r, inputs, func(n gorgonia.Nodes) (*gorgonia.Node, error) {
		return stockCNN(c.vocabulary, c.alphabet.Len(), o, n), nil
	})
	copy(stock.weights, fused.weights)
	fused.run(t)
	stock.run(t)
	compare := func(what string, got, want []float32, largest float64) {
		t.Helper()
		for i, x := range want {
			if !(math.Abs(float64(got[i]-x)) <= 1e-4*largest) {
				t.Fatalf("%s: value %d is %v, in stock operations %v; the largest is %v", what, i, got[i], x, largest)
			}
		}
	}
	compare("rows", fused.value(), stock.value(), largestOf(stock.value()))
	// Filters and their bias together: their gradients sum the same terms. Those of a
	// bias can cancel, because standardized features do not depend on what is added to
	// all words. What is left of them is rounding.
	gradients := split(fused.gradient)
	for _, inputs := range groups {
		var largest float64
		for _, i := range inputs {
			largest = max(largest, largestOf(stock.gradient(i)))
		}
		for _, i := range inputs {
			compare(fmt.Sprintf("gradient of %d", i), gradients[i].Float32s(), stock.gradient(i), largest)
		}
	}
}

func largestOf(values []float32) (largest float64) {
	for _, x := range values {
		largest = max(largest, math.Abs(float64(x)))
	}
	return largest
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
