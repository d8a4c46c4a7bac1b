package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/product"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func floats(n int) []float32 { return memory.Floats(n) }

// Convolve adds to a graph the convolution over the symbols of words, ReLU and
// the maximum over the positions in the word:
//
//	symbols: (A, E)  embedding of every symbol of the alphabet
//	filters: for each width w, (w*E+1, F): rows o*E to o*E+E-1 meet the symbol at
//	         offset o, the last row is the bias
//	result:  (V, F + F + ...), max over t of ReLU(bias + filters . symbols[t : t+w])
//
// The alphabet is small and the vocabulary large, so all symbols are multiplied
// by all filters first, once an offset; a convolution is then a sum of w rows
// of these tables. The gradient goes to the one position that gave the maximum,
// the first of equals, and is collected in tables of the same shape.
func Convolve(words *Spellings, symbols *gorgonia.Node, filters gorgonia.Nodes, widths []int, threads int) (*gorgonia.Node, error) {
	if symbols.Shape().Dims() != 2 || len(filters) != len(widths) || len(widths) == 0 {
		return nil, fmt.Errorf("convolution of symbols %v: %d filters for %d widths", symbols.Shape(), len(filters), len(widths))
	}
	c := &convolution{words: words, alphabet: symbols.Shape()[0], dim: symbols.Shape()[1], team: team.New(threads)}
	for i, f := range filters {
		if f.Shape().Dims() != 2 || widths[i] < 1 || f.Shape()[0] != widths[i]*c.dim+1 {
			return nil, fmt.Errorf("filters %v of width %d do not fit symbols %v", f.Shape(), widths[i], symbols.Shape())
		}
		c.banks = append(c.banks, newBank(widths[i], f.Shape()[1], c.alphabet, c.dim))
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.allocate()
	inputs := append(gorgonia.Nodes{symbols}, filters...)
	return operation.Apply("convolution and maximum", inputs, words.Len(), c.features, c.forward, c.backward)
}

// convolution is the state of Convolve.
type convolution struct {
	words         *Spellings
	alphabet, dim int // A, E
	banks         []*bank
	features      int // F + F + ...
	team          *team.Team
	result        *tensor.Dense // (V, features)
	where         []uint32      // (V, features): position of the maximum or simd.NoPosition
	scratch       []*scratch    // one a thread

	// of the gradient; nil until backward is called
	shards    *shards
	gradients []*tensor.Dense // of symbols and each bank's filters
}

// check returns why the words are wrong; the kernels do not look.
func (c *convolution) check() error {
	widest := 0
	for _, b := range c.banks {
		widest = max(widest, b.width)
	}
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

func (c *convolution) allocate() {
	for _, b := range c.banks {
		b.first = c.features
		c.features += b.filters
	}
	c.result = newMatrix(c.words.Len(), c.features)
	c.where = make([]uint32, c.words.Len()*c.features)
	for range c.team.Threads() {
		c.scratch = append(c.scratch, newScratch(c.banks))
	}
}

func (c *convolution) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	result := c.result.Float32s()
	for i, b := range c.banks {
		b.tabulate(in[0].Float32s(), in[1+i].Float32s())
	}
	err := eachBlock(c.team, c.words.Len(), func(worker, first, last int) {
		n := c.features
		for i := first; i < last; i++ {
			convolve(c.banks, result[i*n:][:n], c.where[i*n:][:n], c.words.Word(i), c.scratch[worker])
		}
	})
	return c.result, err
}

// convolve computes the features of one word.
func convolve(banks []*bank, features []float32, where []uint32, word []uint32, s *scratch) {
	for _, b := range banks {
		out, at := features[b.first:][:b.filters], where[b.first:][:b.filters]
		if b.filters == b.lanes {
			simd.ConvolveMax(out, at, b.tables, b.alphabet*b.lanes, word, b.width)
			continue
		}
		simd.ConvolveMax(s.out[:b.lanes], s.where[:b.lanes], b.tables, b.alphabet*b.lanes, word, b.width)
		copy(out, s.out)
		copy(at, s.where)
	}
}

// scratch holds the features of a bank that is not a multiple of the vector.
type scratch struct {
	out   []float32
	where []uint32
}

func newScratch(banks []*bank) *scratch {
	lanes := 0
	for _, b := range banks {
		lanes = max(lanes, b.lanes)
	}
	return &scratch{make([]float32, lanes), make([]uint32, lanes)}
}

func (c *convolution) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if c.shards == nil {
		size := 0
		c.gradients = []*tensor.Dense{newMatrix(c.alphabet, c.dim)}
		for _, b := range c.banks {
			b.offset = size
			size += b.size()
			c.gradients = append(c.gradients, newMatrix(b.width*c.dim+1, b.filters))
		}
		c.shards = newShards(c.words.Len(), size)
	}
	g, n := gradient.Float32s(), c.features
	err := c.shards.do(c.team, func(_ int, sum []float32, first, last int) {
		for _, b := range c.banks {
			tables := sum[b.offset:][:b.size()]
			for i := first; i < last; i++ {
				at := i*n + b.first
				b.scatter(tables, g[at:][:b.filters], c.where[at:][:b.filters], c.words.Word(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	symbols := c.gradients[0].Float32s()
	clear(symbols)
	for i, b := range c.banks {
		b.differentiate(symbols, c.gradients[1+i].Float32s(), c.shards.total[b.offset:][:b.size()], in[0].Float32s(), in[1+i].Float32s())
	}
	return c.gradients, nil
}

// A bank is the filters of one width.
type bank struct {
	width, filters int // w, F
	alphabet, dim  int // A, E
	first          int // its place among the features
	offset         int // of its tables in the gradient's

	lanes      int       // F, filled up to whole vectors
	tables     []float32 // (w, A, lanes): symbols times filters, at each offset
	transposed []float32 // (F, E): filters of one offset
}

func newBank(width, filters, alphabet, dim int) *bank {
	lanes := (filters + simd.ConvolutionLanes - 1) / simd.ConvolutionLanes * simd.ConvolutionLanes
	return &bank{
		width: width, filters: filters, alphabet: alphabet, dim: dim, lanes: lanes,
		tables: make([]float32, width*alphabet*lanes), transposed: make([]float32, filters*dim),
	}
}

// size is the number of values of the gradient's tables, (w, A, F).
func (b *bank) size() int { return b.width * b.alphabet * b.filters }

// tabulate multiplies all symbols (A, E) by the filters (w*E+1, F) of every
// offset. The bias goes to the table of the first offset.
func (b *bank) tabulate(symbols, filters []float32) {
	clear(b.tables)
	bias := filters[b.width*b.dim*b.filters:]
	for s := range b.alphabet {
		copy(b.tables[s*b.lanes:], bias)
	}
	for o := range b.width {
		product.Add(b.tables[o*b.alphabet*b.lanes:], b.lanes, simd.RowMajor(symbols, b.dim),
			filters[o*b.dim*b.filters:], b.filters, b.alphabet, b.filters, b.dim)
	}
}

// scatter adds the gradient of one word's features to the tables (w, A, F).
func (b *bank) scatter(tables, gradient []float32, where, word []uint32) {
	filters, size := b.filters, b.alphabet*b.filters
	for f, t := range where {
		if t == simd.NoPosition {
			continue
		}
		g := gradient[f]
		at := f
		for _, s := range word[t:][:b.width] {
			tables[at+int(s)*filters] += g
			at += size
		}
	}
}

// differentiate turns the gradient of the tables into the gradients of the
// symbols, added to dSymbols (A, E), and of the filters, dFilters (w*E+1, F).
func (b *bank) differentiate(dSymbols, dFilters, tables, symbols, filters []float32) {
	clear(dFilters)
	size, per := b.alphabet*b.filters, b.dim*b.filters
	for o := range b.width {
		table := tables[o*size:][:size]
		product.Add(dFilters[o*per:], b.filters, simd.Transposed(symbols, b.dim), table, b.filters, b.dim, b.filters, b.alphabet)
		transpose(b.transposed, filters[o*per:][:per], b.dim, b.filters)
		product.Add(dSymbols, b.dim, simd.RowMajor(table, b.filters), b.transposed, b.dim, b.alphabet, b.dim, b.filters)
	}
	bias := dFilters[b.width*per:]
	for s := range b.alphabet {
		simd.SGD(bias, tables[s*b.filters:][:b.filters], 1, -1)
	}
}
