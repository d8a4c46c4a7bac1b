package subword

import (
	"slices"
	"strings"
	"testing"

	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
)

// A structure has the symbols that the graph reads.
func TestStructure(t *testing.T) {
	cnn, err := newNetwork("cnn", words, NetworkOptions{Dim: 3, Filters: []int{5}, Widths: []int{2, 4}, Spelling: SpellingOptions{Limit: 7, MinCount: 1}})
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := newNetwork("cnn", words, NetworkOptions{Dim: 3, Filters: []int{5}, Widths: []int{2}, Spelling: SpellingOptions{Gram: []int{1, 3}, MinCount: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		encoder    Encoder
		vocabulary *Spellings
		want       kernels.Structure // but for words
	}{
		{cnn, cnn.vocabulary, kernels.Structure{Alphabet: cnn.alphabet.Len(), CharDim: 32, Filters: []int{5, 5}, Widths: []int{2, 4}, Rate: 1, Spellings: 1}},
		{lengths, lengths.vocabulary, kernels.Structure{Alphabet: lengths.alphabet.Len(), CharDim: 32, Filters: []int{5}, Widths: []int{2}, Rate: 1, Spellings: 2}},
		{WithWords(cnn), cnn.vocabulary, kernels.Structure{Alphabet: cnn.alphabet.Len(), CharDim: 32, Filters: []int{5, 5}, Widths: []int{2, 4}, Rate: 1, Spellings: 1, Words: true}},
	} {
		s, err := StructureOf(x.encoder)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Starts) != len(words)*max(x.want.Spellings, 1)+1 {
			t.Fatalf("%d starts of %d words, spelt %d times", len(s.Starts), len(words), x.want.Spellings)
		}
		for v := range x.vocabulary.Len() {
			if got := s.Symbols[s.Starts[v]:s.Starts[v+1]]; !slices.Equal(got, x.vocabulary.Word(v)) {
				t.Errorf("symbols of spelling %d: %v, want %v", v, got, x.vocabulary.Word(v))
			}
		}
		if w := x.want; s.Alphabet != w.Alphabet || s.CharDim != w.CharDim || !slices.Equal(s.Filters, w.Filters) || !slices.Equal(s.Widths, w.Widths) || s.Words != w.Words || s.Spellings != w.Spellings || s.Rate != w.Rate {
			t.Errorf("%+v, want %+v", s, w)
		}
	}
	if _, err := StructureOf(struct{ Encoder }{cnn}); err == nil || !strings.Contains(err.Error(), "have no kernels") {
		t.Errorf("another encoder: %v", err)
	}
}
