//go:build gpu

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/trainer"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/cu"
	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"
)

// Structures have the sizes that the kernels' have.
func TestStructureSizes(t *testing.T) {
	for what, sizes := range map[string][2]uintptr{
		"Cnn": {unsafe.Sizeof(cnnArgs{}), 448}, "Product": {unsafe.Sizeof(productArgs{}), 96},
		"Gradient": {unsafe.Sizeof(gradientArgs{}), 152}, "NGrams": {unsafe.Sizeof(ngramsArgs{}), 160},
		"Updates": {unsafe.Sizeof(updatesArgs{}), 984},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", what, sizes[0], sizes[1])
		}
	}
}

func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// placeSplit sends a matrix in two parts.
func placeSplit(a *allocator, x []float32, rows, columns int) split {
	s := a.split("matrix", rows, columns)
	if a.err == nil {
		a.err = sendSplit(s, x, rows, columns)
	}
	return s
}

// bfloat is the upper half of a float, rounded to nearest.
func bfloat(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func sendSplit(s split, x []float32, rows, columns int) error {
	stride := int(s.stride)
	high, low := make([]uint16, rows*stride), make([]uint16, rows*stride)
	for i := range rows {
		for j := range columns {
			v := x[i*columns+j]
			h := bfloat(v)
			high[i*stride+j] = h
			low[i*stride+j] = bfloat(v - math.Float32frombits(uint32(h)<<16))
		}
	}
	return errors.Join(send(s.high, high), send(s.low, low))
}

// receiveSplit adds the parts up.
func receiveSplit(t *testing.T, d *Device, s split, rows, columns int) []float32 {
	t.Helper()
	stride := int(s.stride)
	high, low := make([]uint16, rows*stride), make([]uint16, rows*stride)
	if err := d.do(func() error { return errors.Join(receive(high, s.high), receive(low, s.low)) }); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			x = append(x, math.Float32frombits(uint32(high[i*stride+j])<<16)+math.Float32frombits(uint32(low[i*stride+j])<<16))
		}
	}
	return x
}

func received(t *testing.T, d *Device, p cu.DevicePtr, n int) []float32 {
	t.Helper()
	x := make([]float32, n)
	if err := d.do(func() error { return receive(x, p) }); err != nil {
		t.Fatal(err)
	}
	return x
}

// within fails unless got is want to within the tolerance, by the norm of the
// difference.
func within(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	var difference, norm float64
	for i, w := range want {
		x := float64(got[i]) - float64(w)
		difference, norm = difference+x*x, norm+float64(w)*float64(w)
	}
	relative := math.Sqrt(difference / max(norm, 1e-30))
	t.Logf("%s: relative difference %.1e", what, relative)
	if !(difference <= tolerance*tolerance*norm) {
		t.Errorf("%s: relative difference %v of a tensor of norm %v, want at most %v", what, relative, math.Sqrt(norm), tolerance)
	}
}

