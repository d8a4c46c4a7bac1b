//go:build gpu

package sentence

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// sharesCase is a text of 100 words, rank r 2000/r times, of which the five most
// frequent are halved by subsampling.
func sharesCase(t *testing.T, exponent float64) Options {
	t.Helper()
	c := Options{Mode: FullW2V, Vocabulary: 100, Negatives: 5, Radius: 3, InFlight: 100}
	for w := range c.Vocabulary {
		c.Counts = append(c.Counts, uint64(2000/(w+1)))
		c.Keep = append(c.Keep, math.MaxUint32)
		if w < 5 {
			c.Keep[w] /= 2
		}
	}
	noise, err := corpus.NewAlias(corpus.CountPower(c.Counts, exponent))
	if err != nil {
		t.Fatal(err)
	}
	c.Alias = noise.Table()
	return c
}

// TestShares needs no GPU. So many of some sentences that are drawn here hold a word
// at a time as its share says.
func TestShares(t *testing.T) {
	const trials = 40_000
	c := sharesCase(t, .75)
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 1))
	var text []int // after subsampling
	for w, n := range c.Counts {
		for range n * (uint64(c.Keep[w]) + 1) >> 32 {
			text = append(text, w)
		}
	}
	copies := make([]float64, c.Vocabulary) // at a time
	for range trials {
		held := map[int]bool{}
		for range 2*c.Radius + 1 {
			held[text[r.IntN(len(text))]] = true
		}
		for w := range held {
			copies[w] += float64(c.InFlight) / trials
		}
	}
	full := 0
	shares := c.shares(c.frequencies())
	for w := range c.Vocabulary {
		share := min(shares(w), 1)
		if want := min(1, soundCopies/max(copies[w], 1e-9)); math.Abs(float64(share)-want) > .1*want {
			t.Errorf("word %d: share %.3f, with %.1f copies at a time it should be %.3f", w, share, copies[w], want)
		}
		if share == 1 {
			full++
		}
	}
	if full == 0 || full == c.Vocabulary {
		t.Errorf("%d of %d words add all they changed", full, c.Vocabulary)
	}
}

// Wider windows, and more windows at a time that draw the same word, leave the most
// frequent word a smaller share, but never less than one copy adds; one sentence at a
// time adds all.
func TestSharesFall(t *testing.T) {
	first := func(change func(c *Options)) float64 {
		c := sharesCase(t, .75)
		change(&c)
		return min(1, float64(c.shares(c.frequencies())(0)))
	}
	sound := first(func(*Options) {})
	flat := first(func(c *Options) { c.InFlight = 400; c.Alias = sharesCase(t, 0).Alias })
	for name, share := range map[string]float64{
		"W_f 4": first(func(c *Options) { c.Radius = 4 }), "K 15": first(func(c *Options) { c.Negatives = 15 }),
		"4 times the sentences": 4 * first(func(c *Options) { c.InFlight = 400 }),
	} {
		if !(share < .9*sound) {
			t.Errorf("%s: share %v, not below %v", name, share, sound)
		}
	}
	if !(4*flat > .9*sound) {
		t.Errorf("no word is drawn often: share %v, want %v", flat, sound/4)
	}
	if share := first(func(c *Options) { c.InFlight, c.Radius, c.Negatives = 1, 15, 15 }); share != 1 {
		t.Errorf("one sentence at a time: share %v, want 1", share)
	}
	if share := first(func(c *Options) { c.Radius, c.Negatives = 15, 15 }); !(share > .999/float64(sharesCase(t, 1).InFlight)) {
		t.Errorf("share %v, below that of one copy", share)
	}
}

// wikipedia is a text of Wikipedia's frequencies.
func wikipedia(t *testing.T, m Mode) Options {
	t.Helper()
	const words = 60_000
	var counts []uint64
	for i := range words {
		counts = append(counts, max(5, uint64(1.6e6/(float64(i)+2.7))))
	}
	noise, err := corpus.NewAlias(corpus.CountPower(counts, .75))
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Mode: m, Vocabulary: words, Negatives: 5, Radius: 5, Batch: 24, InFlight: MaxInFlight, Counts: counts,
		Keep: corpus.KeepThresholds(counts, 1e-4), Alias: noise.Table(),
	}
}

// Rows of C of the most frequent words get a smaller part of their changes with wider windows, more
// negatives and more sentences in flight, those of rare words all. One sentence at a time is not
// bounded, nor are skip-gram and CBOW.
func TestContextShares(t *testing.T) {
	for _, m := range modes {
		shares := func(change func(c *Options)) func(word int) float32 {
			c := wikipedia(t, m.mode)
			change(&c)
			return c.contextShares(c.frequencies())
		}
		usual := shares(func(*Options) {})
		if frequent, rare := usual(0), usual(wikipedia(t, m.mode).Vocabulary-1); !(frequent < 10 && rare > 10) {
			t.Errorf("%s: shares %v of the most frequent word and %v of the rarest", m.mode, frequent, rare)
		}
		for name, change := range map[string]func(c *Options){
			"radius 10": func(c *Options) { c.Radius = 10 }, "15 negatives": func(c *Options) { c.Negatives = 15 },
			"twice the sentences": func(c *Options) { c.InFlight *= 2 },
		} {
			if share := shares(change)(0); !(share < .9*usual(0)) {
				t.Errorf("%s, %s: share %v, not below %v", m.mode, name, share, usual(0))
			}
		}
		c := wikipedia(t, m.mode)
		if want := m.mode != Word2Vec && m.mode != CBOW; c.sharesContexts() != want {
			t.Errorf("%s has shares of rows of C: %v", m.mode, !want)
		}
		c.InFlight = 1
		if least := c.least(c.contextShares(c.frequencies())); least < 1 {
			t.Errorf("%s: one sentence at a time adds %v of a change", m.mode, least)
		}
	}
}
