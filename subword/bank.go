package subword

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// tableFloats is about how large the tables of a group of banks are, or those of one bank if it has more. All
// characters times all filters fit; of n-grams a few filters at a time.
const tableFloats = 16 << 20

// encodeTables is about how large tables are where a network encodes some words.
const encodeTables = 1 << 20

// A bank is filters of one width: all of them or, of large alphabets, some.
type bank struct {
	width, filters int // w, F
	of             int // which width, counted from 0
	all, column    int // filters of this width, and the first one here
	alphabet, dim  int // A, E
	first          int // its place among the features

	lanes      int       // F, filled up to whole vectors
	tables     []float32 // (w, A, lanes): symbols times filters, at each offset
	gradient   []float32 // (w, A, F), of the tables
	transposed []float32 // (w, F, E): filters
}

// newBanks returns the filters of all widths, and the number of features of a word. Tables have about so many values.
func newBanks(o Convolution, filters []int, alphabet, dim, tableFloats int) (banks []*bank, features int) {
	for i, width := range o.Widths {
		most := max(tableFloats/8/(width*alphabet)/simd.ConvolutionLanes, 1) * simd.ConvolutionLanes
		for column := 0; column < filters[i]; column += most {
			some := min(most, filters[i]-column)
			b := &bank{
				width: width, filters: some, of: i, all: filters[i], column: column, alphabet: alphabet, dim: dim,
				first: features + column,
				lanes: (some + simd.ConvolutionLanes - 1) / simd.ConvolutionLanes * simd.ConvolutionLanes,
			}
			banks = append(banks, b)
		}
		features += filters[i]
	}
	return banks, features
}

// A bankGroup is banks whose tables are in memory together.
type bankGroup []*bank

// groupBanks puts banks together whose tables have about so many values, and returns the values of the largest group.
func groupBanks(banks []*bank, tableFloats int) (groups []bankGroup, largest int) {
	size := 0
	for _, b := range banks {
		if len(groups) == 0 || size+b.tableSize() > tableFloats {
			groups, size = append(groups, nil), 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], b)
		size += b.tableSize()
		largest = max(largest, size)
	}
	return groups, largest
}

// place gives the banks of a group their parts of memory that all groups share.
func (g bankGroup) place(tables []float32) {
	for _, b := range g {
		b.tables, tables = tables[:b.tableSize()], tables[b.tableSize():]
	}
}

// sizes returns the number of values of each gradient of tables.
func (g bankGroup) sizes() (sizes []int) {
	for _, b := range g {
		sizes = append(sizes, b.size())
	}
	return sizes
}

func (b *bank) tableSize() int { return b.width * b.alphabet * b.lanes }

// size is the number of values of the gradient's tables, (w, A, F).
func (b *bank) size() int { return b.width * b.alphabet * b.filters }

// tabulate multiplies symbols first to last-1 of all (A, E) by the filters (w*E+1, all) of every offset. The bias goes to
// the table of the first offset.
func (b *bank) tabulate(symbols, filters []float32, first, last int) {
	bias := filters[b.width*b.dim*b.all+b.column:]
	for o := range b.width {
		table := b.tables[(o*b.alphabet+first)*b.lanes : (o*b.alphabet+last)*b.lanes]
		clear(table)
		if o == 0 {
			for s := range last - first {
				copy(table[s*b.lanes:], bias[:b.filters])
			}
		}
		simd.AddProduct(table, b.lanes, simd.RowMajor(symbols[first*b.dim:], b.dim),
			filters[o*b.dim*b.all+b.column:], b.all, last-first, b.filters, b.dim)
	}
}

// maxima writes the maximum of each filter over a word, (F), and its positions.
func (b *bank) maxima(out []float32, at, word []uint32, floor float32, s *scratch) {
	if b.filters == b.lanes {
		simd.ConvolveMax(out, at, b.tables, b.alphabet*b.lanes, word, b.width, floor)
		return
	}
	simd.ConvolveMax(s.out[:b.lanes], s.where[:b.lanes], b.tables, b.alphabet*b.lanes, word, b.width, floor)
	copy(out, s.out)
	copy(at, s.where)
}

// scatter adds the gradient of the maxima of one word to the tables (w, A, F).
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

// differentiate turns the gradient of the tables into that of the filters of an offset, dFilters (w*E+1, all).
func (b *bank) differentiate(dFilters, symbols, filters []float32, o int) {
	per, n := b.dim*b.all, b.filters
	table, of := b.gradient[o*b.alphabet*n:][:b.alphabet*n], b.transposed[o*b.dim*n:]
	for e := range b.dim {
		at := o*per + e*b.all + b.column
		clear(dFilters[at:][:n])
		for f, x := range filters[at:][:n] {
			of[f*b.dim+e] = x
		}
	}
	simd.AddProduct(dFilters[o*per+b.column:], b.all, simd.Transposed(symbols, b.dim), table, n, b.dim, n, b.alphabet)
	if o > 0 {
		return
	}
	bias := dFilters[b.width*per+b.column:][:n]
	clear(bias)
	for s := range b.alphabet {
		simd.SGD(bias, table[s*n:][:n], 1, -1)
	}
}

// addSymbols adds to dSymbols, (A, E), the gradient of symbols first to last-1. It follows differentiate.
func (b *bank) addSymbols(dSymbols []float32, first, last int) {
	n := b.filters
	for o := range b.width {
		simd.AddProduct(dSymbols[first*b.dim:], b.dim, simd.RowMajor(b.gradient[(o*b.alphabet+first)*n:], n),
			b.transposed[o*b.dim*n:], b.dim, last-first, b.dim, n)
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

func floats(n int) []float32 { return memory.Floats(n) }
