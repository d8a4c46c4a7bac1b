//go:build gpu

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Structures have the sizes that the kernels' have.
func TestStructureSizes(t *testing.T) {
	for what, sizes := range map[string][2]uintptr{
		"Cnn": {unsafe.Sizeof(cnnArgs{}), 448}, "Product": {unsafe.Sizeof(productArgs{}), 96},
		"Gradient": {unsafe.Sizeof(gradientArgs{}), 152}, "NGrams": {unsafe.Sizeof(ngramsArgs{}), 168},
		"Updates": {unsafe.Sizeof(updatesArgs{}), 984},
	} {
		if sizes[0] != sizes[1] {
			t.Errorf("%s has %d bytes, the kernels' %d", what, sizes[0], sizes[1])
		}
	}
}

// encodedCase is W2V-CL with an encoder on the CPU and the same on the device.
func encodedCase(t testing.TB, d *Device, words, dim, negatives int, seed uint64, o optim.Config, encoder func(vocabulary []string) (subword.Encoder, error)) (*graph.CL, *EncodedCL, *wordcontext.Matrix) {
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
	reference, err := graph.NewCL(m, noise, 1000, graph.Config{Dim: dim, Negatives: negatives, Seed: seed, Threads: 2, Optimizer: o, Encoder: e})
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

// All n-grams are trained once, those that many words have first.
func TestCommonFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(freshSeed(t), 0))
	for _, n := range []int{1, 5, 1000} {
		starts := []uint32{0}
		for range n {
			starts = append(starts, starts[len(starts)-1]+r.Uint32N(200)*r.Uint32N(2))
		}
		words := func(u uint32) uint32 { return starts[u+1] - starts[u] }
		order, common := commonFirst(starts)
		seen := make([]bool, n)
		for i, u := range order {
			if seen[u] {
				t.Fatalf("n-gram %d comes twice", u)
			}
			seen[u] = true
			if (words(u) > 64) != (i < common) || 0 < i && i < common && words(u) > words(order[i-1]) {
				t.Fatalf("number %d of %d common ones is of %d words", i, common, words(u))
			}
		}
		if len(order) != n {
			t.Errorf("%d n-grams of %d", len(order), n)
		}
	}
}
