package subword

import (
	"cmp"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
)

// A Convolution says how filters meet the symbols of words, and what is kept of it.
type Convolution struct {
	Widths     []int // w, of each bank of filters
	Activation Activation
	most       int // values of tables at a time, about; 0: tableFloats
}

// Convolve adds to a graph the convolution over the symbols of words, its activation, and the maximum over the positions
// in the word:
//
//	symbols: (A, E)  embedding of every symbol of the alphabet
//	filters: for each width w, (w*E+1, F): rows o*E to o*E+E-1 meet the symbol at
//	         offset o, the last row is the bias
//	values:  x_t = activation(bias + filters . symbols[t : t+w]), (F)
//	result:  (V, F + F + ...), max over t of x_t
//
// Words have many symbols in common, so all symbols are multiplied by all filters first, once an offset; a convolution is
// then a sum of w rows of these tables. Of n-grams there are so many that only some filters have their tables in memory at
// a time. The gradient goes to the one position that gave the maximum, the first of equals, and is collected in tables of
// the same shape.
func Convolve(words *Spellings, symbols *gorgonia.Node, filters gorgonia.Nodes, o Convolution, threads int) (*gorgonia.Node, error) {
	if symbols.Shape().Dims() != 2 || len(filters) != len(o.Widths) || len(o.Widths) == 0 {
		return nil, fmt.Errorf("convolution of symbols %v: %d filters for %d widths", symbols.Shape(), len(filters), len(o.Widths))
	}
	alphabet, dim := symbols.Shape()[0], symbols.Shape()[1]
	var counts []int
	for i, f := range filters {
		if f.Shape().Dims() != 2 || o.Widths[i] < 1 || f.Shape()[0] != o.Widths[i]*dim+1 {
			return nil, fmt.Errorf("filters %v of width %d do not fit symbols %v", f.Shape(), o.Widths[i], symbols.Shape())
		}
		counts = append(counts, f.Shape()[1])
	}
	c := newConvolution(o, words, counts, alphabet, dim, team.New(threads))
	if err := c.check(); err != nil {
		return nil, err
	}
	inputs := append(gorgonia.Nodes{symbols}, filters...)
	return operation.Apply("convolution", inputs, words.Len(), c.size, c.forward, c.backward)
}

// convolution is the state of Convolve.
type convolution struct {
	Convolution
	words         *Spellings
	alphabet, dim int // A, E
	groups        []bankGroup
	tables        []float32 // of the banks of a group
	size          int       // features of a word
	team          *team.Team
	result        *tensor.Dense // (V, features)
	where         []uint32      // (V, features): position of the maximum or simd.NoPosition
	scratch       []*scratch    // one a thread

	// of the gradient; nil until backward is called
	shards    *shards
	gradients []*tensor.Dense // of symbols and the filters of each width
	raw       [][]float32     // gradients of a bank's values before the activation, one a thread
}

func newConvolution(o Convolution, words *Spellings, filters []int, alphabet, dim int, t *team.Team) *convolution {
	o.most = cmp.Or(o.most, tableFloats)
	c := &convolution{Convolution: o, words: words, alphabet: alphabet, dim: dim, team: t}
	banks, size := newBanks(o, filters, alphabet, dim, o.most)
	groups, largest := groupBanks(banks, o.most)
	c.groups, c.tables, c.size = groups, floats(largest), size
	c.result = newMatrix(words.Len(), size)
	c.where = make([]uint32, words.Len()*size)
	for range t.Threads() {
		c.scratch = append(c.scratch, newScratch(banks))
	}
	return c
}

// check returns why the words are wrong; the kernels do not look.
func (c *convolution) check() error {
	widest := slices.Max(c.Widths)
	for i := range c.words.Len() {
		word := c.words.Word(i)
		if len(word) < widest {
			return fmt.Errorf("word %d has %d symbols, fewer than the widest filter, %d", i, len(word), widest)
		}
		for _, s := range word {
			if int(s) >= c.alphabet {
				return fmt.Errorf("word %d has symbol %d of an alphabet of %d", i, s, c.alphabet)
			}
		}
	}
	return nil
}

// symbolRows is how many symbols a thread multiplies by filters at a time.
const symbolRows = 1536

