package main

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// TestCorpusStatistics: all numbers are those of a plain count with maps.
func TestCorpusStatistics(t *testing.T) {
	for seed := range uint64(10) {
		c, err := corpus.OpenFrom(t.Context(), strings.NewReader(corpustest.Zipf(seed, 300, 30, 4)), "text", corpus.Options{MaxSentence: 4}, corpus.Storage{})
		if err != nil {
			t.Fatal(err)
		}
		const window = 2
		s, err := countStatistics(t.Context(), c, window, 5)
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[string]uint64{}
		for n := range len(c.Sentences) - 1 {
			ids := c.Tokens[c.Sentences[n]:c.Sentences[n+1]]
			for i, a := range ids {
				for _, b := range ids[i+1 : min(len(ids), i+1+window)] {
					pairs[c.Vocabulary.Words[min(a, b)]+" "+c.Vocabulary.Words[max(a, b)]]++
				}
			}
		}
		least := uint64(math.MaxUint64)
		for _, p := range s.Pairs.Top {
			if name := p.First + " " + p.Second; p.Count != pairs[name] || p.Count > least {
				t.Errorf("seed %d: pair %+v, want %d", seed, p, pairs[name])
			}
			delete(pairs, p.First+" "+p.Second)
			least = p.Count
		}
		for name, n := range pairs {
			if n > least || len(s.Pairs.Top) < 5 {
				t.Errorf("seed %d: pair %s occurs %d times and is not listed", seed, name, n)
			}
		}
		last := s.Heaps.Growth[len(s.Heaps.Growth)-1]
		if last.Tokens != len(c.Tokens) || last.Words != c.Vocabulary.Len() {
			t.Errorf("seed %d: grew to %+v", seed, last)
		}
		if cut := s.MinCounts[0]; cut.Words != c.Vocabulary.Len() || cut.Tokens != uint64(len(c.Tokens)) || cut.TokenFraction != 1 {
			t.Errorf("seed %d: %+v", seed, cut)
		}
	}
}

// TestHeapsLaw: a law is found again.
func TestHeapsLaw(t *testing.T) {
	var h heapsLaw
	for x := 1.0; x < 1e9; x *= 3 {
		h.Growth = append(h.Growth, textGrowth{int(x), int(math.Round(700 * math.Pow(x, 0.6)))})
	}
	if h.fit(); math.Abs(h.Constant-700) > 1 || math.Abs(h.Exponent-0.6) > 1e-3 || math.Abs(h.Fit-1) > 1e-3 {
		t.Errorf("%v · x^%v, R² %v", h.Constant, h.Exponent, h.Fit)
	}
}
