package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
)

// OptionsOf returns the options of a CNN, with their defaults; nil for other encoders.
func OptionsOf(e graph.Encoder) *CNNOptions {
	if w, ok := e.(*withWords); ok {
		e = w.Encoder
	}
	if c, ok := e.(*CNN); ok {
		o := c.options
		return &o
	}
	return nil
}

// StructureOf lays an encoder of this package open, for kernels that compute its graph.
func StructureOf(e graph.Encoder) (kernels.Structure, error) {
	if w, ok := e.(*withWords); ok {
		s, err := StructureOf(w.Encoder)
		s.Words = true
		return s, err
	}
	var s kernels.Structure
	var words *Spellings
	switch e := e.(type) {
	case *CNN:
		o := e.options
		words = e.vocabulary
		s = kernels.Structure{Alphabet: e.alphabet.Len(), CharDim: o.CharDim, Filters: o.Filters, Widths: o.Widths, Rate: o.Rate,
			Spellings: len(o.Spelling.Gram), LayerRates: o.LayerRates, Raw: o.Raw, Activation: string(o.Activation)}
	default:
		return s, fmt.Errorf("an encoder of type %T is not known", e)
	}
	if s.Rate == 0 {
		s.Rate = 1
	}
	s.Symbols, s.Starts = words.symbols, words.starts
	return s, nil
}
