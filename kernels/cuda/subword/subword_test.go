//go:build gpu

package subword_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// An encodedCase is W2V-CL with an encoder on the CPU, and what devices need to train the same.
type encodedCase struct {
	reference trainer.Trainer
	options   cl.Options
	structure kernels.Structure // of a CNN
	matrix    *wordcontext.Matrix
	columns   map[string]int // of the parameters, by name
}

// newCase has random words, with options of M and shared negatives. The CPU trains the encoder as it is, or rounded.
func newCase(t testing.TB, words, dim int, seed uint64, o optim.Options, mo wordcontext.Options, shared int, encoder newEncoder, as asEncoder) (x encodedCase) {
	t.Helper()
	const negatives = 5
	r := rand.New(rand.NewPCG(seed, 1))
	spelt := randomWords(r, 4*words, 12, 26)
	var b strings.Builder
	for range 30 * words {
		fmt.Fprintf(&b, "%s ", spelt[int(math.Pow(float64(len(spelt)), r.Float64()))-1])
	}
	c, err := corpus.OpenFrom(t.Context(), strings.NewReader(b.String()), "test", corpus.Options{MinCount: 2}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(c.Vocabulary.Counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	mo.Window, mo.Contexts, mo.Passes, mo.Seed = 2, 40, 1, seed
	m, err := wordcontext.Build(t.Context(), c, mo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	e, err := encoder(c.Vocabulary.Words, as)
	if err != nil {
		t.Fatal(err)
	}
	options := graph.Options{Dim: dim, Negatives: negatives, SharedNegatives: shared, Seed: seed, Threads: 2, Optimizer: o}
	x.columns = map[string]int{}
	if grams, ok := e.(*subword.NGrams); ok {
		options.Composition = grams.Composition()
		options.Composition.Rate = .3
		x.columns["parts"], x.columns["words"] = dim, dim
	} else {
		options.Encoder = e.(subword.Encoder)
	}
	if x.reference, err = graph.NewCL(m, noise, 1000, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.reference.Close() })
	if e, err = encoder(c.Vocabulary.Words, exact); err != nil {
		t.Fatal(err)
	}
	var shares *cl.Shares
	if m.Tempered() {
		shares = &cl.Shares{Contexts: m.Contexts(), Slots: m.Slots()}
		shares.Lengths, shares.Phases = m.Shares()
	}
	x.matrix, x.options = m, cl.Options{
		Rows: m.Rows(), Dim: dim, Negatives: negatives, Seed: seed, Alias: noise.Table(), Shares: shares, SharedNegatives: shared,
		DrawShared: func(dst []uint32, iteration, step int) { noise.DrawSpread(dst, seed, iteration, step) },
		Method:     string(o.Method), Beta1: 0.9, Beta2: o.WithDefaults().Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
	}
	x.options.Composition = options.Composition
	if network, ok := e.(subword.Encoder); ok {
		for _, p := range network.Parameters() {
			x.columns[p.Name] = p.Value.Shape()[1]
		}
		if x.structure, err = subword.StructureOf(network); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// on returns what trains the same on a device, or on several.
func (x encodedCase) on(t testing.TB, devices ...*cuda.Device) (k device.CLKernels) {
	t.Helper()
	var err error
	switch {
	case x.options.Composition != nil:
		k, err = kernels.NewParts(devices[0], x.options)
	case len(devices) == 1:
		k, err = kernels.New(devices[0], x.options, x.structure)
	default:
		k, err = kernels.NewGroup(devices, x.options, x.structure)
	}
	cudatest.Closes(t, k, err)
	for _, tensor := range x.reference.State() {
		if err := k.Send(tensor.Name, tensor.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.SetMatrix(x.matrix); err != nil {
		t.Fatal(err)
	}
	return k
}

func train(t testing.TB, k device.CLKernels, first, count int, rate float64) (losses []float64) {
	t.Helper()
	for count > 0 {
		rates := make([]float64, min(count, cl.SeriesLength))
		for i := range rates {
			rates[i] = rate
		}
		if err := k.Start(0, first, rates); err != nil {
			t.Fatal(err)
		}
		got, _, err := k.Wait(0)
		if err != nil {
			t.Fatal(err)
		}
		losses, first, count = append(losses, got...), first+len(rates), count-len(rates)
	}
	return losses
}

// A newEncoder makes an encoder of a vocabulary, which asEncoder replaces.
type (
	newEncoder func(words []string, as asEncoder) (subword.Trained, error)
	asEncoder  func(e subword.Encoder, words []string) (subword.Encoder, error)
)

func exact(e subword.Encoder, _ []string) (subword.Encoder, error) { return e, nil }

func encoders(dim int) map[string]newEncoder {
	cnn := func(o subword.NetworkOptions) newEncoder {
		return func(words []string, as asEncoder) (subword.Trained, error) {
			o.Dim = dim
			e, err := subword.NewNetwork("cnn", words, o)
			if err != nil {
				return nil, err
			}
			return as(e, words)
		}
	}
	ngrams := func(o subword.NGramOptions) newEncoder { // the CPU does not round
		return func(words []string, _ asEncoder) (subword.Trained, error) {
			o.Dim = dim
			return subword.NewNGrams(words, o)
		}
	}
	withWords := func(encoder newEncoder) newEncoder {
		return func(words []string, as asEncoder) (subword.Trained, error) {
			e, err := encoder(words, as)
			if err != nil {
				return nil, err
			}
			return subword.WithWords(e.(subword.Encoder)), nil
		}
	}
	return map[string]newEncoder{
		"cnn":       cnn(subword.NetworkOptions{Rate: .5}),
		"cnn+words": withWords(cnn(subword.NetworkOptions{CharDim: 9, Filters: []int{21}, Widths: []int{1, 3}, Rate: .1})), // no quads
		"cnn of the paper": cnn(subword.NetworkOptions{CharDim: 8, Filters: []int{8, 16}, Widths: []int{2, 3}, Rate: .1,
			Raw: true, Spelling: subword.SpellingOptions{Limit: 10}}),
		"cnn of n-grams": cnn(subword.NetworkOptions{CharDim: 8, Filters: []int{20, 30}, Widths: []int{1, 4}, Rate: .5, LayerRates: true,
			Activation: subword.Tanh, Spelling: subword.SpellingOptions{Gram: []int{1, 2, 3}}}),
		"raw cnn of n-grams+words": withWords(cnn(subword.NetworkOptions{CharDim: 5, Filters: []int{9}, Widths: []int{2, 3}, Rate: .1, Raw: true,
			Spelling: subword.SpellingOptions{Gram: []int{2, 3}}})),
		"ngrams":       ngrams(subword.NGramOptions{}),
		"ngrams+words": ngrams(subword.NGramOptions{Shortest: 1, Longest: 2, Buckets: 100, Own: true}),
	}
}

// smooth is an epsilon of Adam that keeps steps in proportion to gradients near zero: with the
// default, 1e-8, a rounding error makes a step of about the learning rate.
const smooth = 1e-3

// The state after a few iterations is the state of the Gorgonia graph. After more, most of them
// recorded, the parameters still are; see smooth. Moments are gradients, most of them near zero,
// in which rounding shows soon. Sums and products are of float16 numbers, of 11 bits, and what cancels out shows more of the
// rounding: so the CPU rounds the same values. Adam, the default, trains all shapes.
func TestEncodedCL(t *testing.T) {
	d := cudatest.Open(t)
	for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.RMSProp, optim.AdaGrad} {
		for _, dim := range []int{1, 50, 100, 128, 300, 500} {
			if method != optim.Adam && dim != 100 {
				continue
			}
			for name, encoder := range encoders(dim) {
				t.Run(fmt.Sprintf("%s/N=%d/%s", method, dim, name), func(t *testing.T) {
					rate := 5e-4
					if method == optim.RMSProp {
						rate = 1e-4 // its first steps are ten times as long, for nothing corrects a mean of few squares
					}
					seed := cudatest.FreshSeed(t)
					o := optim.Options{Method: method, WeightDecay: .1, Epsilon: smooth}
					x := newCase(t, 600, dim, seed, o, wordcontext.Options{}, 0, encoder, round)
					tolerance := 5e-3
					if dim == 1 {
						tolerance = 2e-2 // one sum is all of a gradient, so nothing makes up for one in which most cancels out
					}
					inSeries(comparison(t, x, x.on(t, d), rate, tolerance))
				})
			}
		}
	}
}

// inSeries compares the state after a few iterations, and with -short no more: under a sanitizer the rest takes minutes. After a series and
// some iterations it compares the parameters.
func inSeries(both func(from, to int), same func(moments bool)) {
	const few, count = 3, cl.SeriesLength + 8
	both(0, few)
	same(true)
	if testing.Short() {
		return
	}
	both(few, count)
	same(false)
}

// comparison returns what trains both and compares their losses, and what compares their state:
// moments of symbols and filters, and what is composed of parts, by withinMost.
func comparison(t *testing.T, c encodedCase, k device.CLKernels, rate, tolerance float64) (both func(from, to int), same func(moments bool)) {
	both = func(from, to int) {
		t.Helper()
		losses := train(t, k, from, to-from, rate)
		for n := from; n < to; n++ {
			report, err := c.reference.Advance(t.Context(), n, rate)
			if err != nil {
				t.Fatal(err)
			}
			if got := losses[n-from]; math.Abs(got-report.Loss) > 1e-4*report.Loss {
				t.Fatalf("iteration %d: loss %v, want %v", n, got, report.Loss)
			}
		}
	}
	same = func(moments bool) {
		t.Helper()
		state, size := c.reference.State(), map[string]int{}
		for _, x := range state {
			size[x.Name] = len(x.Data)
		}
		for _, x := range state {
			if !moments && strings.HasSuffix(x.Name, "-moment") {
				continue
			}
			got := make([]float32, len(x.Data))
			if err := k.Receive(x.Name, got); err != nil {
				t.Fatal(err)
			}
			name, moment := strings.CutSuffix(strings.Replace(x.Name, ".second-", ".first-", 1), ".first-moment")
			n, filters := c.columns[name], strings.HasPrefix(name, "filters")
			switch {
			case moment && len(x.Data) == size[name] && n > 0 && (filters || name == "symbols"): // the rows of AdamRow share theirs
				withinMost(t, x.Name, got, x.Data, n, filters, tolerance, 10)
			case !moments && c.options.Composition != nil:
				withinMost(t, x.Name, got, x.Data, c.options.Dim, true, tolerance, 2/math.Sqrt(float64(c.options.Dim))/tolerance)
			default:
				cudatest.Within(t, x.Name, got, x.Data, tolerance)
			}
		}
	}
	return both, same
}

// withinMost is Within of the median of the columns of a matrix, or of its rows. A rounding error can move a maximum to another
// place of a word, and then a filter, which is a column, and some symbols, which are rows, have another gradient: so all
// together may differ so many times as much, less than a column that is wrong. Words of few parts start alike, and contexts at zero:
// so a column whose words sum up to about zero can grow either way, and takes that column of all tables along. Two columns that are
// opposite differ by twice the norm of one.
func withinMost(t *testing.T, what string, got, want []float32, columns int, byColumns bool, tolerance, together float64) {
	t.Helper()
	cudatest.Within(t, what, got, want, together*tolerance)
	parts, of := columns, func(i int) int { return i % columns }
	if !byColumns {
		parts, of = len(want)/columns, func(i int) int { return i / columns }
	}
	difference, norm, relative := make([]float64, parts), make([]float64, parts), make([]float64, parts)
	for i, w := range want {
		x := float64(got[i]) - float64(w)
		difference[of(i)], norm[of(i)] = difference[of(i)]+x*x, norm[of(i)]+float64(w)*float64(w)
	}
	for i := range relative {
		if difference[i] > 0 {
			relative[i] = math.Sqrt(difference[i] / norm[i])
		}
	}
	slices.Sort(relative)
	median := relative[parts/2]
	t.Logf("%s: median of parts %.1e", what, median)
	if !(median <= tolerance) {
		t.Errorf("%s: the median of the relative differences of %d columns or rows is %v, want at most %v", what, parts, median, tolerance)
	}
}

// TestTemperedEncodedCL is TestEncodedCL with tempered samples, with shared negatives, and with both. All of these kinds run in
// 100 dimensions, each other dimension runs with one kind, and the methods other than Adam run with the first.
func TestTemperedEncodedCL(t *testing.T) {
	d := cudatest.Open(t)
	for kind, x := range []struct {
		name   string
		o      wordcontext.Options
		shared int
	}{
		{"few samples", wordcontext.Options{Tempering: 1, Positives: .5, MaxPositives: 30}, 24},
		{"many samples", wordcontext.Options{Tempering: .75, Positives: 6}, 64},
		{"own negatives", wordcontext.Options{Tempering: 1, Positives: 1.5}, 0},
		{"one sample", wordcontext.Options{}, 40},
	} {
		for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.AdaGrad} {
			for i, dim := range []int{7, 100, 200, 300, 500, 600} {
				if dim != 100 && (kind+i)%4 != 0 || method != optim.Adam && (dim != 100 || kind > 0) {
					continue
				}
				for name, encoder := range encoders(dim) {
					if name == "cnn of the paper" && dim > 100 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/N=%d/%s", x.name, method, dim, name), func(t *testing.T) {
						const rate = 5e-4
						o := optim.Options{Method: method, WeightDecay: .1, Epsilon: smooth}
						c := newCase(t, 600, dim, cudatest.FreshSeed(t), o, x.o, x.shared, encoder, round)
						inSeries(comparison(t, c, c.on(t, d), rate, 5e-3))
					})
				}
			}
		}
	}
}

// Broken structures are errors.
func TestEncodedCLErrors(t *testing.T) {
	d := cudatest.Open(t)
	sound := kernels.Structure{Starts: []uint32{0, 2, 4}, Symbols: []uint32{0, 1, 2, 1}, Alphabet: 3, CharDim: 2, Filters: []int{3}, Widths: []int{2}, Rate: 1}
	options := cl.Options{Rows: 2, Dim: 4, Negatives: 1, Alias: make([]uint32, 4), Method: "adam"}
	for want, change := range map[string]func(c *cl.Options, e *kernels.Structure){
		"optimizer sgd":        func(c *cl.Options, _ *kernels.Structure) { c.Method = "sgd" },
		"of an alphabet of 2":  func(_ *cl.Options, e *kernels.Structure) { e.Alphabet = 2 },
		"from the widest":      func(_ *cl.Options, e *kernels.Structure) { e.Widths, e.Filters = []int{2, 3}, []int{3, 3} },
		"of 17 widths":         func(_ *cl.Options, e *kernels.Structure) { e.Widths = make([]int, 17) },
		"2 spellings of each":  func(_ *cl.Options, e *kernels.Structure) { e.Spellings = 2 },
		"symbols of 1 words":   func(_ *cl.Options, e *kernels.Structure) { e.Starts = e.Starts[:2] },
		"all must be at least": func(_ *cl.Options, e *kernels.Structure) { e.Filters = []int{0} },
	} {
		c, e := options, sound
		change(&c, &e)
		if _, err := kernels.New(d, c, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	lists := newCase(t, 20, 20, 1, optim.Options{Method: optim.Adam}, wordcontext.Options{}, 0, encoders(20)["cnn of n-grams"], exact)
	if _, err := kernels.NewGroup(cudatest.OpenGroup(t, 2, false), lists.options, lists.structure); err == nil || !strings.Contains(err.Error(), "trains on one GPU") {
		t.Errorf("lists on two devices: error %v", err)
	}
	k, err := kernels.New(d, options, sound)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for _, x := range []trainer.Tensor{{Name: "filters", Data: make([]float32, 9)}, {Name: "symbols", Data: make([]float32, 9)}, {Name: "words", Data: make([]float32, 8)}} {
		if err := k.Send(x.Name, x.Data); err == nil || !strings.Contains(err.Error(), "no such tensor") {
			t.Errorf("%s: error %v", x.Name, err)
		}
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
