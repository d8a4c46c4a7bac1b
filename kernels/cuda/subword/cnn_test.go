//go:build gpu

package subword_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/subword"
)

type cnnCase struct {
	words, longest, alphabet int
	dim, charDim, filters    int
	widths                   []int
	own                      bool

	// Beside the default network:
	more       int // filters of each width beyond those of the one before
	activation subword.Activation
	raw        bool
	gram       []int // of symbols; nil: characters
	large      bool  // the gradients of all words are large and alike
}

// lists says that tables are those of lists.cu. The largest GPUs have so much shared memory.
func (c cnnCase) lists(e kernels.Structure) bool { return e.HasLists(227 << 10) }

// filtersOf is F of width number i.
func (c cnnCase) filtersOf(i int) int { return c.filters + i*c.more }

func (c cnnCase) convolution() subword.Convolution {
	return subword.Convolution{Widths: c.widths, Activation: cmp.Or(c.activation, subword.ReLU)}
}

var cnnCases = []cnnCase{
	{1, 3, 5, 1, 1, 1, []int{1}, false, 0, "", false, nil, false},
	{2, 0, 5, 3, 4, 2, []int{2}, true, 0, "", false, nil, false},
	{129, 20, 26, 50, 32, 64, []int{2, 3, 4}, true, 0, "", false, nil, false},
	{500, 20, 26, 100, 8, 50, []int{3, 1, 2}, false, 0, "", false, nil, false},
	{777, 14, 26, 128, 32, 64, []int{2, 3, 4}, true, 0, "", false, nil, false},
	{1000, 14, 26, 300, 5, 33, []int{2, 7}, true, 0, "", false, nil, false},
	{1301, 14, 26, 500, 32, 64, []int{2, 3, 4}, true, 0, "", false, nil, false},
	{900, 9, 26, 20, 16, 300, []int{2, 3, 4, 5}, false, 0, "", false, nil, false}, // more features than threads
	{700, 9, 3000, 60, 8, 16, []int{3, 2}, true, 0, "", false, nil, false},        // tables too large for shared memory
	{200, 40, 26, 1000, 16, 24, []int{5, 6}, true, 0, "", false, nil, false},
	{600, 14, 26, 40, 8, 8, []int{1, 4, 2}, true, 4, subword.Tanh, false, nil, false}, // quads of three numbers of filters
	{3000, 12, 26, 24, 16, 132, []int{3}, false, 0, "", false, nil, false},            // more than 32 quads
	{400, 9, 200, 30, 8, 16, []int{2, 3}, false, 0, subword.Linear, true, nil, false}, // tables for three warps
	{300, 9, 26, 24, 8, 30, []int{2, 3}, false, 0, "", false, nil, false},             // no quads
	{700, 14, 26, 100, 16, 20, []int{2, 3, 4}, true, 13, subword.Tanh, false, nil, false},
	{500, 14, 26, 50, 8, 33, []int{1, 3}, false, 0, subword.Linear, true, nil, false},
	{1, 3, 5, 2, 3, 2, []int{1}, false, 0, subword.Tanh, true, []int{1, 2}, false},
	{800, 14, 26, 100, 32, 50, []int{1, 2, 3, 4, 5, 6, 7}, false, 50, subword.Tanh, true, []int{1, 2, 3, 4, 5}, false}, // as published
	{1500, 12, 5, 33, 7, 9, []int{2, 9}, true, 4, "", false, []int{1, 3}, false},                                       // frequent symbols
	{300, 12, 26, 60, 8, 130, []int{4, 10}, false, 7, subword.Linear, false, []int{2, 4}, false},
	{1500, 12, 5, 33, 7, 9, []int{2, 3}, false, 0, subword.Tanh, true, []int{1, 3}, true}, // sums beyond float16
}

func (c cnnCase) String() string {
	return fmt.Sprintf("V=%d/N=%d/E=%d/%vx%d+%d/A=%d/%s/raw=%v/%v", c.words, c.dim, c.charDim, c.widths, c.filters, c.more, c.alphabet, c.activation, c.raw, c.gram)
}

