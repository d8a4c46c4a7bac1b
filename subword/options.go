package subword

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Activation is the function that the values of a convolution go through.
type Activation string

// The activations.
const (
	ReLU   Activation = "relu"
	Tanh   Activation = "tanh"
	Linear Activation = "none" // the values as they are
)

// NetworkOptions are the shape of a network. The zero value of a field means the default of the CNN; Dim must be set.
type NetworkOptions struct {
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

func (o NetworkOptions) withDefaults() (NetworkOptions, error) {
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
	const most = 1 << 20
	switch {
	case o.Dim < 1 || o.Dim > most:
		return o, fmt.Errorf("dimension is %d; it must be from 1 to %d", o.Dim, most)
	case o.CharDim < 1 || o.CharDim > most:
		return o, fmt.Errorf("embeddings of characters have %d values; they must have from 1 to %d", o.CharDim, most)
	case len(o.Filters) != len(o.Widths):
		return o, fmt.Errorf("%d numbers of filters for %d widths; give one for all or one for each", len(o.Filters), len(o.Widths))
	case slices.Min(o.Filters) < 1 || slices.Max(o.Filters) > most:
		return o, fmt.Errorf("%v filters of a width; there must be from 1 to %d", o.Filters, most)
	case !slices.Contains([]Activation{ReLU, Tanh, Linear}, o.Activation):
		return o, fmt.Errorf("activation %q is unknown; it is %s, %s or %s", o.Activation, ReLU, Tanh, Linear)
	}
	return o, nil
}

// floor is where the maximum of values begins, so that it has gone through the activation already, or may.
func (a Activation) floor() float32 {
	if a == ReLU {
		return 0
	}
	return float32(math.Inf(-1))
}

// apply puts values through the activation.
func (a Activation) apply(values []float32) {
	switch a {
	case ReLU:
		for i, x := range values {
			values[i] = max(x, 0)
		}
	case Tanh:
		for i, x := range values {
			values[i] = float32(math.Tanh(float64(x)))
		}
	}
}

// differentiate writes the gradients of values before the activation to dst: results are the values after it, gradient
// their gradients.
func (a Activation) differentiate(dst, results, gradient []float32) {
	copy(dst, gradient[:len(dst)])
	switch a {
	case ReLU:
		for i, y := range results[:len(dst)] {
			if y <= 0 {
				dst[i] = 0
			}
		}
	case Tanh:
		for i, y := range results[:len(dst)] {
			dst[i] *= 1 - y*y
		}
	}
}
