package subword

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A trial is a small training of W2V-CL on the corpus of testdata.
type trial struct {
	text     *corpus.Corpus
	matrix   *wordcontext.Matrix
	tempered *wordcontext.Matrix // several samples a row
	noise    *corpus.Alias
	words    []string
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	text, err := corpus.ReadFrom(context.Background(), testdata.Corpus(), "sotu", corpus.Options{MinCount: 400, Lowercase: true, Tokenizer: corpus.Words})
	if err != nil {
		t.Fatal(err)
	}
	m, err := wordcontext.Build(context.Background(), text, wordcontext.Options{Window: 2, Contexts: 64, Passes: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	tempered, err := wordcontext.Build(context.Background(), text, wordcontext.Options{Window: 2, Contexts: 64, Passes: 1, Seed: 3, Positives: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tempered.Close() })
	noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		t.Fatal(err)
	}
	return &trial{text: text, matrix: m, tempered: tempered, noise: noise, words: text.Vocabulary.Words}
}

const iterations = 40

func config(threads int) graph.Options {
	return graph.Options{Dim: 20, Negatives: 3, Seed: 7, Threads: threads, Optimizer: optim.Options{Method: optim.Adam}}
}

func withEncoder(c graph.Options, e graph.Encoder) graph.Options {
	c.Encoder = e
	return c
}

// encoders are constructors, because to make them all takes longer than some of the trainings.
func (tr *trial) encoders(t *testing.T) map[string]func() Encoder {
	cnn := func(o NetworkOptions) Encoder {
		t.Helper()
		o.Dim, o.CharDim = 20, 8
		e, err := NewNetwork("cnn", tr.words, o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one := []int{16}
	return map[string]func() Encoder{
		"cnn": func() Encoder { return cnn(NetworkOptions{Filters: one}) },
		"cnn of lengths": func() Encoder {
			return cnn(NetworkOptions{Filters: one, Activation: Tanh, Spelling: SpellingOptions{Gram: []int{1, 2, 3}}})
		},
		"recurrent": func() Encoder {
			e, err := NewNetwork("recurrent", tr.words, NetworkOptions{Dim: 20, CharDim: 8})
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
		"cnn and words": func() Encoder { return WithWords(cnn(NetworkOptions{Filters: one, Rate: .5})) },
	}
}

// A model is what both trainers with an encoder are.
type model interface {
	Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error)
	Tables() (words, contexts []float32)
	State() []trainer.Tensor
	Refresh() error
	Reset()
	Close() error
}

// start returns a fresh training with the encoder, in the given state if there
// is one.
func (tr *trial) start(t *testing.T, vanilla bool, e Encoder, threads int, saved [][]float32) (s model) {
	t.Helper()
	var err error
	if vanilla {
		s, err = graph.NewVanilla(tr.text, tr.noise, graph.VanillaOptions{Window: 2, Sample: 1e-4, Batch: 900, Epochs: 1, RunTokens: 1 << 22}, withEncoder(config(threads), e)) // units of 16,384 words
	} else {
		s, err = graph.NewCL(tr.matrix, tr.noise, iterations, withEncoder(config(threads), e))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i, x := range s.State() {
		if saved != nil {
			copy(x.Data, saved[i])
		}
	}
	return s
}

func advance(t *testing.T, s model, from, to int) (losses []float64) {
	t.Helper()
	for unit := from; unit < to; unit++ {
		report, err := s.Advance(context.Background(), unit, .005)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, report.Loss/report.Pairs)
	}
	return losses
}

func copyState(s model) (saved [][]float32) {
	for _, x := range s.State() {
		saved = append(saved, slices.Clone(x.Data))
	}
	return saved
}

// Training learns; threads, a break with a resume, and Reset change no bit; and
// after Refresh the encoder gives the words of the table their trained vectors.
func TestTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("every encoder in both modes")
	}
	tr := newTrial(t)
	for name := range tr.encoders(t) {
		t.Run("cl, "+name, func(t *testing.T) { tr.check(t, false, name, iterations) })
		t.Run("vanilla, "+name, func(t *testing.T) { tr.check(t, true, name, 2) })
	}
}

func (tr *trial) check(t *testing.T, vanilla bool, name string, units int) {
	e := tr.encoders(t)[name]()
	first := tr.start(t, vanilla, e, 1, nil)
	fresh := copyState(first)
	losses := advance(t, first, 0, units)
	if last := losses[units-1]; !(last < 0.97*math.Ln2) { // what it is when nothing is known
		t.Errorf("the loss went from %v to %v", losses[0], last)
	}
	want := copyState(first)
	if err := first.Refresh(); err != nil {
		t.Fatal(err)
	}
	vectors, _ := first.Tables()
	got := make([]float32, len(vectors))
	if err := e.Encode(tr.words, got); err != nil {
		t.Fatal(err)
	}
	if w, ok := e.(*withWords); ok {
		for i, x := range w.table.Float32s() {
			got[i] += x
		}
	}
	if !slices.Equal(got, vectors) {
		t.Error("the encoder gives other vectors than the table holds")
	}

	half := tr.start(t, vanilla, tr.encoders(t)[name](), 2, nil)
	advance(t, half, 0, units/2)
	second := tr.start(t, vanilla, tr.encoders(t)[name](), 3, copyState(half))
	for _, s := range []model{half, second} {
		if err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := half.Tables()
	b, _ := second.Tables()
	if !slices.Equal(a, b) {
		t.Error("after Refresh the table is not that of the state")
	}
	advance(t, second, units/2, units)
	for i, x := range second.State() {
		if !slices.Equal(x.Data, want[i]) {
			t.Errorf("%s has other bits with more threads and a break", x.Name)
		}
	}

	first.Reset()
	for i, x := range first.State() {
		if !slices.Equal(x.Data, fresh[i]) {
			t.Errorf("after Reset, %s is not as it was", x.Name)
		}
	}
}

func TestTrainingErrors(t *testing.T) {
	tr := newTrial(t)
	few, err := NewNetwork("cnn", tr.words[1:], NetworkOptions{Dim: 20})
	if err != nil {
		t.Fatal(err)
	}
	e := tr.encoders(t)["cnn"]()
	for name, change := range map[string]func(e *Encoder, c *graph.Options){
		"words":      func(e *Encoder, _ *graph.Options) { *e = few },
		"dimensions": func(_ *Encoder, c *graph.Options) { c.Dim = 19 },
	} {
		e, c := e, config(1)
		change(&e, &c)
		if _, err := graph.NewCL(tr.matrix, tr.noise, 1, withEncoder(c, e)); err == nil {
			t.Errorf("no error for wrong %s", name)
		}
		if _, err := graph.NewVanilla(tr.text, tr.noise, graph.VanillaOptions{Window: 2, Batch: 300, Epochs: 1}, withEncoder(c, e)); err == nil {
			t.Errorf("vanilla: no error for wrong %s", name)
		}
	}
}

// BenchmarkEncode is the time of a thousand unseen words.
func BenchmarkEncode(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c, err := NewNetwork("cnn", manyWords(r, 1000), NetworkOptions{Dim: 100})
	if err != nil {
		b.Fatal(err)
	}
	c.Randomize(1)
	words, dst := manyWords(r, 1000), make([]float32, 1000*100)
	for b.Loop() {
		if err := c.Encode(words, dst); err != nil {
			b.Fatal(err)
		}
	}
}

// Bytes is about what a graph of the rows and their gradient takes.
func TestBytes(t *testing.T) {
	r := newRand(t)
	vocabulary := manyWords(r, 4000)
	for name, o := range map[string]NetworkOptions{
		"characters":   {Filters: []int{64}},
		"lengths":      {Filters: []int{32}, Activation: Tanh, Spelling: SpellingOptions{Gram: []int{1, 2, 3}}},
		"recurrent":    {},
		"lengths, raw": {Filters: []int{48}, Raw: true, Spelling: SpellingOptions{Gram: []int{2, 3, 4}, MinCount: 1}},
	} {
		kind, least := "cnn", .8
		if name == "recurrent" {
			kind, least = name, .5 // Gorgonia uses the memory of some results again
		}
		o.Dim = 8
		e, err := NewNetwork(kind, vocabulary, o)
		if err != nil {
			t.Fatal(err)
		}
		e.Randomize(1)
		rows, gradient := e.Bytes()
		estimate := rows + gradient
		inUse := func() int64 {
			var m runtime.MemStats
			for range 3 { // machines have finalizers
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := inUse()
		p := encoderProbe(t, r, e, 2)
		p.run(t)
		taken := inUse() - before - 6*4*int64(len(vocabulary)*o.Dim)                    // of the probe itself
		if ratio := float64(taken) / float64(estimate); ratio < least || ratio > 1.25 { // matrices are aligned to huge pages, which their ends do not fill
			t.Errorf("%s: %d bytes are in use, estimated %d: %.2f", name, taken, estimate, ratio)
		}
		runtime.KeepAlive(p)
	}
}
