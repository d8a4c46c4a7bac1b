package device_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/device/devicetest"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// text is one of random words, the first of them frequent, in short sentences.
func text(t *testing.T, seed uint64, words int) (*corpus.Corpus, *corpus.Alias) {
	t.Helper()
	return corpustest.Read(t, corpustest.Zipf(seed, words, 60, 12))
}

func freshSeed(t *testing.T) uint64 {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return seed
}

type both = trainer.Trainer // of either device

// A pair is the same training on the CPU and on a device.
type pair struct {
	fake *devicetest.Device
	cpu  both
	gpu  device.Trainer
}

func (p *pair) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(p.cpu.Close(), p.gpu.Close(), p.fake.Close()); err != nil {
		t.Error(err)
	}
}

func newCL(t *testing.T, seed uint64, method optim.Method, contexts, iterations int, free int64) *pair {
	return newTempered(t, seed, method, wordcontext.Options{Contexts: contexts}, 0, iterations, free)
}

// newSameColumn is newCL with the same samples in both steps.
func newSameColumn(t *testing.T, seed uint64, contexts int, free int64) *pair {
	return newChanged(t, seed, optim.Adam, wordcontext.Options{Contexts: contexts}, 150, free, func(c *graph.Options) { c.SameColumn = true })
}

// newTempered is newCL with options of M and shared negatives.
func newTempered(t *testing.T, seed uint64, method optim.Method, o wordcontext.Options, shared, iterations int, free int64) *pair {
	return newChanged(t, seed, method, o, iterations, free, func(c *graph.Options) {
		if c.SharedNegatives = shared; shared > 0 { // contexts that are not zero reach the device, too
			c.Start = func(words, contexts []float32) { words[8], contexts[9] = .5, .25 }
		}
	})
}