// Products on tensor cores are those of float64 to 5e-6.
func TestProduct(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(freshSeed(t), 1))
	for _, x := range []struct {
		name                            string
		m, n, k                         int
		transposedA, transposedB, split bool
	}{
		{"rows", 1, 1, 1, false, false, false}, {"rows", 130, 500, 192, false, false, false}, {"rows", 700, 50, 150, false, false, false},
		{"rows", 129, 128, 33, false, false, false}, {"rows", 1000, 300, 65, false, false, false},
		{"features", 1, 1, 1, false, true, false}, {"features", 300, 192, 500, false, true, false}, {"features", 127, 257, 100, false, true, false},
		{"weights", 1, 1, 1, true, false, true}, {"weights", 193, 500, 18498, true, false, true}, {"weights", 151, 50, 1000, true, false, true},
		{"weights", 65, 300, 31, true, false, true}, {"weights", 193, 128, 4097, true, false, true},
	} {
		t.Run(fmt.Sprintf("%s/%dx%dx%d", x.name, x.m, x.n, x.k), func(t *testing.T) {
			a, b := randomFloats(r, x.m*x.k), randomFloats(r, x.k*x.n)
			bias, add := randomFloats(r, x.n), make([]float32, x.m*4*quads(x.n))
			want := make([]float32, x.m*x.n)
			for i := range x.m {
				for j := range x.n {
					add[i*4*quads(x.n)+j] = float32(r.NormFloat64())
					sum := float64(bias[j]) + float64(add[i*4*quads(x.n)+j])
					for l := range x.k {
						sum += float64(a[i*x.k+l]) * float64(b[l*x.n+j])
					}
					want[i*x.n+j] = float32(sum)
				}
			}
			flip := func(x []float32, rows, columns int) []float32 {
				y := make([]float32, len(x))
				for i := range rows {
					for j := range columns {
						y[j*rows+i] = x[i*columns+j]
					}
				}
				return y
			}
			shapeA, shapeB := [2]int{x.m, x.k}, [2]int{x.k, x.n}
			if x.transposedA {
				a, shapeA = flip(a, x.m, x.k), [2]int{x.k, x.m}
			}
			if x.transposedB {
				b, shapeB = flip(b, x.k, x.n), [2]int{x.n, x.k}
			}
			stride := 4 * quads(x.n)
			var got []float32
			err := d.do(func() error {
				al := &allocator{device: d}
				p := al.product(x.name, x.m, x.n, x.k, x.split)
				args := productArgs{
					a: placeSplit(al, a, shapeA[0], shapeA[1]), b: placeSplit(al, b, shapeB[0], shapeB[1]),
					c: al.floats("result", p.chunks*x.m*stride), m: uint32(x.m), n: uint32(x.n), k: uint32(x.k), strideC: uint32(stride), chunk: uint32(p.chunk),
				}
				if !x.split {
					args.bias, args.add = placed(al, "bias", bias), placed(al, "add", add)
				}
				if al.err != nil {
					return al.err
				}
				poison := make([]float32, p.chunks*x.m*stride)
				for i := range poison {
					poison[i] = float32(math.NaN())
				}
				if err := send(args.c, poison); err != nil {
					return err
				}
				if err := launchWith(d, p.kernel, p.blocks, p.threads, p.shared, &args); err != nil {
					return err
				}
				parts := make([]float32, len(poison))
				if err := errors.Join(d.stream.Synchronize(), receive(parts, args.c)); err != nil {
					return err
				}
				for i := range x.m {
					for j := range x.n {
						sum := float32(0)
						if x.split {
							sum = bias[j] + add[i*stride+j]
						}
						for chunk := range p.chunks {
							sum += parts[(chunk*x.m+i)*stride+j]
						}
						got = append(got, sum)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			within(t, "product", got, want, 5e-6)
		})
	}
}

// randomWords are words of length 0, 1 and up to a limit, of an alphabet of which
// few letters are frequent.
func randomWords(r *rand.Rand, count, longest, alphabet int) []string {
	words := make([]string, count)
	for i := range words {
		var b strings.Builder
		for range r.IntN(longest + 1) {
			b.WriteRune(rune('a' + int(math.Pow(float64(alphabet+1), r.Float64())) - 1))
		}
		words[i] = b.String()
	}
	return words
}

type cnnCase struct {
	words, longest, alphabet int
	dim, charDim, filters    int
	widths                   []int
	own                      bool
}

var cnnCases = []cnnCase{
	{1, 3, 5, 1, 1, 1, []int{1}, false},
	{2, 0, 5, 3, 4, 2, []int{2}, true},
	{129, 20, 26, 50, 32, 64, []int{2, 3, 4}, true},
	{500, 20, 26, 100, 8, 50, []int{3, 1, 2}, false},
	{777, 14, 26, 128, 32, 64, []int{2, 3, 4}, true},
	{1000, 14, 26, 300, 5, 33, []int{2, 7}, true},
	{1301, 14, 26, 500, 32, 64, []int{2, 3, 4}, true},
	{900, 9, 26, 20, 16, 300, []int{2, 3, 4, 5}, false}, // more features than threads
	{700, 9, 3000, 60, 8, 16, []int{3, 2}, true},        // tables too large for shared memory
	{200, 40, 26, 1000, 16, 24, []int{5, 6}, true},
}

func (c cnnCase) String() string {
	return fmt.Sprintf("V=%d/N=%d/E=%d/%vx%d/A=%d", c.words, c.dim, c.charDim, c.widths, c.filters, c.alphabet)
}

// An opTest is a CNN on the device with its parameters, and on the CPU the graph of
// its operations with the gradient of sum of rows times given values.
type opTest struct {
	device            *EncodedCL
	features, y, rows *gorgonia.Node
	gradients         gorgonia.Nodes // of symbols, filters, weights, features, y
	gradient, own     []float32      // of rows; words' own vectors
	values            [][]float32    // of the parameters
	names             []string
	d                 int // features
}

func newOpTest(t *testing.T, d *Device, r *rand.Rand, c cnnCase) *opTest {
	t.Helper()
	words := randomWords(r, c.words, c.longest, c.alphabet)
	alphabet, err := subword.NewAlphabet(words, subword.SpellingOptions{MinCount: 1, Limit: max(16, slices.Max(c.widths))})
	if err != nil {
		t.Fatal(err)
	}
	spelt := alphabet.Spell(words, slices.Max(c.widths))
	o := &opTest{d: len(c.widths) * c.filters}
	g := gorgonia.NewGraph()
	var nodes gorgonia.Nodes
	add := func(name string, rows, columns int, size float32) *gorgonia.Node {
		x := randomFloats(r, rows*columns)
		for i := range x {
			x[i] *= size
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
		filters = append(filters, add(fmt.Sprintf("filters%d.width%d", i, w), w*c.charDim+1, c.filters, .2))
	}
	weights := add("weights", o.d+1, c.dim, .1)
	if o.features, err = subword.Convolve(spelt, symbols, filters, c.widths, 2); err != nil {
		t.Fatal(err)
	}
	moments := &subword.Moments{Mean: make([]float32, o.d), Scale: make([]float32, o.d)}
	if o.y, err = subword.Standardize(o.features, moments, false, 2); err != nil {
		t.Fatal(err)
	}
	if o.rows, err = subword.Connect(o.y, weights, 2); err != nil {
		t.Fatal(err)
	}
	o.gradient = randomFloats(r, c.words*c.dim)
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

	e := EncoderConfig{Alphabet: alphabet.Len(), CharDim: c.charDim, Filters: c.filters, Widths: c.widths, Words: c.own, Rate: 1, Starts: []uint32{0}}
	for v := range c.words {
		e.Symbols = append(e.Symbols, spelt.Word(v)...)
		e.Starts = append(e.Starts, uint32(len(e.Symbols)))
	}
	o.device, err = d.NewEncodedCL(CLConfig{
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
		o.own = randomFloats(r, c.words*c.dim)
		if err := o.device.Send("words", o.own); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// gradientOfY is the gradient of the rows times the weights.
func (o *opTest) gradientOfY(c cnnCase) []float32 {
	weights, x := o.values[len(o.values)-1], make([]float32, c.words*o.d)
	for i := range x {
		v, d, sum := i/o.d, i%o.d, 0.0
		for n := range c.dim {
			sum += float64(o.gradient[v*c.dim+n]) * float64(weights[d*c.dim+n])
		}
		x[i] = float32(sum)
	}
	return x
}

func nodeValue(n *gorgonia.Node) []float32 { return n.Value().(*gtensor.Dense).Float32s() }

// near0 is within for what should be zero: one word alone is its own mean, whatever
// its features.
func near0(t *testing.T, what string, got []float32) {
	t.Helper()
	for _, x := range got {
		if math.Abs(float64(x)) > 1e-3 {
			t.Errorf("%s: %v, want about 0", what, x)
		}
	}
}

// Each operation of the CNN, and its gradient, is that of package subword. Rounding
// in products is 5e-6; a maximum that rounding gives to another place moves a
// gradient, which is why theirs may differ by more.
func TestCNNOperations(t *testing.T) {
	const tolerance, ofGradients = 2e-5, 1e-3
	d := open(t)
	for _, c := range cnnCases {
		t.Run(c.String(), func(t *testing.T) {
			o := newOpTest(t, d, rand.New(rand.NewPCG(freshSeed(t), 1)), c)
			x := o.device.encoder.(*cnn)
			g := &x.args
			rows := o.device.tables[0].values
			err := d.do(func() error {
				step, err := place(d, "step", []clStep{{keep: 1, scale: 1e-3, epsilon: 1e-3, rate: 1e-3}})
				if err != nil {
					return err
				}
				if err := x.compose(rows, o.device.words.value); err != nil {
					return err
				}
				if err := sendSplit(x.gradient, o.gradient, c.words, c.dim); err != nil {
					return err
				}
				return errors.Join(x.update(step), d.stream.Synchronize())
			})
			if err != nil {
				t.Fatal(err)
			}
			within(t, "features", received(t, d, g.features, c.words*o.d), nodeValue(o.features), tolerance)
			y := receiveSplit(t, d, g.y, c.words, o.d)
			within(t, "standardized", y, nodeValue(o.y), tolerance)
			got := make([]float32, c.words*c.dim)
			if err := d.do(func() error { return receiveTable(got, rows, c.dim) }); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(nodeValue(o.rows))
			for i, x := range o.own {
				want[i] += x
			}
			within(t, "rows", got, want, tolerance)
			padded := func(p cu.DevicePtr, rows, columns int) []float32 {
				x := make([]float32, rows*columns)
				if err := d.do(func() error { return receiveTable(x, p, columns) }); err != nil {
					t.Fatal(err)
				}
				return x
			}
			within(t, "gradient of y", padded(g.dy, c.words, o.d), o.gradientOfY(c), tolerance)
			for i, name := range o.names {
				got, want := []float32(nil), nodeValue(o.gradients[i])
				switch name {
				case "symbols":
					got = received(t, d, g.dembeddings, len(want))
				case "weights":
					got = padded(g.layer.gradient, o.d+1, c.dim)
				default:
					got = received(t, d, g.dfilters+cu.DevicePtr(4*g.first[i-1]), len(want))
				}
				if c.words == 1 && name != "weights" {
					near0(t, "gradient of "+name, got)
					continue
				}
				within(t, "gradient of "+name, got, want, ofGradients)
			}
		})
	}
}

// encodedCase is W2V-CL with an encoder on the CPU and the same on the device.
func encodedCase(t testing.TB, d *Device, words, dim, negatives int, seed uint64, o optim.Config, encoder func(vocabulary []string) (subword.Encoder, error)) (*graph.TwoStep, *EncodedCL, *wordcontext.Matrix) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	spelt := randomWords(r, 4*words, 12, 26)
	var b strings.Builder
	for range 30 * words {
		fmt.Fprintf(&b, "%s ", spelt[int(math.Pow(float64(len(spelt)), r.Float64()))-1])
	}
	c, err := corpus.ReadFrom(context.Background(), strings.NewReader(b.String()), "test", corpus.Options{MinCount: 2})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(c.Vocabulary.Counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	m, err := wordcontext.Build(context.Background(), c, wordcontext.Options{Window: 2, Contexts: 40, Passes: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	e, err := encoder(c.Vocabulary.Words)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := graph.NewTwoStepWithEncoder(m, noise, 1000, e, graph.Config{Dim: dim, Negatives: negatives, Seed: seed, Threads: 2, Optimizer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	s, err := subword.StructureOf(e)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := d.NewEncodedCL(CLConfig{
		Rows: m.Rows(), Dim: dim, Negatives: negatives, Seed: seed, Alias: noise.Table(),
		Method: string(o.Method), Beta1: 0.9, Beta2: 0.999, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
	}, EncoderConfig(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cl.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, x := range reference.State() {
		if err := cl.Send(x.Name, x.Data); err != nil {
			t.Fatal(err)
		}
	}
	offsets, narrow, wide := m.Layout()
	if err := cl.SetMatrix(CLMatrix{Offsets: offsets, Narrow: narrow, Wide: wide, Contexts: m.Contexts(), Seed: m.Options().Seed}); err != nil {
		t.Fatal(err)
	}
	return reference, cl, m
}

// runEncoded trains iterations and returns their losses.
func runEncoded(t testing.TB, cl *EncodedCL, first, count int, rate float64) (losses []float64) {
	t.Helper()
	for count > 0 {
		rates := make([]float64, min(count, CLBlock))
		for i := range rates {
			rates[i] = rate
		}
		if err := cl.Start(0, first, rates); err != nil {
			t.Fatal(err)
		}
		got, err := cl.Wait(0)
		if err != nil {
			t.Fatal(err)
		}
		losses, first, count = append(losses, got...), first+len(rates), count-len(rates)
	}
	return losses
}

func encoders(dim int) map[string]func([]string) (subword.Encoder, error) {
	return map[string]func([]string) (subword.Encoder, error){
		"cnn": func(words []string) (subword.Encoder, error) {
			return subword.NewCNN(words, subword.CNNOptions{Dim: dim, Rate: .5})
		},
		"cnn+words": func(words []string) (subword.Encoder, error) {
			e, err := subword.NewCNN(words, subword.CNNOptions{Dim: dim, CharDim: 9, Filters: 20, Widths: []int{1, 3}, Rate: .1})
			return subword.WithWords(e), err
		},
		"ngrams": func(words []string) (subword.Encoder, error) {
			return subword.NewNGrams(words, subword.NGramOptions{Dim: dim, Rate: .3})
		},
		"ngrams+words": func(words []string) (subword.Encoder, error) {
			e, err := subword.NewNGrams(words, subword.NGramOptions{Dim: dim, Shortest: 1, Longest: 2, Buckets: 100})
			return subword.WithWords(e), err
		},
	}
}

// The state after a few iterations is that of the Gorgonia graph, and the
// parameters still are after more, of which most are a graph; see smooth. Moments
// are gradients, most of them near zero, in which rounding shows soon.
func TestEncodedCL(t *testing.T) {
	d := open(t)
	for _, method := range []optim.Method{optim.Adam, optim.AdamRow} {
		for _, dim := range []int{1, 50, 100, 128, 300, 500} {
			for name, encoder := range encoders(dim) {
				t.Run(fmt.Sprintf("%s/N=%d/%s", method, dim, name), func(t *testing.T) {
					const few, count = 3, 40
					seed := freshSeed(t)
					reference, cl, _ := encodedCase(t, d, 600, dim, 5, seed, optim.Config{Method: method, WeightDecay: .1, Epsilon: smooth}, encoder)
					train := func(from, to int) {
						losses := runEncoded(t, cl, from, to-from, 1e-3)
						for n := from; n < to; n++ {
							report, err := reference.Advance(context.Background(), n, 1e-3)
							if err != nil {
								t.Fatal(err)
							}
							if got := losses[n-from]; math.Abs(got-report.Loss) > 1e-4*report.Loss {
								t.Fatalf("iteration %d: loss %v, want %v", n, got, report.Loss)
							}
						}
					}
					same := func(moments bool) {
						for _, x := range reference.State() {
							if !moments && strings.HasSuffix(x.Name, "-moment") {
								continue
							}
							got := make([]float32, len(x.Data))
							if err := cl.Receive(x.Name, got); err != nil {
								t.Fatal(err)
							}
							within(t, x.Name, got, x.Data, 1e-3)
						}
					}
					train(0, few)
					same(true)
					train(few, count)
					same(false)
				})
			}
		}
	}
}

// Two runs give the same bits.
func TestEncodedCLRepeats(t *testing.T) {
	d := open(t)
	for name, encoder := range encoders(100) {
		var first [][]float32
		for run := range 2 {
			reference, cl, _ := encodedCase(t, d, 600, 100, 5, 9, optim.Config{Method: optim.Adam, Epsilon: smooth}, encoder)
			at := 33 + 17*run // graphs and single launches fall elsewhere
			runEncoded(t, cl, 0, at, 1e-2)
			runEncoded(t, cl, at, 70-at, 1e-2)
			for i, x := range reference.State() {
				got := make([]float32, len(x.Data))
				if err := cl.Receive(x.Name, got); err != nil {
					t.Fatal(err)
				}
				if run == 0 {
					first = append(first, got)
				} else if !slices.Equal(got, first[i]) {
					t.Errorf("%s: two runs differ in %s", name, x.Name)
				}
			}
		}
	}
}

// Broken configurations are errors.
func TestEncodedCLErrors(t *testing.T) {
	d := open(t)
	sound := EncoderConfig{Starts: []uint32{0, 2, 4}, Symbols: []uint32{0, 1, 2, 1}, Alphabet: 3, CharDim: 2, Filters: 3, Widths: []int{2}, Rate: 1}
	config := CLConfig{Rows: 2, Dim: 4, Negatives: 1, Alias: make([]uint32, 4), Method: "adam"}
	for want, change := range map[string]func(c *CLConfig, e *EncoderConfig){
		"optimizer sgd":        func(c *CLConfig, _ *EncoderConfig) { c.Method = "sgd" },
		"of an alphabet of 2":  func(_ *CLConfig, e *EncoderConfig) { e.Alphabet = 2 },
		"from the widest":      func(_ *CLConfig, e *EncoderConfig) { e.Widths = []int{2, 3} },
		"of 17 widths":         func(_ *CLConfig, e *EncoderConfig) { e.Widths = make([]int, 17) },
		"symbols of 1 words":   func(_ *CLConfig, e *EncoderConfig) { e.Starts = e.Starts[:2] },
		"all must be at least": func(_ *CLConfig, e *EncoderConfig) { e.Filters = 0 },
	} {
		c, e := config, sound
		change(&c, &e)
		if _, err := d.NewEncodedCL(c, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	cl, err := d.NewEncodedCL(config, sound)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, x := range []trainer.Tensor{{Name: "filters", Data: make([]float32, 9)}, {Name: "symbols", Data: make([]float32, 9)}, {Name: "words", Data: make([]float32, 8)}} {
		if err := cl.Send(x.Name, x.Data); err == nil || !strings.Contains(err.Error(), "no such tensor") {
			t.Errorf("%s: error %v", x.Name, err)
		}
	}
}

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
