package subword

import (
	"cmp"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/graph"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
)

// cnnOf returns a CNN, without the words' own vectors.
func cnnOf(e graph.Encoder) (c *network, hasWords bool, err error) {
	w, hasWords := e.(*withWords)
	if hasWords {
		e = w.Encoder
	}
	c, ok := e.(*network)
	if !ok || c.Source() != FromCNN {
		return nil, false, fmt.Errorf("GPUs have no kernels for an encoder of type %T, but for the CNN", e)
	}
	return c, hasWords, nil
}

// OptionsOf returns the options of a CNN, with their defaults.
func OptionsOf(e graph.Encoder) (*NetworkOptions, error) {
	c, _, err := cnnOf(e)
	if err != nil {
		return nil, err
	}
	return &c.options, nil
}

// StructureOf lays a CNN open, for kernels that compute its graph.
func StructureOf(e graph.Encoder) (kernels.Structure, error) {
	c, hasWords, err := cnnOf(e)
	if err != nil {
		return kernels.Structure{}, err
	}
	o := c.options
	return kernels.Structure{
		Words: hasWords, Symbols: c.vocabulary.symbols, Starts: c.vocabulary.starts,
		Alphabet: c.alphabet.Len(), CharDim: o.CharDim, Filters: o.Filters, Widths: o.Widths, Rate: cmp.Or(o.Rate, 1),
		Spellings: len(o.Spelling.Gram), LayerRates: o.LayerRates, Raw: o.Raw, Activation: string(o.Activation),
	}, nil
}

// OfStructure returns the CNN that has a structure. It knows the symbols of words, but not what they stand for.
func OfStructure(s kernels.Structure, dim int) (Encoder, error) {
	o := NetworkOptions{
		Dim: dim, CharDim: s.CharDim, Widths: s.Widths, Filters: s.Filters, Rate: s.Rate, LayerRates: s.LayerRates, Raw: s.Raw,
		Activation: Activation(cmp.Or(s.Activation, kernels.Activations[0])), Spelling: SpellingOptions{Limit: math.MaxInt},
	}
	for length := range s.Each() {
		o.Spelling.Gram = append(o.Spelling.Gram, 1+length)
	}
	alphabet := &Alphabet{options: o.Spelling}
	alphabet.symbols = make([]string, s.Alphabet-alphabet.known())
	n, err := makeNetwork(string(FromCNN), alphabet, o, func(float64) error { return nil })
	if err != nil {
		return nil, err
	}
	n.vocabulary = &Spellings{symbols: s.Symbols, starts: s.Starts, each: s.Each()}
	if s.Words {
		return WithWords(n), nil
	}
	return n, nil
}
