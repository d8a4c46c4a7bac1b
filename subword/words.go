package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/internal/trainer"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// withWords adds to what spelling says a vector of each word's own.
type withWords struct {
	Encoder
	table *tensor.Dense // (V, N)
}

// WithWords returns an encoder whose vectors are those of e plus, for every
// word of the vocabulary, a vector of its own, as in fastText: spelling cannot
// tell what "cat" has to do with "kitten". The paper's form is e alone. Encode
// is that of e: the part that unseen words have too.
func WithWords(e Encoder) Encoder {
	return &withWords{e, newMatrix(e.Words(), e.Dim())}
}

// Parameters lists those of the encoder and the table.
func (w *withWords) Parameters() []graph.Parameter {
	return append(w.Encoder.Parameters(), graph.Parameter{Name: "words", Value: w.table})
}

// Randomize starts the table as word-level training does.
func (w *withWords) Randomize(seed uint64) {
	w.Encoder.Randomize(seed)
	trainer.Randomize(w.table.Float32s(), w.Dim(), seed)
}

// Bytes adds the sums.
func (w *withWords) Bytes() (rows, gradient int64) {
	rows, gradient = w.Encoder.Bytes()
	return rows + 4*int64(w.Words())*int64(w.Dim()), gradient
}

// Rows adds the table to the rows of the encoder.
func (w *withWords) Rows(parameters gorgonia.Nodes, threads int) (*gorgonia.Node, error) {
	last := len(parameters) - 1
	if last < 0 {
		return nil, fmt.Errorf("word vectors: no parameters")
	}
	rows, err := w.Encoder.Rows(parameters[:last], threads)
	if err != nil {
		return nil, err
	}
	return sum(rows, parameters[last], threads)
}

// sum adds the sum of two matrices to a graph. The gradient of either is that of
// the sum. Gorgonia's own addition would allocate the result anew in every run.
func sum(a, b *gorgonia.Node, threads int) (*gorgonia.Node, error) {
	if !a.Shape().Eq(b.Shape()) || a.Shape().Dims() != 2 {
		return nil, fmt.Errorf("a table %v cannot be added to rows %v", b.Shape(), a.Shape())
	}
	rows, n := a.Shape()[0], a.Shape()[1]
	result, workers := newMatrix(rows, n), team.New(threads)
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) {
		x, y, to := in[0].Float32s(), in[1].Float32s(), result.Float32s()
		return result, eachBlock(workers, rows, func(_, first, last int) {
			copy(to[first*n:last*n], x[first*n:last*n])
			simd.SGD(to[first*n:last*n], y[first*n:last*n], 1, -1)
		})
	}
	backward := func(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
		return []*tensor.Dense{gradient, gradient}, nil
	}
	return operation.Apply("sum", gorgonia.Nodes{a, b}, rows, n, forward, backward)
}
