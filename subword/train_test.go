package subword

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A trial is a small training of W2V-CL on the corpus of testdata.
type trial struct {
	matrix *wordcontext.Matrix
	noise  *corpus.Alias
	words  []string
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	text, err := corpus.ReadFrom(context.Background(), testdata.Corpus(), "sotu", corpus.Options{MinCount: 200, Lowercase: true, Tokenizer: corpus.Words})
	if err != nil {
		t.Fatal(err)
	}
	m, err := wordcontext.Build(context.Background(), text, wordcontext.Options{Window: 2, Contexts: 64, Passes: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		t.Fatal(err)
	}
	return &trial{matrix: m, noise: noise, words: text.Vocabulary.Words}
}

const iterations = 40

func config(threads int) graph.Config {
	return graph.Config{Dim: 20, Negatives: 3, Seed: 7, Threads: threads, Optimizer: optim.Config{Method: optim.Adam}}
}

func (tr *trial) encoders(t *testing.T) map[string]Encoder {
	t.Helper()
	cnn, err := NewCNN(tr.words, CNNOptions{Dim: 20, CharDim: 8, Filters: 16})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := NewNGrams(tr.words, NGramOptions{Dim: 20})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Encoder{"cnn": cnn, "n-grams": sums}
}

// start returns a fresh training with the encoder, in the given state if there
// is one.
func (tr *trial) start(t *testing.T, e Encoder, threads int, saved [][]float32) *graph.TwoStep {
	t.Helper()
	s, err := graph.NewTwoStepWithEncoder(tr.matrix, tr.noise, iterations, e, config(threads))
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

func advance(t *testing.T, s *graph.TwoStep, from, to int) (losses []float64) {
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

func copyState(s *graph.TwoStep) (saved [][]float32) {
	for _, x := range s.State() {
		saved = append(saved, slices.Clone(x.Data))
	}
	return saved
}

// Training learns; threads, a break with a resume, and Reset change no bit; and
// the encoder gives the words of the table their trained vectors.
func TestTraining(t *testing.T) {
	tr := newTrial(t)
	for name, e := range tr.encoders(t) {
		first := tr.start(t, e, 1, nil)
		fresh := copyState(first)
		losses := advance(t, first, 0, iterations)
		if last := losses[iterations-1]; !(last < 0.97*losses[0]) {
			t.Errorf("%s: the loss went from %v to %v", name, losses[0], last)
		}
		want := copyState(first)
		vectors, _ := first.Tables()
		got := make([]float32, len(vectors))
		if err := e.Encode(tr.words, got); err != nil || !slices.Equal(got, vectors) {
			t.Errorf("%s: the encoder gives other vectors than the table holds (error %v)", name, err)
		}

		half := tr.start(t, tr.encoders(t)[name], 2, nil)
		advance(t, half, 0, iterations/2)
		second := tr.start(t, tr.encoders(t)[name], 3, copyState(half))
		if err := second.Refresh(); err != nil {
			t.Fatal(err)
		}
		a, _ := half.Tables()
		b, _ := second.Tables()
		if !slices.Equal(a, b) {
			t.Errorf("%s: after Refresh the table is not that of the state", name)
		}
		advance(t, second, iterations/2, iterations)
		for i, x := range second.State() {
			if !slices.Equal(x.Data, want[i]) {
				t.Errorf("%s: %s has other bits with more threads and a break", name, x.Name)
			}
		}

		first.Reset()
		for i, x := range first.State() {
			if !slices.Equal(x.Data, fresh[i]) {
				t.Errorf("%s: after Reset, %s is not as it was", name, x.Name)
			}
		}
	}
}

func TestTrainingErrors(t *testing.T) {
	tr := newTrial(t)
	few, err := NewNGrams(tr.words[1:], NGramOptions{Dim: 20})
	if err != nil {
		t.Fatal(err)
	}
	e := tr.encoders(t)["n-grams"]
	for name, change := range map[string]func(e *Encoder, c *graph.Config){
		"words":      func(e *Encoder, _ *graph.Config) { *e = few },
		"dimensions": func(_ *Encoder, c *graph.Config) { c.Dim = 19 },
		"form":       func(_ *Encoder, c *graph.Config) { c.Form = graph.FormStock },
	} {
		e, c := e, config(1)
		change(&e, &c)
		if _, err := graph.NewTwoStepWithEncoder(tr.matrix, tr.noise, 1, e, c); err == nil {
			t.Errorf("no error for wrong %s", name)
		}
	}
}

// BenchmarkEncode is the time of a thousand unseen words.
func BenchmarkEncode(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c, err := NewCNN(manyWords(r, 1000), CNNOptions{Dim: 100})
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
