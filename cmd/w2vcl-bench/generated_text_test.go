package main

import (
	"bytes"
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// Names are different.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for word := range uint64(30_000) {
		name := string(appendName(nil, word))
		if seen[name] {
			t.Fatalf("word %d is called %s, too", word, name)
		}
		seen[name] = true
	}
}

// Frequencies are those of the law, and the same seed makes the same text.
func TestGeneratedZipf(t *testing.T) {
	var text, again bytes.Buffer
	g := generatedText{bytes: 2_000_000, seed: 3}
	for i, w := range []*bytes.Buffer{&text, &again} {
		if err := g.write(t.Context(), w, 1+3*i, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Error("two texts of one seed")
	}
	// A shorter text is its beginning, up to the end of the line.
	for _, n := range []int64{0, 1, 777, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1_500_000} {
		again.Reset()
		g.bytes = n
		if err := g.write(t.Context(), &again, 3, nil); err != nil {
			t.Fatal(err)
		}
		end := 0
		if n > 0 {
			end = int(n) + bytes.IndexByte(text.Bytes()[n-1:], '\n')
		}
		if !bytes.Equal(again.Bytes(), text.Bytes()[:end]) {
			t.Errorf("of %d bytes: %d, want %d", n, again.Len(), end)
		}
	}
	c, err := corpus.ReadFrom(t.Context(), &text, "text", corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// P(rank > r) = (r/3+1)^-0.45 of the ranks from 0.
	tokens := float64(c.Stats.TokensUsed)
	for _, rank := range []float64{1, 10, 100} {
		share := 1 - math.Pow(rank/textShift+1, 1-textExponent)
		count := uint64(0)
		for id, n := range c.Vocabulary.Counts {
			for word := range uint64(rank) {
				if c.Vocabulary.Words[id] == string(appendName(nil, word)) {
					count += n
				}
			}
		}
		if got := float64(count) / tokens; math.Abs(got-share) > 0.01 {
			t.Errorf("the first %v words have %v of the tokens, want %v", rank, got, share)
		}
	}
}
