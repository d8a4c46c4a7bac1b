// Package corpustest makes texts for tests of what trains on them.
package corpustest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// Zipf returns a text of the given number of words, of which word n comes with a
// probability of about 1/n. Few words make for windows that hold a word twice.
// Lines have so many words on average, or 0: there is one line.
func Zipf(seed uint64, words, vocabulary, line int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", int(math.Pow(float64(vocabulary), r.Float64())))
		if line > 0 && r.IntN(line) == 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Read reads a text, and makes the distribution of negatives that goes with it:
// counts^0.75.
func Read(t testing.TB, text string) (*corpus.Corpus, *corpus.Alias) {
	t.Helper()
	c, err := corpus.ReadFrom(t.Context(), strings.NewReader(text), "test", corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(c.Vocabulary.Counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	return c, noise
}
