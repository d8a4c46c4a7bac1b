package sentences

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A convolution applies filters to all windows of so many words and takes the
// largest value of each over a sentence, as one Gorgonia operation (see apply):
//
//	filters: (F, width·N + 1)   out: (B, F)
//	out_bf = max over windows x of sentence b of filters_f · (x, 1)
//
// The gradient goes to the one window that was the largest, the first one of
// equals; Gorgonia's own Max would give it to all of them.
type convolution struct {
	width  int // words of a window
	places bool
	team   *team.Team

	// The windows of this batch, one row each, of all sentences one after the
	// other; bounds[b] to bounds[b+1] belong to sentence b.
	windows []float32
	bounds  []int

	scores  []float32 // of the filters on each window
	largest []uint32  // (F, B): windows, filters first
	out     *tensor.Dense
}

// Distances from the ends of a relation, from -farthest to farthest; words farther away are as
// far.
const (
	farthest  = 5
	distances = 2*farthest + 1
)

// wordSize is how many values a word of a window has.
func (c *convolution) wordSize(dim int) int {
	if c.places {
		return dim + 2*distances
	}
	return dim
}

// size is how many values a window has.
func (c *convolution) size(dim int) int { return c.width*c.wordSize(dim) + 1 }

// setBatch cuts sentences into windows. vectors holds the words' vectors, of
// dim values each; words below 0 have none and count as zero. A sentence shorter
// than a window is filled up with zeros.
func (c *convolution) setBatch(sentences []sentence, vectors []float32, dim int) {
	size, word := c.size(dim), c.wordSize(dim)
	c.bounds = append(c.bounds[:0], 0)
	for i, s := range sentences {
		c.bounds = append(c.bounds, c.bounds[i]+max(len(s.Words)-c.width+1, 1))
	}
	if values := c.bounds[len(sentences)] * size; cap(c.windows) < values {
		c.windows = make([]float32, values) // nearly all of the network's memory, and no more than it needs
	} else {
		c.windows = c.windows[:values]
		clear(c.windows)
	}
	for i, s := range sentences {
		for first := range c.bounds[i+1] - c.bounds[i] {
			at := (c.bounds[i] + first) * size
			for k, row := range s.Words[first:min(first+c.width, len(s.Words))] {
				values := c.windows[at+k*word:][:word]
				if row >= 0 {
					copy(values, vectors[int(row)*dim:][:dim])
				}
				if c.places {
					for end, place := range s.Ends {
						distance := min(max(first+k-place, -farthest), farthest)
						values[dim+end*distances+farthest+distance] = 1
					}
				}
			}
			c.windows[at+size-1] = 1 // carries the bias
		}
	}
}

// run computes out for the batch. filters: (f, size)
func (c *convolution) run(filters []float32, f int) error {
	size := len(filters) / f
	b := len(c.bounds) - 1
	if len(c.scores) < c.bounds[b]*f {
		c.scores = make([]float32, c.bounds[b]*f)
	}
	if c.out == nil || c.out.Shape()[0] != b || c.out.Shape()[1] != f {
		c.out = tensor.New(tensor.WithShape(b, f), tensor.Of(tensor.Float32))
		c.largest = make([]uint32, b*f)
	}
	out := c.out.Float32s()
	all := memory.Sequence[uint32](f)
	return c.team.Do(b, func(_, i int) {
		first, last := c.bounds[i], c.bounds[i+1]
		scores := c.scores[first*f : last*f]
		simd.Scores(scores, c.windows[first*size:last*size], memory.Sequence[uint32](last-first), filters, all, size)
		row := out[i*f : (i+1)*f]
		copy(row, scores[:f])
		for k := range f {
			c.largest[k*b+i] = uint32(first)
		}
		for w := first + 1; w < last; w++ {
			for k, score := range scores[(w-first)*f:][:f] {
				if score > row[k] {
					row[k] = score
					c.largest[k*b+i] = uint32(w)
				}
			}
		}
	})
}

// gradient computes the gradient of the filters from the gradient of out, (B, F).
func (c *convolution) gradient(gradient, outGradient []float32, f int) error {
	size, b := len(gradient)/f, len(c.bounds)-1
	return c.team.Do(f, func(_, k int) {
		coefficients := make([]float32, b)
		for i := range coefficients {
			coefficients[i] = outGradient[i*f+k]
		}
		simd.Combine(gradient[k*size:(k+1)*size], coefficients, c.windows, c.largest[k*b:(k+1)*b])
	})
}

// apply adds the operation to the graph of the filters, (F, width·N + 1), for
// batches of a size.
func (c *convolution) apply(filters *gorgonia.Node, batch int) (*gorgonia.Node, error) {
	f := filters.Shape()[0]
	gradient := tensor.New(tensor.WithShape(filters.Shape().Clone()...), tensor.Of(tensor.Float32))
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) {
		err := c.run(in[0].Float32s(), f) // makes out
		return c.out, err
	}
	backward := func(_ []*tensor.Dense, outGradient *tensor.Dense) ([]*tensor.Dense, error) {
		return []*tensor.Dense{gradient}, c.gradient(gradient.Float32s(), outGradient.Float32s(), f)
	}
	return operation.Apply(fmt.Sprintf("largest of the filters over %d words", c.width), gorgonia.Nodes{filters}, batch, f, forward, backward)
}
