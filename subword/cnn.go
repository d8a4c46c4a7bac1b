package subword

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CNN is a convolutional network over the characters of a word: embeddings of symbols, convolutions of several widths,
// ReLU, maximum over the word, standardization, and a fully connected layer to N. The W2V-CL paper (section 5.8) has
// embeddings, convolutions, whose values are flattened, and the layer: PoolFlatten and Raw. It gives no sizes and names
// no activation. The maximum, the standardization and the sizes are ours.
type CNN struct {
	options    CNNOptions
	alphabet   *Alphabet
	vocabulary *Spellings
	symbols    *tensor.Dense   // (A, E)
	filters    []*tensor.Dense // each (w*E+1, F)
	weights    *tensor.Dense   // (F + F + ... + 1, N)
	statistics *Statistics     // of the vocabulary's features, in the last run of Rows; nil if they are raw
	draw       Draw            // of dropout
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
	c.vocabulary = alphabet.Spell(vocabulary, o.atLeast())
	return c, nil
}

// newCNN makes an encoder without a vocabulary.
func newCNN(alphabet *Alphabet, o CNNOptions) *CNN {
	c := &CNN{options: o, alphabet: alphabet, vocabulary: &Spellings{starts: []int{0}}}
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
func (c *CNN) Words() int { return c.vocabulary.Len() }

// Dim is N.
func (c *CNN) Dim() int { return c.options.Dim }

// Truncated is the number of vocabulary words longer than the limit.
func (c *CNN) Truncated() int { return c.vocabulary.Truncated }

// Parameters lists the symbols' embeddings, the filters of each width and the weights of the layer, live.
func (c *CNN) Parameters() []graph.Parameter {
	rate := c.options.Rate
	all := []graph.Parameter{{Name: "symbols", Value: c.symbols, Rate: rate}}
	for i, f := range c.filters {
		all = append(all, graph.Parameter{Name: fmt.Sprintf("filters%d.width%d", i, c.options.Widths[i]), Value: f, Rate: rate})
	}
	return append(all, graph.Parameter{Name: "weights", Value: c.weights, Rate: rate})
}

// Randomize fills the parameters uniformly, filters in the limits of Glorot and Bengio (2010), weights so that vectors
// start small, the biases with zeros.
func (c *CNN) Randomize(seed uint64) {
	trainer.Uniform(c.symbols.Float32s(), 0.5, seed, 0)
	for i, p := range c.Parameters()[1:] {
		in, out := p.Value.Shape()[0]-1, p.Value.Shape()[1]
		limit := math.Sqrt(6 / float64(in+out))
		if i == len(c.filters) {
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
	if len(parameters) != len(c.filters)+2 {
		return nil, fmt.Errorf("character CNN: %d parameters instead of %d", len(parameters), len(c.filters)+2)
	}
	last := len(parameters) - 1
	o := c.options
	rows, err := Convolve(c.vocabulary.of(batch), parameters[0], parameters[1:last], o.convolution(), threads)
	if err == nil && !o.Raw {
		rows, err = Standardize(rows, c.statistics, batch != nil, threads)
	}
	if err == nil && o.Dropout > 0 {
		rows, err = Dropout(rows, o.Dropout, &c.draw, threads)
	}
	if err == nil {
		rows, err = Connect(rows, parameters[last], threads)
	}
	if err != nil {
		return nil, fmt.Errorf("character CNN: %w", err)
	}
	return rows, nil
}

// Draw says that the next runs of Rows belong to a step of training, counted from 1, or to none, 0: dropout leaves out
// other features in each step.
func (c *CNN) Draw(seed uint64, step int) { c.draw = Draw{seed, step} }

// Bytes estimates the memory of a graph of Rows: features after each operation, the positions of maxima and the vectors
// of all words, and the features that Encode has at a time. The gradient adds the gradients of the features and of the
// weights, and the shards' sums.
func (c *CNN) Bytes() (rows, gradient int64) {
	o := c.options
	d, v, size := o.features(), int64(c.Words()), 0
	for i, width := range o.Widths {
		size += width * c.alphabet.Len() * o.Filters[i]
	}
	weights, stages, positions := (d+1)*o.Dim, 1, 0 // stages: matrices of features that follow from each other
	if !o.Raw {
		stages++
	}
	if o.Dropout > 0 {
		stages++
	}
	if o.Pool == PoolMax {
		positions = 1
	}
	features := int64(stages) * memory.SizeOf(c.Words()*d)
	rows = features + 4*(v*int64(positions*d)+int64(size)+int64(blockRows*d)) + memory.SizeOf(c.Words()*o.Dim)
	return rows, features + 4*int64(weights) + shardBytes(c.Words(), size) + shardBytes(c.Words(), weights)
}

// newBanks returns the filters, ready to convolve.
func (c *CNN) newBanks() []*bank {
	var banks []*bank
	for i, width := range c.options.Widths {
		b := newBank(width, c.options.Filters[i], c.alphabet.Len(), c.options.CharDim)
		b.tabulate(c.symbols.Float32s(), c.filters[i].Float32s())
		banks = append(banks, b)
	}
	place(banks, c.options.Pool, c.options.Spelling.Limit)
	return banks
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim. Once Rows has run on the present
// parameters, words of the vocabulary get the same vectors to the bit.
func (c *CNN) Encode(words []string, dst []float32) error {
	n := c.options.Dim
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("character CNN: %w", err)
	}
	banks, d, convolution := c.newBanks(), c.options.features(), c.options.convolution()
	features, raw, where, s := make([]float32, blockRows*d), make([]float32, d), make([]uint32, d), newScratch(banks)
	for len(words) > 0 {
		rows := min(blockRows, len(words))
		spelt := c.alphabet.Spell(words[:rows], c.options.atLeast())
		for i := range rows {
			convolution.features(banks, raw, where, spelt.Word(i), s)
			if c.options.Raw {
				copy(features[i*d:], raw)
			} else {
				c.statistics.apply(features[i*d:][:d], raw)
			}
		}
		connect(dst[:rows*n], features[:rows*d], c.weights.Float32s(), d, n)
		words, dst = words[rows:], dst[rows*n:]
	}
	return nil
}