// newChanged is newCL with options of M and changed options.
func newChanged(t *testing.T, seed uint64, method optim.Method, o wordcontext.Options, iterations int, free int64, change func(c *graph.Options)) *pair {
	c, noise := text(t, seed, 2000)
	o.Window, o.Passes, o.Seed = 2, 1, seed
	m, err := wordcontext.Build(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	options := graph.Options{Dim: 7, Negatives: 3, Seed: seed, Threads: 2, Optimizer: optim.Options{Method: method, Beta1: .8, Beta2: .99, WeightDecay: .1}}
	p := &pair{fake: devicetest.New()}
	p.fake.Free, p.fake.Matrix = free, m
	change(&options)
	if p.cpu, err = graph.NewCL(m, noise, iterations, options); err != nil {
		t.Fatal(err)
	}
	change(&options) // encoders are not shared
	if p.gpu, err = device.NewCL(p.fake, m, noise, iterations, options, device.Float32); err != nil {
		t.Fatal(err)
	}
	return p
}

// newEncodedCL is newCL with composed words.
func newEncodedCL(t *testing.T, seed uint64, method optim.Method, free int64, encoder func(vocabulary []string) (subword.Encoder, error)) *pair {
	return newTemperedEncoder(t, seed, method, wordcontext.Options{}, 0, free, encoder)
}

// newTemperedEncoder is newEncodedCL with options of M and shared negatives.
func newTemperedEncoder(t *testing.T, seed uint64, method optim.Method, o wordcontext.Options, shared int, free int64,
	encoder func(vocabulary []string) (subword.Encoder, error)) *pair {
	return newTemperedRows(t, seed, method, o, shared, free, func(options *graph.Options, vocabulary []string) {
		var err error
		if options.Encoder, err = encoder(vocabulary); err != nil {
			t.Fatal(err)
		}
	})
}

// newTemperedRows is W2V-CL with rows that options say.
func newTemperedRows(t *testing.T, seed uint64, method optim.Method, o wordcontext.Options, shared int, free int64, rows func(options *graph.Options, vocabulary []string)) *pair {
	c, _ := text(t, seed, 2000)
	o.Contexts = 40
	return newChanged(t, seed, method, o, 40, free, func(options *graph.Options) {
		options.SharedNegatives, options.Optimizer.Epsilon = shared, 1e-3
		rows(options, c.Vocabulary.Words)
	})
}

// newStretches is large-batch CBOW, with n-grams or without, with windows weighted by position or not.
func newStretches(t *testing.T, seed uint64, method optim.Method, grams *subword.NGramOptions, positional bool) *pair {
	c, _ := text(t, seed, 2000)
	s, err := wordcontext.NewStretches(c, wordcontext.StretchOptions{Words: 150, Window: 3, Dynamic: !positional, Sample: 1e-2, Shared: 5, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	options := func() graph.Options {
		o := graph.Options{Dim: 7, Negatives: 3, SharedNegatives: 5, Seed: seed, Threads: 2, Optimizer: optim.Options{Method: method, Beta1: .8, Beta2: .99, WeightDecay: .1, Epsilon: 1e-3}}
		if grams != nil {
			o.Composition = compositionOf(t, c.Vocabulary.Words, *grams, .5)
		}
		if positional {
			o.Positions = 2 * s.Options().Window
		}
		return o
	}
	p := &pair{fake: devicetest.New()}
	if p.cpu, err = graph.NewCBOW(s, 40, options()); err != nil {
		t.Fatal(err)
	}
	if p.gpu, err = device.NewCBOW(p.fake, s, 40, options(), device.Float32); err != nil {
		t.Fatal(err)
	}
	return p
}

// compositionOf is settings.Config.Composition.
func compositionOf(t *testing.T, vocabulary []string, o subword.NGramOptions, rate float32) *composed.Composition {
	t.Helper()
	e, err := subword.NewNGrams(vocabulary, o)
	if err != nil {
		t.Fatal(err)
	}
	x := e.Composition()
	x.Rate, x.Most = rate, 1
	return x
}

// newTemperedParts is newTemperedEncoder of n-grams.
func newTemperedParts(t *testing.T, seed uint64, method optim.Method, o wordcontext.Options, shared int, free int64, grams subword.NGramOptions) *pair {
	return newTemperedRows(t, seed, method, o, shared, free, func(options *graph.Options, vocabulary []string) {
		options.Composition = compositionOf(t, vocabulary, grams, .3)
	})
}

func newFullW2V(t *testing.T, seed uint64, epochs int) *pair {
	return newSequential(t, seed, epochs, sequential.FullW2V, sequential.SkipGram)
}

func newSequential(t *testing.T, seed uint64, epochs int, a sequential.Algorithm, m sequential.Model) *pair {
	c, noise := text(t, seed, 1500)
	options := sequential.Options{
		Algorithm: a, Model: m, Dim: 7, Window: 5, Negatives: 3, Sample: 1e-2, Epochs: epochs, Seed: seed, Threads: 1,
	}
	options.Start = func(words, contexts []float32) {
		copy(words[21:35], make([]float32, 14))
		copy(contexts[21:35], slices.Repeat([]float32{.3}, 14))
	}
	p := &pair{fake: devicetest.New()}
	var err error
	if p.cpu, err = sequential.New(c, noise, options); err != nil {
		t.Fatal(err)
	}
	if p.gpu, err = device.NewSequential(p.fake, c, noise, options, device.Float32); err != nil {
		t.Fatal(err)
	}
	return p
}

func newVanilla(t *testing.T, seed uint64, method optim.Method, dense bool) *pair {
	c, noise := text(t, seed, 2000)
	o := graph.VanillaOptions{Window: 3, DynamicWindow: true, Sample: 1e-2, Batch: 150, Epochs: 9, Dense: dense}
	options := graph.Options{Dim: 7, Negatives: 3, Seed: seed, Threads: 3, Optimizer: optim.Options{Method: method, Beta1: .8, Beta2: .99, WeightDecay: .1, Epsilon: 1e-3}}
	p := &pair{fake: devicetest.New()}
	var err error
	if p.cpu, err = graph.NewVanilla(c, noise, o, options); err != nil {
		t.Fatal(err)
	}
	if p.gpu, err = device.NewVanilla(p.fake, c, noise, o, options, device.Float32); err != nil {
		t.Fatal(err)
	}
	return p
}

// A text that does not fit on the device is brought in pieces that do.
func TestFullW2VText(t *testing.T) {
	seed := freshSeed(t)
	c, noise := text(t, seed, 20_000)
	options := sequential.Options{Algorithm: sequential.FullW2V, Dim: 7, Window: 5, Negatives: 3, Epochs: 1, Seed: seed, Threads: 1}
	for _, precision := range []device.Precision{device.Float32, device.Half} {
		memory := func(free int64) int64 {
			bytes, err := device.MemorySequential(c, options, precision, free, 1)
			if err != nil {
				t.Fatal(err)
			}
			return bytes
		}
		all, least := memory(plenty), memory(0)
		for _, x := range []struct {
			free       int64
			whole, fit bool
		}{{plenty, true, true}, {all, true, true}, {all - 1, false, true}, {(all + least) / 2, false, true}, {least, false, true}, {least - 1, false, false}} {
			if need := memory(x.free); (need <= x.free) != x.fit || (need == all) != x.whole {
				t.Errorf("%s: %d bytes free of the %d that all takes: needs %d", precision, x.free, all, need)
			}
			fake := devicetest.New()
			fake.Free = x.free
			k, err := device.NewSequential(fake, c, noise, options, precision)
			if err != nil {
				t.Fatal(err)
			}
			if (fake.Sentence.TextTokens == 0) != x.whole {
				t.Errorf("%s: %d bytes free of the %d that all takes: %d tokens on the device", precision, x.free, all, fake.Sentence.TextTokens)
			}
			if err := errors.Join(k.Close(), fake.Close()); err != nil {
				t.Error(err)
			}
		}
	}
}

// Memory of a device where M does not fit, or does.
const little, plenty = 1 << 20, 1 << 40

var pairs = map[string]func(*testing.T, uint64) *pair{
	"cl adam":          func(t *testing.T, seed uint64) *pair { return newCL(t, seed, optim.Adam, 40, 150, little) },
	"cl adam-row":      func(t *testing.T, seed uint64) *pair { return newCL(t, seed, optim.AdamRow, 7, 150, little) },
	"cl adagrad":       func(t *testing.T, seed uint64) *pair { return newCL(t, seed, optim.AdaGrad, 7, 150, little) },
	"cl sgd":           func(t *testing.T, seed uint64) *pair { return newCL(t, seed, optim.SGD, 150, 150, little) },
	"cl M":             func(t *testing.T, seed uint64) *pair { return newCL(t, seed, optim.Adam, 41, 150, plenty) },
	"cl same column":   func(t *testing.T, seed uint64) *pair { return newSameColumn(t, seed, 40, little) },
	"cl same column M": func(t *testing.T, seed uint64) *pair { return newSameColumn(t, seed, 37, plenty) },
	"cl tempered": func(t *testing.T, seed uint64) *pair {
		return newTempered(t, seed, optim.AdamRow, wordcontext.Options{Contexts: 20, Tempering: .75, Positives: 2, MaxPositives: 9}, 8, 150, little)
	},
	"cl tempered M": func(t *testing.T, seed uint64) *pair {
		return newTempered(t, seed, optim.SGD, wordcontext.Options{Contexts: 20, Tempering: 1, Positives: .5}, 0, 150, plenty)
	},
	"cl shared": func(t *testing.T, seed uint64) *pair {
		return newTempered(t, seed, optim.SGD, wordcontext.Options{Contexts: 40}, 5, 150, little)
	},
	"cl cnn": func(t *testing.T, seed uint64) *pair {
		return newEncodedCL(t, seed, optim.Adam, plenty, func(words []string) (subword.Encoder, error) {
			return subword.NewNetwork("cnn", words, subword.NetworkOptions{Dim: 7, CharDim: 3, Filters: []int{4}, Widths: []int{1, 3}, Rate: .1})
		})
	},
	"cl cnn of the paper": func(t *testing.T, seed uint64) *pair {
		return newEncodedCL(t, seed, optim.Adam, plenty, func(words []string) (subword.Encoder, error) {
			return subword.NewNetwork("cnn", words, subword.NetworkOptions{Dim: 7, CharDim: 3, Filters: []int{4, 2}, Widths: []int{1, 3}, Rate: .1,
				Raw: true, Activation: subword.Tanh, Spelling: subword.SpellingOptions{Limit: 6}})
		})
	},
	"cl cnn of n-grams": func(t *testing.T, seed uint64) *pair {
		return newEncodedCL(t, seed, optim.Adam, plenty, func(words []string) (subword.Encoder, error) {
			return subword.NewNetwork("cnn", words, subword.NetworkOptions{Dim: 7, CharDim: 6, Filters: []int{4, 2}, Widths: []int{1, 3}, Rate: .5, LayerRates: true,
				Activation: subword.Tanh, Spelling: subword.SpellingOptions{Gram: []int{1, 2, 4}}})
		})
	},
	"cl cnn+words": func(t *testing.T, seed uint64) *pair {
		return newEncodedCL(t, seed, optim.AdamRow, little, func(words []string) (subword.Encoder, error) {
			e, err := subword.NewNetwork("cnn", words, subword.NetworkOptions{Dim: 7, CharDim: 3, Filters: []int{4}, Widths: []int{2}, Rate: .1})
			return subword.WithWords(e), err
		})
	},
	"cl ngrams": func(t *testing.T, seed uint64) *pair {
		return newTemperedParts(t, seed, optim.Adam, wordcontext.Options{}, 0, plenty, subword.NGramOptions{Dim: 7, Shortest: 1, Longest: 3, Buckets: 70})
	},
	"cl cnn+words tempered": func(t *testing.T, seed uint64) *pair {
		return newTemperedEncoder(t, seed, optim.Adam, wordcontext.Options{Tempering: 1, Positives: .5, MaxPositives: 9}, 5, plenty, func(words []string) (subword.Encoder, error) {
			e, err := subword.NewNetwork("cnn", words, subword.NetworkOptions{Dim: 7, CharDim: 3, Filters: []int{4}, Widths: []int{2}, Rate: .1})
			return subword.WithWords(e), err
		})
	},
	"cl ngrams+words tempered": func(t *testing.T, seed uint64) *pair {
		return newTemperedParts(t, seed, optim.Adam, wordcontext.Options{Tempering: 1, Positives: .5}, 5, little, subword.NGramOptions{Dim: 7, Own: true})
	},
	"cl ngrams shared": func(t *testing.T, seed uint64) *pair {
		return newTemperedParts(t, seed, optim.AdamRow, wordcontext.Options{}, 5, plenty, subword.NGramOptions{Dim: 7, Shortest: 1, Longest: 3, Buckets: 70})
	},
	"fullw2v": func(t *testing.T, seed uint64) *pair { return newFullW2V(t, seed, 3) },
	"fullregister": func(t *testing.T, seed uint64) *pair {
		return newSequential(t, seed, 3, sequential.FullRegister, sequential.SkipGram)
	},
	"word2vec": func(t *testing.T, seed uint64) *pair {
		return newSequential(t, seed, 3, sequential.Word2Vec, sequential.SkipGram)
	},
	"cbow": func(t *testing.T, seed uint64) *pair {
		return newSequential(t, seed, 3, sequential.Word2Vec, sequential.CBOW)
	},
	"pword2vec": func(t *testing.T, seed uint64) *pair {
		return newSequential(t, seed, 3, sequential.PWord2Vec, sequential.SkipGram)
	},
	"parw2v": func(t *testing.T, seed uint64) *pair {
		return newSequential(t, seed, 3, sequential.PARW2V, sequential.SkipGram)
	},
	"stretches": func(t *testing.T, seed uint64) *pair { return newStretches(t, seed, optim.Adam, nil, false) },
	"stretches, n-grams": func(t *testing.T, seed uint64) *pair {
		return newStretches(t, seed, optim.AdamRow, &subword.NGramOptions{Dim: 7, Shortest: 2, Longest: 4, Buckets: 100}, true)
	},
	"vanilla dense": func(t *testing.T, seed uint64) *pair { return newVanilla(t, seed, optim.Adam, true) },
	"vanilla lazy":  func(t *testing.T, seed uint64) *pair { return newVanilla(t, seed, optim.AdamRow, false) },
	"vanilla sgd":   func(t *testing.T, seed uint64) *pair { return newVanilla(t, seed, optim.SGD, true) },
}

func init() { // modes with n-grams
	for _, a := range sequential.Algorithms() {
		if !a.Composes || !device.ComposesOn(a.Name) {
			continue
		}
		for _, m := range append(a.Models, sequential.ModelDescriptor{Name: sequential.SkipGram}) {
			for _, own := range []bool{true, false} {
				pairs[fmt.Sprintf("%s %s ngrams own=%v", a.Name, m.Name, own)] = func(t *testing.T, seed uint64) *pair {
					return newComposed(t, seed, a.Name, m.Name, own)
				}
			}
		}
	}
}

func each(t *testing.T, test func(t *testing.T, p *pair)) {
	for name, open := range pairs {
		t.Run(name, func(t *testing.T) {
			p := open(t, freshSeed(t))
			defer p.close(t)
			test(t, p)
		})
	}
}

func rateOf(unit int) float64 { return 0.01 / float64(1+unit) }

// train trains units in series of changing lengths.
func train(t *testing.T, gpu device.Trainer, from, to int) (reports []trainer.Report) {
	t.Helper()
	for size := 1; from < to; size = size*3%79 + 1 {
		var rates []float64
		for unit := from; unit < min(from+size, to); unit++ {
			rates = append(rates, rateOf(unit))
		}
		got, err := gpu.AdvanceSeries(t.Context(), from, rates)
		if err != nil || len(got) != len(rates) {
			t.Fatalf("units %d to %d: %d reports, %v", from, from+len(rates), len(got), err)
		}
		reports, from = append(reports, got...), from+len(rates)
	}
	return reports
}

func same(t *testing.T, p *pair, everything bool) {
	t.Helper()
	if err := p.gpu.Pull(everything); err != nil {
		t.Fatal(err)
	}
	for _, x := range []both{p.cpu, p.gpu} {
		if err := trainer.Refresh(x); err != nil { // of an encoder
			t.Fatal(err)
		}
	}
	gotWords, gotContexts := p.gpu.Tables()
	words, contexts := p.cpu.Tables()
	if !slices.Equal(gotWords, words) || !slices.Equal(gotContexts, contexts) {
		t.Error("the tables differ")
	}
	if !everything {
		return
	}
	state := p.gpu.State()
	for i, want := range p.cpu.State() {
		if state[i].Name != want.Name || !slices.Equal(state[i].Data, want.Data) {
			t.Errorf("tensor %s is not that of %s", state[i].Name, want.Name)
		}
	}
}

// TestSame: whatever the series, both devices train the same to the bit, report the same, and go on
// from each other's state. The trainers of the CPU do the work on both, but those of the device know
// only what the kernels are told, sent and handed: the options, the state, units, rates,
// samples and minibatches. That CUDA computes the same is not a question for this test.
func TestSame(t *testing.T) {
	each(t, func(t *testing.T, p *pair) {
		units := p.cpu.Units()
		if p.gpu.Units() != units {
			t.Fatalf("%d units, want %d", p.gpu.Units(), units)
		}
		compare := func(got []trainer.Report, from, to int) {
			for unit := from; unit < to; unit++ {
				want, err := p.cpu.Advance(t.Context(), unit, rateOf(unit))
				if err != nil {
					t.Fatal(err)
				}
				if r := got[unit-from]; r != want {
					t.Fatalf("unit %d: %+v, want %+v", unit, r, want)
				}
			}
		}
		middle := units * 2 / 3
		compare(train(t, p.gpu, 0, middle), 0, middle)
		same(t, p, false)
		same(t, p, true)

		// A checkpoint of the CPU goes on on the device.
		for i, tensor := range p.cpu.State() {
			copy(p.gpu.State()[i].Data, tensor.Data)
		}
		p.gpu.Push()
		compare(train(t, p.gpu, middle, units), middle, units)
		same(t, p, true)

		p.gpu.Reset()
		p.cpu.Reset()
		compare(train(t, p.gpu, 0, 3), 0, 3)
		same(t, p, true)
	})
}

// TestPullBeforeTraining: what is on the host counts until training begins.
func TestPullBeforeTraining(t *testing.T) {
	each(t, func(t *testing.T, p *pair) {
		same(t, p, false)
		words, _ := p.gpu.Tables()
		words[0] = 42
		p.gpu.Push()
		if err := p.gpu.Pull(true); err != nil || words[0] != 42 {
			t.Errorf("word value %v, %v", words[0], err)
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, p *pair) {
		if _, err := p.gpu.AdvanceSeries(t.Context(), 0, []float64{.1}); err != nil {
			t.Fatal(err)
		}
		p.fake.NotANumber = true
		if report, err := p.gpu.Advance(t.Context(), 1, .1); err != nil || !math.IsNaN(report.Loss) {
			t.Errorf("loss %v, error %v, want NaN", report.Loss, err)
		}
		p.fake.NotANumber = false
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.gpu.Advance(ctx, 1, .1); !errors.Is(err, context.Canceled) {
			t.Errorf("after cancel: error %v", err)
		}
		failure := errors.New("the device fell off the bus")
		p.fake.Fail = failure
		if _, err := p.gpu.Advance(t.Context(), 1, .1); !errors.Is(err, failure) {
			t.Errorf("Advance: error %v", err)
		}
		if err := p.gpu.Pull(true); !errors.Is(err, failure) {
			t.Errorf("Pull: error %v", err)
		}
		p.gpu.Push()
		if _, err := p.gpu.Advance(t.Context(), 1, .1); !errors.Is(err, failure) {
			t.Errorf("Advance after Push: error %v", err)
		}
	})
}

func TestFullW2VUnits(t *testing.T) {
	p := newFullW2V(t, 1, 2)
	defer p.close(t)
	for _, units := range [][2]int{{-1, 1}, {p.gpu.Units(), 1}, {0, p.gpu.Units() + 1}, {0, 0}} {
		if _, err := p.gpu.AdvanceSeries(t.Context(), units[0], make([]float64, units[1])); err == nil || !strings.Contains(err.Error(), "there are no units") {
			t.Errorf("%d units from %d: error %v", units[1], units[0], err)
		}
	}
	if got := p.gpu.SeriesLength(); got != 1 {
		t.Errorf("first series of %d units", got)
	}
	train(t, p.gpu, 0, 1)
	if got := p.gpu.SeriesLength(); got < 1 || got > 4 {
		t.Errorf("second series of %d units", got)
	}
}

func TestOrdinals(t *testing.T) {
	for name, want := range map[string][]int{
		"cuda": {0}, "cuda:0": {0}, "cuda:7": {7}, "cuda:12": {12}, "cuda:0,1": {0, 1}, "cuda:3,cuda:1": {3, 1}, "cuda:0,1,2,3,7,6,5,4": {0, 1, 2, 3, 7, 6, 5, 4},
	} {
		if got, err := device.Ordinals(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %d, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"": "not a device", "cpu": "not a device", "cuda:": "not a device", "cuda:-1": "not a device", "cuda:0,": "not a device", "cuda,cuda:1": "not a device", "cuda:x": "not a device", "cuda:99999999999999999999": "not a device",
		"cuda:1,2,cuda:1,3": "names GPU 1 twice", "cuda:0,1,2": "names 3 GPUs",
	} {
		if _, err := device.Ordinals(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", name, err, want)
		}
	}
}
