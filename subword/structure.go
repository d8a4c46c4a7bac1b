package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
)

// A Structure is an encoder laid open, for kernels that do the work of its graph.
// The parameters have the names of Encoder.Parameters.
type Structure struct {
	// Symbols of word v, or the rows that its n-grams have in their table, are
	// Symbols[Starts[v]:Starts[v+1]].
	Starts, Symbols  []uint32
	Alphabet         int     // A, symbols; of n-grams U, rows of their table
	CharDim, Filters int     // E, and F of each width; of a CNN
	Widths           []int   // w; none for n-grams
	Words            bool    // WithWords
	Rate             float64 // relative learning rate of the parameters, but not of words' own vectors; never 0
}

// StructureOf returns the structure of an encoder of this package.
func StructureOf(e graph.Encoder) (Structure, error) {
	if w, ok := e.(*withWords); ok {
		s, err := StructureOf(w.Encoder)
		s.Words = true
		return s, err
	}
	var s Structure
	var words *Spellings
	switch e := e.(type) {
	case *CNN:
		o := e.options
		words = e.vocabulary
		s = Structure{Alphabet: e.alphabet.Len(), CharDim: o.CharDim, Filters: o.Filters, Widths: o.Widths, Rate: o.Rate}
	case *NGrams:
		words = e.vocabulary
		s = Structure{Alphabet: len(e.rows), Rate: e.options.Rate}
	default:
		return s, fmt.Errorf("an encoder of type %T is not known", e)
	}
	if s.Rate == 0 {
		s.Rate = 1
	}
	s.Symbols = words.symbols
	for _, start := range words.starts {
		s.Starts = append(s.Starts, uint32(start))
	}
	return s, nil
}
