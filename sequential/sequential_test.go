package sequential

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// modes are all ways to train, with small settings.
func modes() map[string]Options {
	c := Options{Dim: 20, Window: 5, Negatives: 5, Sample: 1e-2, Epochs: 2, Seed: 7, Threads: 1}
	all := map[string]Options{}
	for _, d := range Algorithms() {
		c.Algorithm, c.Model = d.Name, SkipGram
		all[modeName(c)] = c
		for _, m := range d.Models {
			c.Model = m.Name
			all[modeName(c)] = c
			if d.Hierarchical {
				hierarchical := c
				hierarchical.HierarchicalSoftmax = true
				all[modeName(c)+"-hierarchical"] = hierarchical
			}
		}
	}
	pairs := all["fullw2v"]
	pairs.PairByPair = true
	all[modeName(pairs)] = pairs
	return all
}

// modeName is that of the algorithm, or of a model that is not its default.
func modeName(c Options) string {
	switch {
	case c.Model != SkipGram:
		return string(c.Model)
	case c.PairByPair:
		return "pairbypair"
	}
	return string(c.Algorithm)
}

func eachMode(t *testing.T, f func(t *testing.T, c Options)) {
	for name, c := range modes() {
		t.Run(name, func(t *testing.T) { f(t, c) })
	}
}

func newTrainer(t testing.TB, text string, c Options) *Trainer {
	t.Helper()
	parsed, noise := corpustest.Read(t, text)
	tr, err := New(parsed, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// advance trains the units from first to end.
func advance(t testing.TB, tr *Trainer, first, end int) (sum trainer.Report) {
	t.Helper()
	for u := first; u < end; u++ {
		report, err := tr.Advance(context.Background(), u, 0.025)
		if err != nil {
			t.Fatal(err)
		}
		sum.Loss, sum.Pairs, sum.Words = sum.Loss+report.Loss, sum.Pairs+report.Pairs, sum.Words+report.Words
	}
	return sum
}

// A thread of several writes back as one alone does, if the others change nothing.
func TestWriteBackOfSentence(t *testing.T) {
	c := modes()["fullw2v"]
	c.Threads, c.Seed = 2, rand.Uint64()
	testSentence(t, corpustest.Zipf(c.Seed, 150, 60, 0)+"\n"+corpustest.Zipf(1, 200, 60, 0), c)
}

// Every algorithm does to a sentence what its paper says.
func TestSingleSentence(t *testing.T) {
	seed := rand.Uint64()
	longest := 1000
	if testing.Short() {
		longest = 150
	}
	eachMode(t, func(t *testing.T, c Options) {
		for _, negatives := range []int{1, 5, 7, 12} {
			for _, length := range []int{1, 2, 3, c.Window, 2 * c.Window, 100, longest} {
				c := c
				c.Negatives, c.Seed, c.Epochs = negatives, seed, 1
				if length < 100 {
					c.Sample = 0
				}
				t.Run(fmt.Sprintf("K=%d/length=%d/seed=%d", negatives, length, seed), func(t *testing.T) {
					// The second line makes sure that there are other words.
					testSentence(t, corpustest.Zipf(seed, length, 60, 0)+"\n"+corpustest.Zipf(seed+1, 200, 60, 0), c)
				})
			}
		}
	})
}

func testSentence(t *testing.T, text string, c Options) {
	train := references[modeName(c)]
	if train == nil {
		t.Fatalf("%s has no reference in reference_test.go", modeName(c))
	}
	testReference(t, text, 1, c, train)
}

func testSentences(t *testing.T, text string, c Options, train func(r *reference)) {
	testReference(t, text, strings.Count(text, "\n")+1, c, train)
}

// testReference compares the training of the first sentences with that of a reference, to
// which the first has been read.
func testReference(t *testing.T, text string, sentences int, c Options, train func(r *reference)) {
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	parsed, noise := corpustest.Read(t, text)
	tr, err := New(parsed, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(c.Seed, 5))
	ref := &reference{Options: c, text: parsed, noise: noise, rate: 0.025}
	for _, x := range tr.State() { // C is not zero in the middle of a run
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64()) / 8
		}
	}
	ref.words, ref.contexts = wide(tr.words), wide(outputTable(tr))
	ref.read(0)
	train(ref)
	w := tr.workers[0]
	w.begin(0, 0.025)
	w.train(0, sentences)
	checkTable(t, "W", tr.words, ref.words)
	checkTable(t, "C or nodes", outputTable(tr), ref.contexts)
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func checkTable(t *testing.T, name string, got []float32, want []float64) {
	t.Helper()
	worst := 0.0
	for i := range got {
		worst = max(worst, math.Abs(float64(got[i])-want[i]))
	}
	if !(worst <= 1e-5) {
		t.Errorf("%s is off by up to %v", name, worst)
	}
}

// Texts of odd shapes lose no token, and train without error.
func TestOddTexts(t *testing.T) {
	texts := map[string]string{
		"empty lines":    "\n\na b c\n\n\nb c d\n\n",
		"one-word lines": "a\nb\nc\na\n",
		"one long line":  corpustest.Zipf(3, 10_000, 1000, 0),
		"CRLF":           "a b c\r\nb\r\n\r\nc d a\r\n",
		"two words":      "a b",
		"one frequent":   strings.Repeat("a ", 5000) + "b",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, c Options) {
				tr := newTrainer(t, text, c)
				report := advance(t, tr, 0, tr.Units())
				if want := float64(c.Epochs) * float64(tr.text.Stats.TokensUsed); report.Words != want {
					t.Errorf("trained on %v words, want %v", report.Words, want)
				}
				if name == "one frequent" && c.Algorithm == PARW2V {
					// A mini-batch of one word, 24 times, with one negative, eight
					// times, is a step 192 times too large: it may well diverge.
					return
				}
				if math.IsNaN(report.Loss) || math.IsInf(report.Loss, 0) {
					t.Errorf("loss %v", report.Loss)
				}
				for _, x := range slices.Concat(tr.words, tr.contexts) {
					if x != x {
						t.Fatal("NaN in the tables")
					}
				}
			})
		})
	}
}

