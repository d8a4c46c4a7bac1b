package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"gorgonia.org/gorgonia"
)

// cnn is a convolutional network over the symbols of a word: embeddings, convolutions of several widths, an activation, and
// the maximum over the word. Symbols are characters or n-grams of them. With n-grams of several lengths a word is spelt once in
// each, and the features of its spellings are summed; all lengths have the same filters.
//
// The W2V-CL paper (section 5.8) has embeddings, convolutions, whose values are "flattened", and the layer. It gives no
// sizes and names no activation. Its authors' earlier composition (Li, Drozd, Liu and Du 2018) has n-grams of 1 to 5
// characters, tanh and the maximum: see docs/subword.md.
var cnn = Network{
	Name:     string(FromCNN),
	Help:     "convolutions over characters",
	Settings: []string{"gram", "char-dim", "widths", "filters", "activation", "buckets"},
	Matrices: cnnMatrices,
	Features: cnnFeatures,
}

// cnnMatrices lists the symbols' embeddings and the filters of each width.
func cnnMatrices(o NetworkOptions, symbols int) (all []Matrix, features int, err error) {
	all = []Matrix{{Name: "symbols", Rows: symbols, Columns: o.CharDim, Start: 0.5, OfSymbols: true}}
	for i, width := range o.Widths {
		if width < 1 || width > min(o.Spelling.Limit, 1<<20) {
			return nil, 0, fmt.Errorf("filters of widths %v: they must span from 1 to %d symbols, the limit of a word", o.Widths, o.Spelling.Limit)
		}
		name := fmt.Sprintf("filters%d.width%d", i, width)
		all = append(all, Matrix{Name: name, Rows: width*o.CharDim + 1, Columns: o.Filters[i], Bias: true})
		features += o.Filters[i]
	}
	return all, features, nil
}

func cnnFeatures(o NetworkOptions, words *Symbols, p gorgonia.Nodes) (*gorgonia.Node, error) {
	return Convolve(words.words, p[0], p[1:], Convolution{o.Widths, o.Activation, words.tables}, words.threads)
}

// convolutionBytes is what a CNN has beside results: the positions of maxima and the tables; with the gradient, the shards' sums.
func (n *network) convolutionBytes() (rows, gradient int64) {
	o, spelt := n.options, n.vocabulary.Len()
	banks, d := newBanks(Convolution{Widths: o.Widths}, o.Filters, n.alphabet.Len(), o.CharDim, tableFloats)
	_, tables := groupBanks(banks, tableFloats)
	return memory.SizeOf(spelt*d) + 4*int64(tables), shardBytes(spelt, tables)
}
