package sequential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// sentencesOf draws sentences of so many words, one of another length now and then.
func sentencesOf(seed uint64, length, count, vocabulary int) string {
	lines := make([]string, count)
	for i := range lines {
		n := length
		if i%7 == 3 {
			n = 1 + i%3
		}
		lines[i] = corpustest.Zipf(seed+uint64(i), n, vocabulary, 0)
	}
	return strings.Join(lines, "\n")
}

// Windows of several sentences are combined as the reference does it.
func TestSpan(t *testing.T) {
	seed := rand.Uint64()
	for _, x := range []struct{ span, combine, negatives int }{
		{1, 8, 5}, {10, 8, 5}, {37, 3, 1}, {100, 8, 7}, {100, 1, 5}, {1000, 2, 5}, {1000, 64, 3}, {1000, 8, 12},
	} {
		t.Run(fmt.Sprintf("T=%d/C=%d/K=%d/seed=%d", x.span, x.combine, x.negatives, seed), func(t *testing.T) {
			c := modes()["psgnscc"]
			c.Span, c.Combine, c.Negatives, c.Epochs, c.Seed = x.span, x.combine, x.negatives, 1, seed
			testSentences(t, sentencesOf(seed, 9, 60, 80), c, func(r *reference) {
				var windows []window
				for n := range len(r.text.Sentences) - 1 {
					r.read(n)
					if len(windows)+len(r.sentence) > x.span {
						r.span(windows)
						windows = nil
					}
					windows = append(windows, r.windows()...)
				}
				r.span(windows)
			})
		})
	}
}

// In sentences as short as those of usual texts a product has about as many windows as
// it may have. One of a sentence alone had 1.07.
func TestWindowsOfProducts(t *testing.T) {
	c := modes()["psgnscc"]
	c.Sample = 1e-4
	tr := newTrainer(t, sentencesOf(1, 25, 8000, 20_000), c)
	w := tr.workers[0]
	p := w.algorithm.(*pSGNScc)
	w.begin(0, 0.025)
	for n := range len(tr.text.Sentences) - 1 {
		words, widths := w.reader.Sentence(0, n)
		p.train(&sentence{first: w.text.Start(n), words: words, widths: widths})
	}
	windows, products := 0, 0
	for _, w := range p.words {
		if w.before+w.after > 0 {
			windows++
		}
	}
	p.list()
	var next combined
	for p.plan(&next); len(next.inputs) > 0; p.plan(&next) {
		products++
	}
	if mean := float64(windows) / float64(products); mean < 4 {
		t.Errorf("%d windows in %d products", windows, products)
	} else {
		t.Logf("%.2f windows a product", mean)
	}
	for word, of := range p.left {
		if of.next < of.end {
			t.Fatalf("a window of word %d is left", word)
		}
	}
}

// Each thread has spans of its own, and all train every window once.
func TestSpansOfThreads(t *testing.T) {
	if raceEnabled {
		t.Skip("Hogwild races on purpose")
	}
	c := modes()["psgnscc"]
	c.Span, c.Epochs = 500, 1
	text := sentencesOf(3, 20, 2000, 300)
	one := newTrainer(t, text, c)
	want := advance(t, one, 0, one.Units())
	for _, c.Threads = range []int{2, 5} {
		several := newTrainer(t, text, c)
		if got := advance(t, several, 0, several.Units()); got.Pairs != want.Pairs || got.Words != want.Words {
			t.Errorf("%d threads: %+v, one: %+v", c.Threads, got, want)
		}
	}
}

// Units of spans are longer than others, whatever the number of threads.
func TestUnitsOfSpans(t *testing.T) {
	d, _ := Find(PSGNScc)
	c, err := modes()["psgnscc"].withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ tokens, epochs, want int }{
		{6400, 1, 100}, {6400, 5, 500}, {10, 1, 1}, {1 << 40, 1, 16 * 500_000},
	} {
		c.Epochs = x.epochs
		if got := d.unit(x.tokens, &c); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
	}
	trainer := newTrainer(t, sentencesOf(3, 20, 2000, 300), modes()["psgnscc"])
	if got, err := Bounds(trainer.sentences, modes()["psgnscc"]); err != nil || !slices.Equal(got, trainer.Bounds()) {
		t.Errorf("bounds without a trainer: %v, want %v (%v)", got, trainer.Bounds(), err)
	}
	if slices.Contains([]int{0, chunkTokens}, d.chunk(&c)) {
		t.Error("a thread takes too few sentences at a time")
	}
}
