package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Symbols are B words in the graph of a network.
type Symbols struct {
	words           *Spellings
	tables, threads int
}

// Len is L, how many symbols the longest word has. The first and the last of every word are marks.
func (s *Symbols) Len() (most int) {
	starts := s.words.starts
	for i, start := range starts[1:] {
		most = max(most, int(start-starts[i]))
	}
	return most
}

// At adds, for each word, the row of a matrix, (A, E), that belongs to the word's symbol at a place from 0 to L-1: (B, E). All words
// end at the last place; a word that begins later has zeros before. At panics if the matrix is not that of symbols.
func (s *Symbols) At(place int, matrix *gorgonia.Node) *gorgonia.Node {
	rows, all, columns := s.words.Len(), matrix.Shape()[0], matrix.Shape()[1]
	l := &lookUp{s.words, s.Len() - place, newMatrix(rows, columns), newMatrix(all, columns)}
	name := fmt.Sprintf("symbols at place %d", place)
	return gorgonia.Must(operation.Apply(name, gorgonia.Nodes{matrix}, rows, columns, l.forward, l.backward))
}

type lookUp struct {
	words            *Spellings
	fromEnd          int           // counted from 1
	result, gradient *tensor.Dense // (B, E), (A, E)
}

// each calls work with the rows of words that have a symbol at the place, and of the symbol.
func (l *lookUp) each(words, symbols *tensor.Dense, work func(word, symbol []float32)) {
	n := words.Shape()[1]
	for i := range l.words.Len() {
		if word := l.words.Word(i); len(word) >= l.fromEnd {
			symbol := int(word[len(word)-l.fromEnd])
			work(words.Float32s()[i*n:][:n], symbols.Float32s()[symbol*n:][:n])
		}
	}
}

func (l *lookUp) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	l.result.Zero()
	l.each(l.result, in[0], func(word, symbol []float32) { copy(word, symbol) })
	return l.result, nil
}

// backward adds in the order of words.
func (l *lookUp) backward(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	l.gradient.Zero()
	l.each(gradient, l.gradient, func(word, symbol []float32) { simd.SGD(symbol, word, 1, -1) })
	return []*tensor.Dense{l.gradient}, nil
}
