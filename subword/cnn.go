package subword

import (
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CNNOptions are the shape of a CNN. The zero values of CharDim, Widths and
// Filters mean their defaults; Dim must be set.
type CNNOptions struct {
	Dim      int     // N, values of a word vector
	CharDim  int     // E, values of a symbol's embedding; default 32
	Widths   []int   // w, symbols that a filter spans; default 2, 3, 4
	Filters  int     // F, filters of each width; default 64
	Rate     float64 // learning rate relative to the rate of words' own vectors; default 1
	Spelling SpellingOptions
}

func (o CNNOptions) withDefaults() (CNNOptions, error) {
	if o.CharDim == 0 {
		o.CharDim = 32
	}
	if len(o.Widths) == 0 {
		o.Widths = []int{2, 3, 4}
	}
	if o.Filters == 0 {
		o.Filters = 64
	}
	var err error
	if o.Spelling, err = o.Spelling.withDefaults(); err != nil {
		return o, err
	}
	switch {
	case o.Dim < 1:
		return o, fmt.Errorf("dimension is %d; it must be at least 1", o.Dim)
	case o.CharDim < 1:
		return o, fmt.Errorf("embeddings of characters have %d values; they must have at least 1", o.CharDim)
	case o.Filters < 1:
		return o, fmt.Errorf("%d filters of a width; there must be at least 1", o.Filters)
	case slices.Min(o.Widths) < 1 || slices.Max(o.Widths) > o.Spelling.Limit:
		return o, fmt.Errorf("filters of widths %v: they must span from 1 to %d symbols, the limit of a word", o.Widths, o.Spelling.Limit)
	}
	return o, nil
}

// CNN is a convolutional network over the characters of a word: embeddings of
// symbols, convolutions of several widths, ReLU, maximum over the word,
// standardization, and a fully connected layer to N. The W2V-CL paper (section
// 5.8) has embeddings, convolutions and the layer; it gives no sizes. The
// maximum, the standardization and the sizes are ours.
type CNN struct {
	options    CNNOptions
	alphabet   *Alphabet
	vocabulary *Spellings
	symbols    *tensor.Dense   // (A, E)
	filters    []*tensor.Dense // each (w*E+1, F)
	weights    *tensor.Dense   // (F + F + ... + 1, N)
	statistics *Statistics     // of the vocabulary's features, in the last run of Rows
}

// NewCNN makes an encoder of a vocabulary. Its parameters are zero: Randomize
// or load them.
func NewCNN(vocabulary []string, o CNNOptions) (*CNN, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	alphabet, err := NewAlphabet(vocabulary, o.Spelling)
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	c := newCNN(alphabet, o)
	c.vocabulary = alphabet.Spell(vocabulary, slices.Max(o.Widths))
	return c, nil
}

// newCNN makes an encoder without a vocabulary.
func newCNN(alphabet *Alphabet, o CNNOptions) *CNN {
	c := &CNN{options: o, alphabet: alphabet, vocabulary: &Spellings{starts: []int{0}}}
	c.symbols = newMatrix(alphabet.Len(), o.CharDim)
	for _, width := range o.Widths {
		c.filters = append(c.filters, newMatrix(width*o.CharDim+1, o.Filters))
	}
	c.weights = newMatrix(c.features()+1, o.Dim)
	c.statistics = newStatistics(c.features())
	return c
}

// features is D, the features of a word.
func (c *CNN) features() int { return len(c.options.Widths) * c.options.Filters }

// Words is V.
func (c *CNN) Words() int { return c.vocabulary.Len() }

// Dim is N.
func (c *CNN) Dim() int { return c.options.Dim }

// Truncated is the number of vocabulary words longer than the limit.
func (c *CNN) Truncated() int { return c.vocabulary.Truncated }

// Parameters lists the symbols' embeddings, the filters of each width and the
// weights of the layer, live.
func (c *CNN) Parameters() []graph.Parameter {
	rate := c.options.Rate
	all := []graph.Parameter{{Name: "symbols", Value: c.symbols, Rate: rate}}
	for i, f := range c.filters {
		all = append(all, graph.Parameter{Name: fmt.Sprintf("filters%d.width%d", i, c.options.Widths[i]), Value: f, Rate: rate})
	}
	return append(all, graph.Parameter{Name: "weights", Value: c.weights, Rate: rate})
}

// Randomize fills the parameters uniformly, filters in the limits of Glorot and
// Bengio (2010), weights so that vectors start small, the biases with zeros.
func (c *CNN) Randomize(seed uint64) {
	uniform(c.symbols.Float32s(), 0.5, seed, 0)
	for i, p := range c.Parameters()[1:] {
		in, out := p.Value.Shape()[0]-1, p.Value.Shape()[1]
		limit := math.Sqrt(6 / float64(in+out))
		if i == len(c.filters) {
			limit = 1 / float64(in)
		}
		values := p.Value.Float32s()
		uniform(values[:in*out], limit, seed, 1+i)
		clear(values[in*out:])
	}
}

// Rows adds the network for a batch of words to the graph of the parameters. A
// batch is standardized by the statistics of the last run of the whole
// vocabulary.
func (c *CNN) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	if len(parameters) != len(c.filters)+2 {
		return nil, fmt.Errorf("character CNN: %d parameters instead of %d", len(parameters), len(c.filters)+2)
	}
	last := len(parameters) - 1
	features, err := Convolve(c.vocabulary.of(batch), parameters[0], parameters[1:last], c.options.Widths, threads)
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	if features, err = Standardize(features, c.statistics, batch != nil, threads); err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	rows, err := Connect(features, parameters[last], threads)
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	return rows, nil
}

// Bytes estimates the memory of a graph of Rows: features, also standardized,
// their positions and the vectors of all words. The gradient adds the gradients
// of the features and the shards' sums.
func (c *CNN) Bytes() (rows, gradient int64) {
	d := c.features()
	v, size := int64(c.Words()), 0
	for _, width := range c.options.Widths {
		size += width * c.alphabet.Len() * c.options.Filters
	}
	weights := (d + 1) * c.options.Dim
	rows = 4 * (v*int64(3*d+c.options.Dim) + int64(size))
	return rows, 4*v*int64(2*d) + shardBytes(c.Words(), size) + shardBytes(c.Words(), weights)
}

// newBanks returns the filters, ready to convolve.
func (c *CNN) newBanks() []*bank {
	var banks []*bank
	for i, width := range c.options.Widths {
		b := newBank(width, c.options.Filters, c.alphabet.Len(), c.options.CharDim)
		b.tabulate(c.symbols.Float32s(), c.filters[i].Float32s())
		b.first = i * c.options.Filters
		banks = append(banks, b)
	}
	return banks
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim. Once
// Rows has run on the present parameters, words of the vocabulary get the same
// vectors to the bit.
func (c *CNN) Encode(words []string, dst []float32) error {
	n := c.options.Dim
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("character CNN: %w", err)
	}
	banks, d := c.newBanks(), c.features()
	features, raw, where, s := make([]float32, blockRows*d), make([]float32, d), make([]uint32, d), newScratch(banks)
	for len(words) > 0 {
		rows := min(blockRows, len(words))
		spelt := c.alphabet.Spell(words[:rows], slices.Max(c.options.Widths))
		for i := range rows {
			convolve(banks, raw, where, spelt.Word(i), s)
			c.statistics.apply(features[i*d:][:d], raw)
		}
		connect(dst[:rows*n], features[:rows*d], c.weights.Float32s(), d, n)
		words, dst = words[rows:], dst[rows*n:]
	}
	return nil
}
