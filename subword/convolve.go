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

// A Convolution says how filters meet the symbols of words, and what is kept of it.
type Convolution struct {
	Widths     []int // w, of each bank of filters
	Pool       Pool
	Activation Activation
}

// Convolve adds to a graph the convolution over the symbols of words, its activation, and the maximum over the positions
// in the word or the values of all positions:
//
//	symbols: (A, E)  embedding of every symbol of the alphabet
//	filters: for each width w, (w*E+1, F): rows o*E to o*E+E-1 meet the symbol at
//	         offset o, the last row is the bias
//	values:  x_t = activation(bias + filters . symbols[t : t+w]), (F)
//	result:  (V, F + F + ...), max over t of x_t
//	         or, flattened, (V, P F + P F + ...): the P = L-w+1 positions of words of
//	         L symbols one after the other, those of each width together
//
// The alphabet is small and the vocabulary large, so all symbols are multiplied by all filters first, once an offset; a
// convolution is then a sum of w rows of these tables. The gradient goes to the one position that gave the maximum, the
// first of equals, and is collected in tables of the same shape.
func Convolve(words *Spellings, symbols *gorgonia.Node, filters gorgonia.Nodes, o Convolution, threads int) (*gorgonia.Node, error) {
	widths := o.Widths
	if symbols.Shape().Dims() != 2 || len(filters) != len(widths) || len(widths) == 0 {
		return nil, fmt.Errorf("convolution of symbols %v: %d filters for %d widths", symbols.Shape(), len(filters), len(widths))
	}
	c := &convolution{Convolution: o, words: words, alphabet: symbols.Shape()[0], dim: symbols.Shape()[1], team: team.New(threads)}
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
	return operation.Apply("convolution", inputs, words.Len(), c.size, c.forward, c.backward)
}

// convolution is the state of Convolve.
type convolution struct {
	Convolution
	words         *Spellings
	alphabet, dim int // A, E
	banks         []*bank
	size          int // features of a word
	team          *team.Team
	result        *tensor.Dense // (V, features)
	where         []uint32      // (V, features): position of the maximum or simd.NoPosition; nil if flattened
	scratch       []*scratch    // one a thread

	// of the gradient; nil until backward is called
	shards    *shards
	gradients []*tensor.Dense // of symbols and each bank's filters
	raw       [][]float32     // gradients of a word's values before the activation, one a thread
}

// check returns why the words are wrong; the kernels do not look.
func (c *convolution) check() error {
	widest := 0
	for _, b := range c.banks {
		widest = max(widest, b.width)
	}
	for i := range c.words.Len() {
		word := c.words.Word(i)
		switch {
		case len(word) < widest:
			return fmt.Errorf("word %d has %d symbols, fewer than the widest filter, %d", i, len(word), widest)
		case c.Pool == PoolFlatten && len(word) != c.length():
			return fmt.Errorf("word %d has %d symbols, the first one %d; flattened, all must have as many", i, len(word), c.length())
		}
		for _, s := range word {
			if int(s) >= c.alphabet {
				return fmt.Errorf("word %d has symbol %d of an alphabet of %d", i, s, c.alphabet)
			}
		}
	}
	return nil
}

// length is L, the symbols of a word where all have as many.
func (c *convolution) length() int { return len(c.words.Word(0)) }

func (c *convolution) allocate() {
	c.size = place(c.banks, c.Pool, c.length())
	c.result = newMatrix(c.words.Len(), c.size)
	if c.Pool == PoolMax {
		c.where = make([]uint32, c.words.Len()*c.size)
	}
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
		n := c.size
		for i := first; i < last; i++ {
			var where []uint32
			if c.where != nil {
				where = c.where[i*n:][:n]
			}
			c.Convolution.features(c.banks, result[i*n:][:n], where, c.words.Word(i), c.scratch[worker])
		}
	})
	return c.result, err
}

// features computes the features of one word. where gets the positions of maxima.
func (c Convolution) features(banks []*bank, features []float32, where, word []uint32, s *scratch) {
	for _, b := range banks {
		if c.Pool == PoolFlatten {
			b.slide(features[b.first:], word, s)
			continue
		}
		out, at := features[b.first:][:b.filters], where[b.first:][:b.filters]
		if b.filters == b.lanes {
			simd.ConvolveMax(out, at, b.tables, b.alphabet*b.lanes, word, b.width, c.Activation.floor())
			continue
		}
		simd.ConvolveMax(s.out[:b.lanes], s.where[:b.lanes], b.tables, b.alphabet*b.lanes, word, b.width, c.Activation.floor())
		copy(out, s.out)
		copy(at, s.where)
	}
	if c.Pool == PoolFlatten || c.Activation != ReLU {
		c.Activation.apply(features)
	}
}

