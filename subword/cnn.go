package subword

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CNN is a convolutional network over the symbols of a word: embeddings, convolutions of several widths, an activation,
// the maximum over the word, standardization, and a fully connected layer to N. Symbols are characters or
// n-grams of them. With n-grams of several lengths a word is spelt once in each, and the features of its spellings are
// summed; all lengths have the same filters.
//
// The W2V-CL paper (section 5.8) has embeddings, convolutions, whose values are "flattened", and the layer. It gives no
// sizes and names no activation. Its authors' earlier composition (Li, Drozd, Liu and Du 2018) has n-grams of 1 to 5
// characters, tanh and the maximum: see docs/subword.md.
type CNN struct {
	options    CNNOptions
	alphabet   *Alphabet
	vocabulary *Spellings
	symbols    *tensor.Dense   // (A, E)
	filters    []*tensor.Dense // each (w*E+1, F)
	weights    *tensor.Dense   // (D+1, N)
	statistics *Statistics     // of the vocabulary's features, in the last run of Rows; nil if they are raw
}

// NewCNN makes an encoder of a vocabulary. Its parameters are zero: Randomize or load them.
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
	c.options.Spelling = alphabet.options // with the lengths that are hashed
	c.vocabulary = alphabet.Spell(vocabulary, o.atLeast())
	return c, nil
}

// newCNN makes an encoder without a vocabulary.
func newCNN(alphabet *Alphabet, o CNNOptions) *CNN {
	c := &CNN{options: o, alphabet: alphabet, vocabulary: &Spellings{starts: []uint32{0}}}
	c.symbols = newMatrix(alphabet.Len(), o.CharDim)
	for i, width := range o.Widths {
		c.filters = append(c.filters, newMatrix(width*o.CharDim+1, o.Filters[i]))
	}
	c.weights = newMatrix(o.features()+1, o.Dim)
	if !o.Raw {
		c.statistics = newStatistics(o.features())
	}
	return c
}

// Words is V.
func (c *CNN) Words() int { return c.vocabulary.Len() / c.alphabet.spellings() }

// Dim is N.
func (c *CNN) Dim() int { return c.options.Dim }

// Truncated is the number of vocabulary words longer than the limit.
func (c *CNN) Truncated() int { return c.vocabulary.Truncated }

// Parameters lists the symbols' embeddings, the filters of each width and the weights of the last layer, live.
func (c *CNN) Parameters() []graph.Parameter {
	all := []graph.Parameter{{Name: "symbols", Value: c.symbols, Rate: c.options.Rate}}
	layer := func(name string, value *tensor.Dense) {
		all = append(all, graph.Parameter{Name: name, Value: value, Rate: c.options.layerRate(value.Shape()[0] - 1)})
	}
	for i, f := range c.filters {
		layer(fmt.Sprintf("filters%d.width%d", i, c.options.Widths[i]), f)
	}
	layer("weights", c.weights)
	return all
}

// Randomize fills the parameters uniformly, filters and layers in the limits of Glorot and Bengio (2010), weights so that
// vectors start small, the biases with zeros.
func (c *CNN) Randomize(seed uint64) {
	trainer.Uniform(c.symbols.Float32s(), 0.5, seed, 0)
	all := c.Parameters()[1:]
	for i, p := range all {
		in, out := p.Value.Shape()[0]-1, p.Value.Shape()[1]
		limit := math.Sqrt(6 / float64(in+out))
		if i == len(all)-1 {
			limit = 1 / float64(in)
		}
		values := p.Value.Float32s()
		trainer.Uniform(values[:in*out], limit, seed, 1+i)
		clear(values[in*out:])
	}
}

// Rows adds the network for a batch of words to the graph of the parameters. A batch is standardized by the statistics
// of the last run of the whole vocabulary.
func (c *CNN) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	last := len(parameters) - 1
	if last != 1+len(c.filters) {
		return nil, fmt.Errorf("character CNN: %d parameters instead of %d", len(parameters), len(c.filters)+2)
	}
	o := c.options
	rows, err := Convolve(c.vocabulary.of(batch), parameters[0], parameters[1:last], o.convolution(), threads)
	if each := c.alphabet.spellings(); err == nil && each > 1 {
		rows, err = SumEach(rows, each, threads)
	}
	if err == nil && !o.Raw {
		rows, err = Standardize(rows, c.statistics, batch != nil, threads)
	}
	if err == nil {
		rows, err = Connect(rows, parameters[last], threads)
	}
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	return rows, nil
}

// Bytes estimates the memory of a graph of Rows: features after each operation, the positions of maxima, tables and the
// vectors of all words. The gradient adds the gradients of the features and of the
// parameters, and the shards' sums.
func (c *CNN) Bytes() (rows, gradient int64) {
	o, each := c.options, c.alphabet.spellings()
	d, v := o.features(), c.Words()
	spelt := memory.SizeOf(v * each * d) // features of all spellings
	stages := spelt                      // matrices of features that follow from each other
	add := func(used bool, bytes int64) {
		if used {
			stages += bytes
		}
	}
	add(each > 1, memory.SizeOf(v*d))
	add(!o.Raw, memory.SizeOf(v*d))
	tables := c.tables(tableFloats)
	positions := spelt
	rows = stages + positions + 4*int64(tables) + memory.SizeOf(v*o.Dim)
	gradient = stages + 4*int64(c.values()) + shardBytes(v*each, tables) + shardBytes(v, (d+1)*o.Dim)
	return rows, gradient
}

// tables is the number of values that the tables of all symbols have at a time, about so many at most.
func (c *CNN) tables(most int) int {
	banks, _ := newBanks(c.options.convolution(), c.options.Filters, c.alphabet.Len(), c.options.CharDim, most)
	_, values := groupBanks(banks, most)
	return values
}

// values is the number of values of the parameters.
func (c *CNN) values() (n int) {
	for _, p := range c.Parameters() {
		n += p.Value.Shape().TotalSize()
	}
	return n
}
