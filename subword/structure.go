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
		s.Words, s.TwoLosses = true, w.two
		return s, err
	}
	var s kernels.Structure
	var words *Spellings
	switch e := e.(type) {
	case *CNN:
		o := e.options
		words = e.vocabulary
		s = kernels.Structure{Alphabet: e.alphabet.Len(), CharDim: o.CharDim, Filters: o.Filters, Widths: o.Widths, Rate: o.Rate,
			Spellings: len(o.Spelling.Gram), Highway: o.Highway, LayerRates: o.LayerRates, Flatten: o.Pool == PoolFlatten, Raw: o.Raw, Activation: string(o.Activation)}
	case *NGrams:
		words = e.vocabulary
		s = kernels.Structure{Table: e.Parameters()[0].Name, Alphabet: len(e.sizes), Sizes: e.sizes, Rate: e.options.Rate}
	case *Bag: // sums of rows, as those of n-grams
		words = e.vocabulary
		s = kernels.Structure{Table: e.Parameters()[0].Name, Alphabet: e.parts.Len(), Rate: e.options.Rate}
	default:
		return s, fmt.Errorf("an encoder of type %T is not known", e)
	}
	if s.Rate == 0 {
		s.Rate = 1
	}
	s.Symbols, s.Starts = words.symbols, kernels.Starts(words.starts)
	return s, nil
}