// scratch holds the features of a bank that is not a multiple of the vector.
type scratch struct {
	out   []float32
	where []uint32
	rows  []uint32 // of tables, under a filter
}

func newScratch(banks []*bank) *scratch {
	lanes, width := 0, 0
	for _, b := range banks {
		lanes, width = max(lanes, b.lanes), max(width, b.width)
	}
	return &scratch{make([]float32, lanes), make([]uint32, lanes), make([]uint32, width)}
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
		for range c.team.Threads() {
			c.raw = append(c.raw, make([]float32, c.size))
		}
	}
	g, values, n := gradient.Float32s(), c.result.Float32s(), c.size
	err := c.shards.do(c.team, func(worker int, sum []float32, first, last int) {
		raw := c.raw[worker]
		for _, b := range c.banks {
			tables := sum[b.offset:][:b.size()]
			for i := first; i < last; i++ {
				at := i*n + b.first
				of := g[at:][:b.positions*b.filters]
				if c.Activation != Linear && (c.Pool == PoolFlatten || c.Activation != ReLU) { // a maximum of ReLU has no position at zero
					of = raw[:len(of)]
					c.Activation.differentiate(of, values[at:], g[at:])
				}
				if c.Pool == PoolFlatten {
					b.scatterAll(tables, of, c.words.Word(i))
				} else {
					b.scatter(tables, of, c.where[at:][:b.filters], c.words.Word(i))
				}
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
	positions      int // of a word that have features of their own
	offset         int // of its tables in the gradient's

	lanes      int       // F, filled up to whole vectors
	tables     []float32 // (w, A, lanes): symbols times filters, at each offset
	ones       []float32 // (w)
	transposed []float32 // (F, E): filters of one offset
}

func newBank(width, filters, alphabet, dim int) *bank {
	lanes := (filters + simd.ConvolutionLanes - 1) / simd.ConvolutionLanes * simd.ConvolutionLanes
	b := &bank{
		width: width, filters: filters, alphabet: alphabet, dim: dim, lanes: lanes,
		tables: make([]float32, width*alphabet*lanes), transposed: make([]float32, filters*dim),
	}
	for range width {
		b.ones = append(b.ones, 1)
	}
	return b
}

// place gives each bank its place among the features of words, of so many symbols if they are flattened. It returns the
// number of features.
func place(banks []*bank, pool Pool, length int) (features int) {
	for _, b := range banks {
		b.first, b.positions = features, 1
		if pool == PoolFlatten {
			b.positions = length - b.width + 1
		}
		features += b.positions * b.filters
	}
	return features
}

// size is the number of values of the gradient's tables, (w, A, F).
func (b *bank) size() int { return b.width * b.alphabet * b.filters }

// tabulate multiplies all symbols (A, E) by the filters (w*E+1, F) of every offset. The bias goes to the table of the
// first offset.
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

// slide writes the values of all positions of a word, (P, F).
func (b *bank) slide(out []float32, word []uint32, s *scratch) {
	rows := s.rows[:b.width]
	for t := range b.positions {
		for o, symbol := range word[t:][:b.width] {
			rows[o] = uint32(o*b.alphabet) + symbol
		}
		simd.Combine(s.out[:b.lanes], b.ones, b.tables, rows)
		copy(out[t*b.filters:][:b.filters], s.out)
	}
}

// scatterAll adds the gradient of all positions of a word, (P, F), to the tables (w, A, F).
func (b *bank) scatterAll(tables, gradient []float32, word []uint32) {
	for t := range b.positions {
		g := gradient[t*b.filters:][:b.filters]
		for o, symbol := range word[t:][:b.width] {
			simd.SGD(tables[(o*b.alphabet+int(symbol))*b.filters:][:b.filters], g, 1, -1)
		}
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

// differentiate turns the gradient of the tables into the gradients of the symbols, added to dSymbols (A, E), and of the
// filters, dFilters (w*E+1, F).
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