// What is reported is the loss of the pairs as they are trained: before any
// step it is log 2 a pair, for C is zero.
func TestLossOfFirstPairs(t *testing.T) {
	eachMode(t, func(t *testing.T, c Options) {
		tr := newTrainer(t, corpustest.Zipf(1, 2000, 100, 0), c)
		report, err := tr.Advance(context.Background(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if report.Pairs == 0 || math.Abs(report.Loss/report.Pairs-math.Ln2) > 1e-6 {
			t.Errorf("loss %v of %v pairs, want log 2 each", report.Loss, report.Pairs)
		}
	})
}

// Words that always come together are learnt.
func TestLossFalls(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for range 3000 {
		n := r.IntN(20)
		fmt.Fprintf(&b, "a%d b%d c%d d%d\n", n, n, n, n)
	}
	eachMode(t, func(t *testing.T, c Options) {
		c.Sample, c.Epochs = 0, 5
		tr := newTrainer(t, b.String(), c)
		n := tr.Units() / c.Epochs
		begin := advance(t, tr, 0, n)
		advance(t, tr, n, 4*n)
		end := advance(t, tr, 4*n, 5*n)
		if a, b := begin.Loss/begin.Pairs, end.Loss/end.Pairs; b > 0.9*a {
			t.Errorf("loss a pair was %v in the first epoch and %v in the last", a, b)
		}
	})
}

// A trainer given the state of another at the end of a unit goes on as that one
// does, and after Reset as a new one.
func TestResumeAndReset(t *testing.T) {
	text := corpustest.Zipf(2, 5000, 300, 0)
	eachMode(t, func(t *testing.T, c Options) {
		one := newTrainer(t, text, c)
		half := one.Units() / 2
		advance(t, one, 0, half)
		other := newTrainer(t, text, c)
		start := slices.Concat(other.words, other.contexts)
		for i, x := range one.State() {
			if other.State()[i].Name != x.Name {
				t.Fatal("tensors in another order")
			}
			copy(other.State()[i].Data, x.Data)
		}
		a, b := advance(t, one, half, one.Units()), advance(t, other, half, one.Units())
		if a != b || !slices.Equal(one.words, other.words) || !slices.Equal(one.contexts, other.contexts) {
			t.Errorf("the resumed run differs: %v and %v", a, b)
		}
		one.Reset()
		if !slices.Equal(slices.Concat(one.words, one.contexts), start) {
			t.Error("Reset does not go back to the start")
		}
	})
}

// Threads change the order of updates and nothing else: the same pairs are
// trained, to about the same loss: on so little text the order alone changes it by
// some per cent.
func TestThreads(t *testing.T) {
	if raceEnabled {
		t.Skip("Hogwild races on purpose")
	}
	text := corpustest.Zipf(4, 30_000, 1000, 0)
	eachMode(t, func(t *testing.T, c Options) {
		one := newTrainer(t, text, c)
		a := advance(t, one, 0, one.Units())
		for _, c.Threads = range []int{3, fewestThreads} {
			several := newTrainer(t, text, c)
			b := advance(t, several, 0, several.Units())
			if a.Pairs != b.Pairs || a.Words != b.Words || math.Abs(a.Loss/b.Loss-1) > 0.15 {
				t.Errorf("one thread: %+v, %d threads: %+v", a, c.Threads, b)
			}
		}
	})
}

// The levels of package simd give the same vectors, to rounding.
func TestLevels(t *testing.T) {
	best := simd.Current()
	defer func() { _ = simd.Use(best) }()
	text := corpustest.Zipf(2, 2000, 300, 0)
	eachMode(t, func(t *testing.T, c Options) {
		var want []float32
		for _, l := range simd.Levels() {
			_ = simd.Use(l)
			tr := newTrainer(t, text, c)
			advance(t, tr, 0, tr.Units())
			if want == nil {
				want = slices.Clone(tr.words)
			}
			checkTable(t, "W at level "+string(l), tr.words, wide(want))
		}
	})
}

func TestNoAllocations(t *testing.T) {
	text := corpustest.Zipf(2, 5000, 300, 0)
	eachMode(t, func(t *testing.T, c Options) {
		tr := newTrainer(t, text, c)
		w := tr.workers[0]
		train := func() {
			w.begin(0, 0.025)
			w.train(0, len(tr.text.Sentences)-1)
		}
		train()
		if n := testing.AllocsPerRun(3, train); n != 0 {
			t.Errorf("%v allocations in 5000 words", n)
		}
	})
}
