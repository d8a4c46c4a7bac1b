// Package subword trains W2V-CL on a GPU with words that are composed from their spelling:
// step 1 of an iteration trains the parameters of an encoder, a character CNN or n-grams,
// and step 2 the rows of C as package cl does. Batches are a CNN for the minibatches of package vanilla. Without the build tag gpu
// it has types and sizes only.
//
// Start with Structure and New, then with cnn.cu, which lists the operations of the CNN.
// product.cu has its products of large matrices, lists.cu what large alphabets have. composed.cu has the gradient
// of composed rows, which is the step of package cl. The n-grams are parts.cu of package cl.
package subword

import "slices"

// Activations are those of a CNN, as cnn.cu numbers them.
var Activations = []string{"relu", "tanh", "none"}

// The limits of a CNN.
const (
	MaxWidths  = 16     // of filters
	MaxSymbols = 65_000 // of a word
)

// A Structure describes an encoder to kernels, which compute its graph. They name the parameters as
// the encoder does. subword.StructureOf, of the trainers' package, returns it.
type Structure struct {
	// Symbols of word v are Symbols[Starts[v]:Starts[v+1]]. With G spellings of a word, those of word v are G such lists, v*G and on.
	Starts, Symbols []uint32
	Alphabet        int    // A, symbols
	CharDim         int    // E, of a CNN
	Widths, Filters []int  // w, and F of each
	Spellings       int    // G, of a CNN: their features are summed; 0 stands for 1
	Raw             bool   // features are not standardized
	Activation      string // one of Activations; empty: the first
	Words           bool   // words have vectors of their own, too
	// Rate is the learning rate of the parameters divided by the rate of tables, which words'
	// own vectors have; never 0.
	Rate float64
	// LayerRates divides it by a fifth of the inputs of filters and layers, where that is more than 1, see subword.NetworkOptions.
	LayerRates bool
}

// LayerRate is the learning rate of a filter or layer of so many inputs, divided by Rate.
func (c Structure) LayerRate(inputs int) float64 {
	const wide = 5 // with half of it some runs keep the loss of their start for a third of their length
	if c.LayerRates {
		return min(1, wide/float64(inputs))
	}
	return 1
}

// Each is G, how often a word is spelt.
func (c Structure) Each() int { return max(c.Spellings, 1) }

// TableColumns is T, what tables of a large alphabet have of a symbol: values for each offset in each filter.
func (c Structure) TableColumns() (columns int) {
	for i, filters := range c.Filters {
		columns += filters * c.Widths[i]
	}
	return columns
}

// HasLists reports whether tables are in memory, and their gradients collected from lists of symbols' places: those of several
// spellings, or of 32 columns if they do not fit into so many bytes of shared memory.
func (c Structure) HasLists(shared int) bool {
	return c.Each() > 1 || scatterShared(slices.Max(c.Widths), c.Alphabet) > shared
}

// scatterShared is the shared memory of a warp's own tables of 32 columns.
func scatterShared(widest, alphabet int) int { return 128 * widest * alphabet }

// Features is D, the features of a word: one of each filter of all widths.
func (c Structure) Features() (features int) {
	for _, filters := range c.Filters {
		features += filters
	}
	return features
}
