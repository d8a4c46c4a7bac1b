package subword

import (
	"cmp"
	"fmt"
	"slices"

	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
)

// An Activation is the function that the values of a convolution go through.
type Activation string

// The activations.
const (
	ReLU   Activation = "relu"
	Tanh   Activation = "tanh"
	Linear Activation = "none" // the values as they are
)

// CNNOptions are the shape of a CNN. The zero value of a field means its default; Dim must be set.
type CNNOptions struct {
	Dim     int     // N, values of a word vector
	CharDim int     // E, values of a symbol's embedding; default 32
	Widths  []int   // w, symbols that a filter spans; default 2, 3, 4
	Filters []int   // F of each width, or one number for all; default 64
	Rate    float64 // learning rate relative to the rate of words' own vectors; default 1

	// LayerRates divides the rates of filters and layers by their inputs. A step of Adam moves each value by about its
	// rate, so what a layer puts out moves by as many times that as it has inputs, for all words at once. Embeddings of
	// n-grams want a high rate, as words' own vectors do: a word has few of them. Where layers have it, too, the first
	// steps go a hundred times too far, and training does not recover.
	LayerRates bool `json:"-"`

	Activation Activation `json:",omitempty"` // default ReLU

	// Raw leaves features as they are. Otherwise they are standardized over the vocabulary, see Standardize.
	Raw bool `json:",omitempty"`

	Spelling SpellingOptions
}

func (o CNNOptions) withDefaults() (CNNOptions, error) {
	o.CharDim = cmp.Or(o.CharDim, 32)
	o.Activation = cmp.Or(o.Activation, ReLU)
	if len(o.Widths) == 0 {
		o.Widths = []int{2, 3, 4}
	}
	if len(o.Filters) == 0 {
		o.Filters = []int{64}
	}
	if len(o.Filters) == 1 {
		o.Filters = slices.Repeat(o.Filters, len(o.Widths))
	}
	var err error
	if o.Spelling, err = o.Spelling.WithDefaults(); err != nil {
		return o, err
	}
	switch {
	case o.Dim < 1:
		return o, fmt.Errorf("dimension is %d; it must be at least 1", o.Dim)
	case o.CharDim < 1:
		return o, fmt.Errorf("embeddings of characters have %d values; they must have at least 1", o.CharDim)
	case len(o.Filters) != len(o.Widths):
		return o, fmt.Errorf("%d numbers of filters for %d widths; give one for all or one for each", len(o.Filters), len(o.Widths))
	case slices.Min(o.Filters) < 1:
		return o, fmt.Errorf("%d filters of a width; there must be at least 1", slices.Min(o.Filters))
	case slices.Min(o.Widths) < 1 || slices.Max(o.Widths) > o.Spelling.Limit:
		return o, fmt.Errorf("filters of widths %v: they must span from 1 to %d symbols, the limit of a word", o.Widths, o.Spelling.Limit)
	case !slices.Contains([]Activation{ReLU, Tanh, Linear}, o.Activation):
		return o, fmt.Errorf("activation %q is unknown; it is %s, %s or %s", o.Activation, ReLU, Tanh, Linear)
	}
	return o, nil
}

// layerRate returns the learning rate of a layer of so many inputs.
func (o CNNOptions) layerRate(inputs int) float64 {
	return cmp.Or(o.Rate, 1) * kernels.Structure{LayerRates: o.LayerRates}.LayerRate(inputs)
}

// atLeast is the number of symbols that words are filled up to.
func (o CNNOptions) atLeast() int { return slices.Max(o.Widths) }

// features is D, the features of a word.
func (o CNNOptions) features() (d int) {
	for _, filters := range o.Filters {
		d += filters
	}
	return d
}

// convolution is what Convolve takes.
func (o CNNOptions) convolution() Convolution {
	return Convolution{Widths: o.Widths, Activation: o.Activation}
}