// An opTest is a CNN on the device with its parameters, and on the CPU the graph of
// its operations with the gradient of sum of rows times given values.
type opTest struct {
	device            *kernels.Kernels
	features, y, rows *gorgonia.Node
	gradients         gorgonia.Nodes // of symbols, filters, weights, features, y
	gradient, own     []float32      // of rows; words' own vectors
	values            [][]float32    // of the parameters
	names             []string
	d                 int // features
}

func newOpTest(t *testing.T, d *cuda.Device, r *rand.Rand, c cnnCase) *opTest {
	t.Helper()
	words := randomWords(r, c.words, c.longest, c.alphabet)
	alphabet, err := subword.NewAlphabet(words, subword.SpellingOptions{MinCount: 1, Gram: c.gram, Limit: max(16, slices.Max(c.widths))})
	if err != nil {
		t.Fatal(err)
	}
	spelt := alphabet.Spell(words, slices.Max(c.widths))
	e := kernels.Structure{Alphabet: alphabet.Len(), CharDim: c.charDim, Widths: c.widths, Words: c.own, Rate: 1, Starts: []uint32{0},
		Spellings: len(c.gram), Raw: c.raw, Activation: string(c.activation)}
	for v := range spelt.Len() {
		e.Symbols = append(e.Symbols, spelt.Word(v)...)
		e.Starts = append(e.Starts, uint32(len(e.Symbols)))
	}
	for i := range c.widths {
		e.Filters = append(e.Filters, c.filtersOf(i))
	}
	o, lists := &opTest{d: e.Features()}, c.lists(e)
	g := gorgonia.NewGraph()
	var nodes gorgonia.Nodes
	add := func(name string, rows, columns int, size float32) *gorgonia.Node {
		x := cudatest.Floats(r, rows*columns)
		for i := range x {
			x[i] *= size
			factor := lists && name != "weights" // of tables, which the device rounds
			if factor && (name == "symbols" || i/columns < rows-1) {
				x[i] = float16(x[i])
			}
		}
		o.values, o.names = append(o.values, x), append(o.names, name)
		m := gtensor.New(gtensor.WithShape(rows, columns), gtensor.WithBacking(x))
		n := gorgonia.NewMatrix(g, gtensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(rows, columns), gorgonia.WithValue(m))
		nodes = append(nodes, n)
		return n
	}
	symbols := add("symbols", alphabet.Len(), c.charDim, .5)
	var filters gorgonia.Nodes
	for i, w := range c.widths {
		filters = append(filters, add(fmt.Sprintf("filters%d.width%d", i, w), w*c.charDim+1, c.filtersOf(i), .2))
	}
	weights := add("weights", o.d+1, c.dim, .1)
	if o.features, err = subword.Convolve(spelt, symbols, filters, c.convolution(), 2); err != nil {
		t.Fatal(err)
	}
	if each := e.Each(); each > 1 {
		if o.features, err = subword.SumEach(o.features, each, 2); err != nil {
			t.Fatal(err)
		}
	}
	moments := &subword.Statistics{Mean: make([]float32, o.d), Scale: make([]float32, o.d)}
	if o.y = o.features; !c.raw {
		if o.y, err = subword.Standardize(o.features, moments, false, 2); err != nil {
			t.Fatal(err)
		}
	}
	if o.rows, err = subword.Connect(o.y, weights, 2); err != nil {
		t.Fatal(err)
	}
	o.gradient = cudatest.Floats(r, c.words*c.dim)
	for i, x := range o.gradient {
		if c.large {
			o.gradient[i] = 50 + 10*x
		}
	}
	times := gorgonia.NewMatrix(g, gtensor.Float32, gorgonia.WithName("times"), gorgonia.WithShape(c.words, c.dim),
		gorgonia.WithValue(gtensor.New(gtensor.WithShape(c.words, c.dim), gtensor.WithBacking(o.gradient))))
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(o.rows, times))))
	if o.gradients, err = gorgonia.Grad(loss, nodes...); err != nil {
		t.Fatal(err)
	}
	machine := gorgonia.NewTapeMachine(g)
	t.Cleanup(func() { machine.Close() })
	if err := machine.RunAll(); err != nil {
		t.Fatal(err)
	}

	o.device, err = kernels.New(d, cl.Options{
		Rows: c.words, Dim: c.dim, Negatives: 5, Alias: make([]uint32, 2*c.words), Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-3,
	}, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.device.Close(); err != nil {
			t.Error(err)
		}
	})
	for i, name := range o.names {
		if err := o.device.Send(name, o.values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if c.own {
		o.own = cudatest.Floats(r, c.words*c.dim)
		if err := o.device.Send("words", o.own); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// products returns in float64 what the products of a CNN give of the factors that the device has in float16: the rows, and the gradient
// of y.
func (o *opTest) products(c cnnCase, got map[string][]float32) (rows, ofY []float32) {
	y, weights, gradient := got["standardized"], got["narrow weights"], got["narrow gradient"]
	bias := o.values[len(o.values)-1][o.d*c.dim:]
	rows, ofY = make([]float32, c.words*c.dim), make([]float32, c.words*o.d)
	for v := range c.words {
		sums := make([]float64, c.dim)
		for n := range sums {
			sums[n] = float64(bias[n])
			if o.own != nil {
				sums[n] += float64(o.own[v*c.dim+n])
			}
		}
		for d := range o.d {
			sum, of := 0.0, weights[d*c.dim:][:c.dim]
			for n, w := range of {
				sums[n] += float64(y[v*o.d+d]) * float64(w)
				sum += float64(gradient[v*c.dim+n]) * float64(w)
			}
			ofY[v*o.d+d] = float32(sum)
		}
		for n, sum := range sums {
			rows[v*c.dim+n] = float32(sum)
		}
	}
	return rows, ofY
}

func nodeValue(n *gorgonia.Node) []float32 { return n.Value().(*gtensor.Dense).Float32s() }

// near0 fails unless all values are about zero, as they are of one word alone, which is its
// own mean, and of words that are all spelt alike.
func near0(t *testing.T, what string, got []float32) {
	t.Helper()
	for _, x := range got {
		if math.Abs(float64(x)) > 1e-3 {
			t.Errorf("%s: %v, want about 0", what, x)
		}
	}
}

// Each operation of the CNN, and its gradient, has the values of package subword. Factors of products are rounded to 11
// bits; what follows from the rounded factors is right to 5e-6. Gradients may differ by more: rounding may put a maximum at another place.
func TestCNNOperations(t *testing.T) {
	const tolerance, ofFactors, ofGradients = 2e-5, 5e-4, 5e-3
	d := cudatest.Open(t)
	for _, c := range cnnCases {
		t.Run(c.String(), func(t *testing.T) {
			o := newOpTest(t, d, rand.New(rand.NewPCG(cudatest.FreshSeed(t), 1)), c)
			got, err := o.device.Operations(o.gradient)
			if err != nil {
				t.Fatal(err)
			}
			cudatest.Within(t, "features", got["features"], nodeValue(o.features), tolerance)
			alike := (c.words == 1 || c.longest == 0) && !c.raw // all words
			if alike {
				near0(t, "standardized", got["standardized"])
			} else {
				cudatest.Within(t, "standardized", got["standardized"], nodeValue(o.y), ofFactors)
			}
			cudatest.Within(t, "narrow weights", got["narrow weights"], o.values[len(o.values)-1][:o.d*c.dim], ofFactors)
			cudatest.Within(t, "narrow gradient", got["narrow gradient"], o.gradient, ofFactors)
			rows, ofY := o.products(c, got)
			cudatest.Within(t, "rows", got["rows"], rows, tolerance)
			cudatest.Within(t, "gradient of y", got["gradient of y"], ofY, tolerance)
			for i, name := range o.names {
				name = "gradient of " + name
				if alike && name != "gradient of weights" {
					near0(t, name, got[name])
					continue
				}
				cudatest.Within(t, name, got[name], nodeValue(o.gradients[i]), ofGradients)
			}
		})
	}
}
