package sequential

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func TestUnits(t *testing.T) {
	lines := make([]string, 500)
	for i := range lines {
		lines[i] = corpustest.Zipf(uint64(i), 1+i%50, 100, 0)
	}
	text, _ := corpustest.Read(t, strings.Join(lines, "\n"))
	for _, epochs := range []int{1, 3, 1000} {
		units := cut(text.Text(), ordinaryUnit(len(text.Tokens), &Options{Epochs: epochs}))
		if units[0] != 0 || units[len(units)-1] != len(text.Tokens) || !slices.IsSorted(units) || len(slices.Compact(slices.Clone(units))) != len(units) {
			t.Errorf("%d epochs: units %v", epochs, units)
		}
		if n := epochs * (len(units) - 1); n < 150 {
			t.Errorf("%d epochs: only %d units", epochs, n)
		}
	}
	if got := cut(encoded.New(nil, []int{0, 7}), 1); !slices.Equal(got, []int{0, 7}) {
		t.Errorf("one sentence: %v", got)
	}
	// A run that ends before its epochs do has as many units.
	short := Options{Epochs: 1000, RunTokens: len(text.Tokens) / 2}
	if n := len(cut(text.Text(), ordinaryUnit(len(text.Tokens), &short))) / 2; n < 150 {
		t.Errorf("half an epoch: only %d units", n)
	}
	// Very long texts have units of about unitTokens.
	var sentences []int
	for i := 0; i <= 1<<20; i++ {
		sentences = append(sentences, i*1000)
	}
	for i, end := range cut(encoded.New(nil, sentences), ordinaryUnit(len(sentences)*1000, &Options{Epochs: 5}))[1:3] {
		if got := end - i*unitTokens; got < unitTokens || got > unitTokens+2000 {
			t.Errorf("unit %d ends at %d", i, end)
		}
	}
}

func TestAdvanceErrors(t *testing.T) {
	tr := newTrainer(t, corpustest.Zipf(1, 1000, 50, 0), modes()["fullw2v"])
	for _, unit := range []int{-1, tr.Units()} {
		if _, err := tr.Advance(context.Background(), unit, 0.1); err == nil {
			t.Errorf("unit %d: no error", unit)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tr.Advance(ctx, 0, 0.1); err == nil {
		t.Error("cancelled: no error")
	}
}

// An idle trainer has nothing but the tables and units of one that trains.
func TestIdle(t *testing.T) {
	text, noise := corpustest.Read(t, corpustest.Zipf(1, 20_000, 50, 0)) // several threads would have copies of rows
	for name, c := range modes() {
		if c.HierarchicalSoftmax {
			continue // devices do not train it
		}
		c.Threads = 1
		busy, err := New(text, noise, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.Threads, c.Idle, c.Account = 8, true, trainer.NewAccount(func(*trainer.Account) error { return nil })
		idle, err := New(text, noise, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, tensor := range idle.State() {
			if slices.ContainsFunc(tensor.Data, func(x float32) bool { return x != 0 && x != 1 }) {
				t.Errorf("%s: %s before Reset", name, tensor.Name)
			}
		}
		idle.Reset()
		for i, tensor := range idle.State() {
			if !slices.Equal(tensor.Data, busy.State()[i].Data) {
				t.Errorf("%s: %s begins with other values", name, tensor.Name)
			}
		}
		if !slices.Equal(idle.Bounds(), busy.Bounds()) {
			t.Errorf("%s: other units", name)
		}
		if _, err := idle.Advance(context.Background(), 0, .1); err == nil {
			t.Errorf("%s: it trains", name)
		}
		tables := 4 * 2 * int64(text.Vocabulary.Len()*c.Dim)
		planned := trainer.Dry(func(a *trainer.Account) { err = Plan(a, text.Vocabulary.Len(), len(text.Tokens), c) })
		for what, a := range map[string]*trainer.Account{"planned": planned, "live": c.Account} {
			if work := a.Sum(trainer.ForWork); err != nil || work != 0 || a.Sum(trainer.ForTables) != tables {
				t.Errorf("%s, %s: %d bytes of tables, %d of work, %v", name, what, a.Sum(trainer.ForTables), work, err)
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	text, noise := corpustest.Read(t, "a b c a b")
	good := modes()["word2vec"]
	for name, change := range map[string]func(c *Options){
		"algorithm": func(c *Options) { c.Algorithm = "magic" },
		"model":     func(c *Options) { c.Model = "lstm" },
		"cbow":      func(c *Options) { c.Algorithm, c.Model = FullW2V, CBOW },
		"dimension": func(c *Options) { c.Dim = 0 },
		"window":    func(c *Options) { c.Window = 0 },
		"large":     func(c *Options) { c.Window = maxWindow + 1 },
		"negatives": func(c *Options) { c.Negatives = -1 },
		"sample":    func(c *Options) { c.Sample = math.NaN() },
		"epochs":    func(c *Options) { c.Epochs = 0 },
		"threads":   func(c *Options) { c.Threads = -1 },
		"batch":     func(c *Options) { c.Batch = -1 },
		"combine":   func(c *Options) { c.Combine = -1 },
		"span":      func(c *Options) { c.Span = -1 },
	} {
		c := good
		change(&c)
		if _, err := New(text, noise, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(text, noise, good); err != nil {
		t.Error(err)
	}
	small, smallNoise := corpustest.Read(t, "a a a")
	if _, err := New(small, smallNoise, good); err == nil {
		t.Error("one word: no error")
	}
	if _, err := New(text, smallNoise, good); err == nil {
		t.Error("noise of another vocabulary: no error")
	}
	wrong := &corpus.Corpus{Vocabulary: text.Vocabulary, Tokens: []uint32{9}, Sentences: []int{0, 1}}
	if _, err := New(wrong, noise, good); err == nil {
		t.Error("a token beyond the vocabulary: no error")
	}
	empty := &corpus.Corpus{Vocabulary: text.Vocabulary, Sentences: []int{0}}
	if _, err := New(empty, noise, good); err == nil {
		t.Error("no sentence: no error")
	}
}
