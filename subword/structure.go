package subword

import (
	"cmp"
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
	w, hasWords := e.(*withWords)
	if hasWords {
		e = w.Encoder
	}
	c, ok := e.(*CNN)
	if !ok {
		return kernels.Structure{}, fmt.Errorf("an encoder of type %T is not known", e)
	}
	o := c.options
	return kernels.Structure{
		Words: hasWords, Symbols: c.vocabulary.symbols, Starts: c.vocabulary.starts,
		Alphabet: c.alphabet.Len(), CharDim: o.CharDim, Filters: o.Filters, Widths: o.Widths, Rate: cmp.Or(o.Rate, 1),
		Spellings: len(o.Spelling.Gram), LayerRates: o.LayerRates, Raw: o.Raw, Activation: string(o.Activation),
	}, nil
}
