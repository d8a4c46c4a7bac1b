package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
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

	own, spelling float32 // weights of the two in the vector of a word, outside of steps of training with two losses

	// of two losses
	two  bool
	draw Draw
	bits []uint32 // (V), one for each word: the step trains the word's own vector
}

// WithWords returns an encoder that adds to the vectors of e, for every word of the vocabulary, a vector of its own, as
// in fastText: spelling cannot tell that a kitten is a cat. The W2V-CL paper has e alone. Encode gives the vectors of e,
// the part that unseen words have too.
func WithWords(e Encoder) Encoder {
	return &withWords{Encoder: e, table: newMatrix(e.Words(), e.Dim()), own: 1, spelling: 1}
}

// WithTwoLosses returns an encoder that trains the vectors of e and words' own vectors by a loss each, against the same
// contexts (the hybrid of Li, Drozd, Liu and Du 2018). In each step of training a word stands for one of its two vectors,
// which follows from the draw alone; so either is trained in half of the steps, and contexts meet both. Outside of
// training rows are the sum of the two by their weights.
func WithTwoLosses(e Encoder, own, spelling float32) Encoder {
	w := &withWords{Encoder: e, table: newMatrix(e.Words(), e.Dim()), own: own, spelling: spelling, two: true}
	w.bits = make([]uint32, (e.Words()+127)/128*4) // as Philox gives them
	return w
}

// ownStep reports whether the present step trains the own vector of a word, not the composed one.
func (w *withWords) ownStep(word int) bool { return w.bits[word/32]>>(word%32)&1 == 1 }

// weights returns the weights of both vectors in the row of a word.
func (w *withWords) weights(word int) (own, spelling float32) {
	switch {
	case !w.two || w.draw.Step == 0:
		return w.own, w.spelling
	case w.ownStep(word):
		return 1, 0
	default:
		return 0, 1
	}
}

// Parameters lists the encoder's parameters and the table.
func (w *withWords) Parameters() []graph.Parameter {
	own := graph.Parameter{Name: "words", Value: w.table, OfWords: true}
	if w.two {
		own.Trained = func(word int) bool { return w.draw.Step == 0 || w.ownStep(word) }
	}
	return append(w.Encoder.Parameters(), own)
}

// Randomize starts the table as word-level training does.
func (w *withWords) Randomize(seed uint64) {
	w.Encoder.Randomize(seed)
	trainer.Randomize(w.table.Float32s(), w.Dim(), seed)
}

// Own returns words' own vectors.
func (w *withWords) Own() []float32 { return w.table.Float32s() }

// Draw chooses what a step trains, and passes the step on to an encoder whose rows depend on it.
func (w *withWords) Draw(seed uint64, step int) {
	if w.draw = (Draw{seed, step}); w.two {
		simd.Philox(w.bits, seed, uint64(corpus.StreamDropout.Sub(1<<31|uint32(step))), 0)
	}
	if d, ok := w.Encoder.(graph.Drawing); ok {
		d.Draw(seed, step)
	}
}

// Bytes adds the sums, and of two losses their gradients.
func (w *withWords) Bytes() (rows, gradient, free int64) {
	rows, gradient, free = w.Encoder.Bytes()
	table := memory.SizeOf(w.Words() * w.Dim())
	if w.two {
		gradient += 2 * table
	}
	return rows + table, gradient, free
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
	var weights func(word int) (own, spelling float32)
	if w.two {
		weights = w.weights
	}
	return addRows(rows, parameters[last], batch, weights, threads)
}

// addRows adds to a graph the sum of rows, (B, N), and of the rows of a table, (V, N), that batch names; nil stands for
// all of them in order. Both have weights, in each run anew, or if weights is nil, weight 1. Gorgonia's own addition would
// allocate the result anew in every run.
func addRows(rows, table *gorgonia.Node, batch []uint32, weights func(word int) (own, spelling float32), threads int) (*gorgonia.Node, error) {
	shape := rows.Shape()
	if shape.Dims() != 2 || table.Shape().Dims() != 2 || shape[1] != table.Shape()[1] || batch == nil && shape[0] != table.Shape()[0] {
		return nil, fmt.Errorf("rows of a table %v cannot be added to rows %v", table.Shape(), shape)
	}
	s := &rowAddition{batch: batch, weights: weights, n: shape[1], team: team.New(threads), result: newMatrix(shape[0], shape[1])}
	return operation.Apply("sum with words' own vectors", gorgonia.Nodes{rows, table}, shape[0], shape[1], s.forward, s.backward)
}

type rowAddition struct {
	batch   []uint32                               // live; nil: all
	weights func(word int) (own, spelling float32) // nil: 1
	n       int                                    // N
	team    *team.Team
	result  *tensor.Dense // (B, N)

	// of a batch, or with weights; nil until backward is called
	ofTable *tensor.Dense // gradient of the table, (V, N)
	written []uint32      // its rows that are not zero, of a batch
	ofRows  *tensor.Dense // gradient of the rows, (B, N)
}

// row returns which word row i is of, and the weights of its two vectors.
func (s *rowAddition) row(i int) (word int, own, spelling float32) {
	if word = i; s.batch != nil {
		word = int(s.batch[i])
	}
	if s.weights == nil {
		return word, 1, 1
	}
	own, spelling = s.weights(word)
	return word, own, spelling
}

func (s *rowAddition) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	n, rows, table, to := s.n, in[0].Float32s(), in[1].Float32s(), s.result.Float32s()
	return s.result, eachBlock(s.team, len(to)/n, func(_, first, last int) {
		copy(to[first*n:last*n], rows[first*n:last*n])
		for i := first; i < last; i++ {
			word, own, spelling := s.row(i)
			simd.SGD(to[i*n:][:n], table[word*n:][:n], spelling, -own)
		}
	})
}

// backward: either gets the gradient of the sum times its weight.
func (s *rowAddition) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.batch == nil && s.weights == nil {
		return []*tensor.Dense{gradient, gradient}, nil
	}
	if s.ofTable == nil {
		s.ofTable = newMatrix(in[1].Shape()[0], s.n)
	}
	if s.ofRows == nil && s.weights != nil {
		s.ofRows = newMatrix(gradient.Shape()[0], s.n)
	}
	n, g, to, keep := s.n, gradient.Float32s(), s.ofTable.Float32s(), float32(0)
	for _, word := range s.written {
		clear(to[int(word)*n:][:n])
	}
	if s.written = append(s.written[:0], s.batch...); s.batch != nil {
		keep = 1 // a word may come again
	}
	spread := func(_, first, last int) {
		for i := first; i < last; i++ {
			word, own, spelling := s.row(i)
			simd.SGD(to[word*n:][:n], g[i*n:][:n], keep, -own)
			if s.weights != nil {
				simd.SGD(s.ofRows.Float32s()[i*n:][:n], g[i*n:][:n], 0, -spelling)
			}
		}
	}
	var err error
	if s.batch == nil {
		err = eachBlock(s.team, len(g)/n, spread)
	} else {
		spread(0, 0, len(g)/n)
	}
	if s.weights == nil {
		return []*tensor.Dense{gradient, s.ofTable}, err
	}
	return []*tensor.Dense{s.ofRows, s.ofTable}, err
}
