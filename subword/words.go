package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// withWords adds a vector of each word's own to the composed one.
type withWords struct {
	Encoder
	table *tensor.Dense // (V, N)
}

// WithWords returns an encoder that adds to the vectors of e, for every word of the vocabulary, a vector of its own, as
// in fastText: spelling cannot tell that a kitten is a cat. The W2V-CL paper has e alone. Encode gives the vectors of e,
// the part that unseen words have too.
func WithWords(e Encoder) Encoder {
	return &withWords{e, newMatrix(e.Words(), e.Dim())}
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

// Draw passes the step on to an encoder whose rows depend on it.
func (w *withWords) Draw(seed uint64, step int) {
	if d, ok := w.Encoder.(graph.Drawing); ok {
		d.Draw(seed, step)
	}
}

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

	// of a batch
	gradient *tensor.Dense // of the table, (V, N); nil until backward is called
	written  []uint32      // its rows that are not zero
}

func (s *rowAddition) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	n, rows, table, to := s.n, in[0].Float32s(), in[1].Float32s(), s.result.Float32s()
	err := eachBlock(s.team, len(to)/n, func(_, first, last int) {
		copy(to[first*n:last*n], rows[first*n:last*n])
		if s.batch == nil {
			simd.SGD(to[first*n:last*n], table[first*n:last*n], 1, -1)
			return
		}
		for i, word := range s.batch[first:last] {
			simd.SGD(to[(first+i)*n:][:n], table[int(word)*n:][:n], 1, -1)
		}
	})
	return s.result, err
}

// backward: either gets the gradient of the sum.
func (s *rowAddition) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.batch == nil {
		return []*tensor.Dense{gradient, gradient}, nil
	}
	if s.gradient == nil {
		s.gradient = newMatrix(in[1].Shape()[0], s.n)
	}
	n, g, to := s.n, gradient.Float32s(), s.gradient.Float32s()
	for _, word := range s.written {
		clear(to[int(word)*n:][:n])
	}
	s.written = append(s.written[:0], s.batch...)
	for i, word := range s.batch {
		simd.SGD(to[int(word)*n:][:n], g[i*n:][:n], 1, -1)
	}
	return []*tensor.Dense{gradient, s.gradient}, nil
}
