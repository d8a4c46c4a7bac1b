// Package corpustest makes texts for the tests of trainers. Start at [Zipf].
package corpustest

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// Zipf returns a text of tokens words, drawn from types different ones; word n comes
// with a probability of about 1/n. With few types, a window may hold a word twice. A
// line has line tokens on average; with line 0 the text is one line.
func Zipf(seed uint64, tokens, types, line int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var text []byte
	for range tokens {
		text = strconv.AppendInt(append(text, 'w'), int64(math.Pow(float64(types), r.Float64())), 10)
		text = append(text, ' ')
		if line > 0 && r.IntN(line) == 0 {
			text = append(text, '\n')
		}
	}
	return string(text)
}

// Read reads a text and makes its distribution of negatives, counts^0.75. An error
// fails the test.
func Read(t testing.TB, text string) (*corpus.Corpus, *corpus.Alias) {
	t.Helper()
	c, err := corpus.OpenFrom(t.Context(), strings.NewReader(text), "test", corpus.Options{}, corpus.Storage{})
	if err != nil {
		t.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(c.Vocabulary.Counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	return c, noise
}