// eachSymbols calls work for all blocks of symbols, for each of n banks.
func (c *convolution) eachSymbols(n int, work func(bank, first, last int)) error {
	blocks := (c.alphabet + symbolRows - 1) / symbolRows
	return c.team.Do(n*blocks, func(_, i int) {
		first := i % blocks * symbolRows
		work(i/blocks, first, min(first+symbolRows, c.alphabet))
	})
}

func (c *convolution) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	for _, group := range c.groups {
		group.place(c.tables)
		err := c.eachSymbols(len(group), func(i, first, last int) {
			b := group[i]
			b.tabulate(in[0].Float32s(), in[1+b.of].Float32s(), first, last)
		})
		if err != nil {
			return nil, err
		}
		err = eachBlock(c.team, c.words.Len(), func(worker, first, last int) {
			for i := first; i < last; i++ {
				for _, b := range group {
					c.features(b, i, c.scratch[worker])
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return c.result, nil
}

// features computes the features of word i that a bank makes.
func (c *convolution) features(b *bank, i int, s *scratch) {
	word, first := c.words.Word(i), i*c.size+b.first
	out := c.result.Float32s()[first:][:b.filters]
	b.maxima(out, c.where[first:][:b.filters], word, c.Activation.floor(), s)
	if c.Activation != ReLU {
		c.Activation.apply(out)
	}
}

func (c *convolution) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	c.allocateGradient()
	symbols := c.gradients[0].Float32s()
	clear(symbols)
	for _, group := range c.groups {
		err := c.shards.doParts(c.team, group.sizes(), func(worker, part int, sum []float32, first, last int) {
			for i := first; i < last; i++ {
				c.scatter(group[part], sum, gradient.Float32s(), i, c.raw[worker])
			}
		})
		if err != nil {
			return nil, err
		}
		sums, transposed := c.shards.total, c.tables // of the filters: no larger than tables
		offsets := 0
		for _, b := range group {
			b.gradient, sums = sums[:b.size()], sums[b.size():]
			b.transposed, transposed = transposed[:b.width*b.dim*b.filters], transposed[b.width*b.dim*b.filters:]
			offsets += b.width
		}
		err = c.team.Do(offsets, func(_, i int) {
			part := 0
			for ; i >= group[part].width; part++ {
				i -= group[part].width
			}
			b := group[part]
			b.differentiate(c.gradients[1+b.of].Float32s(), in[0].Float32s(), in[1+b.of].Float32s(), i)
		})
		if err != nil {
			return nil, err
		}
		err = c.eachSymbols(1, func(_, first, last int) {
			for _, b := range group {
				b.addSymbols(symbols, first, last)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return c.gradients, nil
}

func (c *convolution) allocateGradient() {
	if c.shards != nil {
		return
	}
	c.gradients = []*tensor.Dense{newMatrix(c.alphabet, c.dim)}
	largest, filters, transposed := 0, 0, 0
	for _, group := range c.groups {
		size, of := 0, 0
		for _, b := range group {
			size, of, filters = size+b.size(), of+b.width*b.dim*b.filters, max(filters, b.filters)
			if b.column == 0 {
				c.gradients = append(c.gradients, newMatrix(b.width*b.dim+1, b.all))
			}
		}
		largest, transposed = max(largest, size), max(transposed, of)
	}
	if len(c.tables) < transposed { // of a small alphabet
		c.tables = floats(transposed)
	}
	c.shards = newShards(c.words.Len(), largest)
	for range c.team.Threads() {
		c.raw = append(c.raw, make([]float32, filters))
	}
}

// scatter adds the gradient of the features of word i that a bank makes to the tables (w, A, F).
func (c *convolution) scatter(b *bank, tables, gradient []float32, i int, raw []float32) {
	first := i*c.size + b.first
	before := gradient[first:][:b.filters] // the activation
	if c.Activation == Tanh {              // a maximum of ReLU has no position at zero
		before = raw[:b.filters]
		c.Activation.differentiate(before, c.result.Float32s()[first:], gradient[first:])
	}
	b.scatter(tables, before, c.where[first:][:b.filters], c.words.Word(i))
}
