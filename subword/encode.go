package subword

import (
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/tensor"
)

// What Encode has at a time: about so many values of features, and tables of filters.
const (
	encodeFeatures = 512 << 10
	encodeTables   = 1 << 20
)

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim. Once Rows has run on the present
// parameters, words of the vocabulary get the same vectors to the bit.
func (c *CNN) Encode(words []string, dst []float32) error {
	n, d := c.options.Dim, c.options.features()
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("character CNN: %w", err)
	}
	most := c.encodeRows()
	for len(words) > 0 {
		rows := min(most, len(words))
		features, err := c.features(words[:rows])
		if err != nil {
			return fmt.Errorf("character CNN: %w", err)
		}
		if !c.options.Raw {
			for i := range rows {
				of := features[i*d:][:d]
				c.statistics.apply(of, of)
			}
		}
		connect(dst[:rows*n], features, c.weights.Float32s(), d, n)
		words, dst = words[rows:], dst[rows*n:]
	}
	return nil
}

// Source is FromCNN.
func (c *CNN) Source() Source { return FromCNN }

// Parts is how many symbols of a word the alphabet has, besides the marks, which every word has.
func (c *CNN) Parts(word string) (known int) {
	spelt := c.alphabet.Spell([]string{word, ""}, 0)
	for i := range c.alphabet.spellings() {
		marks := spelt.Word(c.alphabet.spellings() + i)
		for _, symbol := range spelt.Word(i) {
			if symbol >= uint32(c.alphabet.known()) && !slices.Contains(marks, symbol) {
				known++
			}
		}
	}
	return known
}

// encodeRows is how many words Encode takes at a time: tables serve them all.
func (c *CNN) encodeRows() int {
	return max(encodeFeatures/(c.alphabet.spellings()*c.options.features())/blockRows, 1) * blockRows
}

// features returns the features of words as they are before Standardize. The operations of Rows compute them, of an
// alphabet that has only the symbols of these words: few of its rows are needed.
func (c *CNN) features(words []string) ([]float32, error) {
	spelt := c.alphabet.Spell(words, c.options.atLeast())
	used, symbols := map[uint32]uint32{}, []float32(nil)
	for i, symbol := range spelt.symbols {
		row, ok := used[symbol]
		if !ok {
			row = uint32(len(used))
			used[symbol] = row
			symbols = append(symbols, c.symbols.Float32s()[int(symbol)*c.options.CharDim:][:c.options.CharDim]...)
		}
		spelt.symbols[i] = row
	}
	t := team.New(1)
	in := append([]*tensor.Dense{matrixOf(symbols, len(used), c.options.CharDim)}, c.filters...)
	convolution := newConvolution(c.options.convolution(), spelt, c.options.Filters, len(used), c.options.CharDim, encodeTables, t)
	rows, err := convolution.forward(in)
	if each := c.alphabet.spellings(); err == nil && each > 1 {
		rows, err = newSumEach(len(words), rows.Shape()[1], each, t).forward([]*tensor.Dense{rows})
	}
	if err != nil {
		return nil, err
	}
	return rows.Float32s(), nil
}
