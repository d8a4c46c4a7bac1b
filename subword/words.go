package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// withWords gives each word a vector of its own beside the composed one.
type withWords struct {
	Encoder
	table *tensor.Dense // (V, N)
}

// WithWords returns an encoder that adds to the vectors of e, for every word of the vocabulary, a vector of its own, as
// in fastText: spelling cannot tell that a kitten is a cat. The W2V-CL paper has e alone. Encode gives the vectors of e,
// the part that unseen words have too.
func WithWords(e Encoder) Encoder {
	return &withWords{Encoder: e, table: newMatrix(e.Words(), e.Dim())}
}

// Parameters lists the encoder's parameters and the table.
func (w *withWords) Parameters() []graph.Parameter {
	return append(w.Encoder.Parameters(), graph.Parameter{Name: "words", Value: w.table, OfWords: true})
}

// Randomize starts the table as word-level training does.
func (w *withWords) Randomize(seed uint64) {
	w.Encoder.Randomize(seed)
	trainer.Randomize(w.table.Float32s(), w.Dim(), seed)
}

// Own returns words' own vectors.
func (w *withWords) Own() []float32 { return w.table.Float32s() }

// Bytes adds the sums.
func (w *withWords) Bytes() (rows, gradient int64) {
	rows, gradient = w.Encoder.Bytes()
	return rows + memory.SizeOf(w.Words()*w.Dim()), gradient
}

// Rows adds the table to the rows of the encoder.
func (w *withWords) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	last := len(parameters) - 1
	if last < 0 {
		return nil, fmt.Errorf("word vectors: no parameters")
	}
	rows, err := w.Encoder.Rows(parameters[:last], batch, threads)
	if err != nil {
		return nil, err
	}
	return addRows(rows, parameters[last], batch, threads)
}

// addRows adds to a graph the sum of rows, (B, N), and of the rows of a table, (V, N), that batch names; nil stands for
// all of them in order. Gorgonia's own addition would allocate the result anew in every run.
func addRows(rows, table *gorgonia.Node, batch []uint32, threads int) (*gorgonia.Node, error) {
	shape := rows.Shape()
	if shape.Dims() != 2 || table.Shape().Dims() != 2 || shape[1] != table.Shape()[1] || batch == nil && shape[0] != table.Shape()[0] {
		return nil, fmt.Errorf("rows of a table %v cannot be added to rows %v", table.Shape(), shape)
	}
	s := &rowAddition{batch: batch, n: shape[1], team: team.New(threads), result: newMatrix(shape[0], shape[1])}
	return operation.Apply("sum with words' own vectors", gorgonia.Nodes{rows, table}, shape[0], shape[1], s.forward, s.backward)
}

type rowAddition struct {
	batch  []uint32 // live; nil: all
	n      int      // N
	team   *team.Team
	result *tensor.Dense // (B, N)

	// of a batch; nil until backward is called
	ofTable *tensor.Dense // gradient of the table, (V, N)
	written []uint32      // its rows that are not zero
}

// word returns which word row i is of.
func (s *rowAddition) word(i int) int {
	if s.batch == nil {
		return i
	}
	return int(s.batch[i])
}

func (s *rowAddition) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	n, rows, table, to := s.n, in[0].Float32s(), in[1].Float32s(), s.result.Float32s()
	return s.result, eachBlock(s.team, len(to)/n, func(_, first, last int) {
		copy(to[first*n:last*n], rows[first*n:last*n])
		for i := first; i < last; i++ {
			simd.SGD(to[i*n:][:n], table[s.word(i)*n:][:n], 1, -1)
		}
	})
}

// backward: either gets the gradient of the sum.
func (s *rowAddition) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.batch == nil {
		return []*tensor.Dense{gradient, gradient}, nil
	}
	if s.ofTable == nil {
		s.ofTable = newMatrix(in[1].Shape()[0], s.n)
	}
	n, g, to := s.n, gradient.Float32s(), s.ofTable.Float32s()
	for _, word := range s.written {
		clear(to[int(word)*n:][:n])
	}
	s.written = append(s.written[:0], s.batch...)
	for i, word := range s.batch { // a word may come again
		simd.SGD(to[int(word)*n:][:n], g[i*n:][:n], 1, -1)
	}
	return []*tensor.Dense{gradient, s.ofTable}, nil
}
