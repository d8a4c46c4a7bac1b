package textcnn

import (
	"fmt"
	"hash"
	"hash/fnv"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A convolution is filters over all windows of so many words, and the largest
// of each over a sentence, as one Gorgonia operation:
//
//	filters: (F, width·N + 1)   out: (B, F)
//	out_bf = max over windows x of sentence b of filters_f · (x, 1)
//
// The gradient goes to the one window that was the largest, the first one of
// equals; Gorgonia's own Max would give it to all of them.
type convolution struct {
	operation
	width int // words of a window
	team  *team.Team

	// The windows of the batch at hand, one row each, of all sentences one
	// after the other; bounds[b] to bounds[b+1] are sentence b's.
	windows []float32
	bounds  []int

	scores  []float32 // of the filters on each window
	largest []uint32  // (F, B): windows, filters first
	out     *tensor.Dense
}

func newConvolution(width int, team *team.Team) *convolution {
	return &convolution{operation: newOperation(fmt.Sprintf("largest of the filters over %d words", width), 1), width: width, team: team}
}

// setBatch cuts sentences into windows. vectors holds the words' vectors, of
// dim values; words below 0 have none and count as zero. A sentence shorter
// than a window is filled up with zeros.
func (c *convolution) setBatch(sentences []Sentence, vectors []float32, dim int) {
	size := c.width*dim + 1
	c.windows, c.bounds = c.windows[:0], append(c.bounds[:0], 0)
	for _, s := range sentences {
		for first := 0; first == 0 || first+c.width <= len(s.Words); first++ {
			at := len(c.windows)
			c.windows = append(c.windows, make([]float32, size)...)
			for k, word := range s.Words[first:min(first+c.width, len(s.Words))] {
				if word >= 0 {
					copy(c.windows[at+k*dim:], vectors[int(word)*dim:][:dim])
				}
			}
			c.windows[at+size-1] = 1 // carries the bias
		}
		c.bounds = append(c.bounds, len(c.windows)/size)
	}
}

// sequence is 0, 1, ..., n-1.
func sequence(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
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
	all := sequence(f)
	return c.team.Do(b, func(_, i int) {
		first, last := c.bounds[i], c.bounds[i+1]
		scores := c.scores[first*f : last*f]
		simd.Scores(scores, c.windows[first*size:last*size], sequence(last-first), filters, all, size)
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

// gradient computes the gradient of the filters from that of out, (B, F).
func (c *convolution) gradient(gradient, of []float32, f int) error {
	size, b := len(gradient)/f, len(c.bounds)-1
	return c.team.Do(f, func(_, k int) {
		coefficients := make([]float32, b)
		for i := range coefficients {
			coefficients[i] = of[i*f+k]
		}
		simd.Combine(gradient[k*size:(k+1)*size], coefficients, c.windows, c.largest[k*b:(k+1)*b])
	})
}

// What follows is what Gorgonia asks of an operation.

// Type is matrix -> matrix.
func (c *convolution) Type() hm.Type { return hm.NewFnType(matrixType, matrixType) }

// InferShape says (B, F).
func (c *convolution) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	filters, ok := in[0].(tensor.Shape)
	if !ok || len(filters) != 2 {
		return nil, fmt.Errorf("%v: the shape of the filters is %v", c, in[0])
	}
	return tensor.Shape{len(c.bounds) - 1, filters[0]}, nil
}

// Do runs the filters over the batch.
func (c *convolution) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	filters, ok := inputs[0].(*tensor.Dense)
	if !ok || filters.Dtype() != tensor.Float32 || filters.Dims() != 2 {
		return nil, fmt.Errorf("%v: the filters are no float32 matrix", c)
	}
	if err := c.run(filters.Float32s(), filters.Shape()[0]); err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	return c.out, nil
}

// DiffWRT says that the filters have a gradient.
func (c *convolution) DiffWRT(int) []bool { return []bool{true} }

// SymDiff returns the node of the filters' gradient.
func (c *convolution) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	op := &convolutionGradient{operation: newOperation("gradient of "+c.String(), 3), of: c}
	d, err := gorgonia.ApplyOp(op, inputs[0], output, grad)
	if err != nil {
		return nil, fmt.Errorf("gradient of %v: %w", c, err)
	}
	return gorgonia.Nodes{d}, nil
}

// convolutionGradient has the inputs filters, out and the gradient of out.
type convolutionGradient struct {
	operation
	of  *convolution
	out *tensor.Dense
}

func (d *convolutionGradient) Type() hm.Type {
	return hm.NewFnType(matrixType, matrixType, matrixType, matrixType)
}

func (d *convolutionGradient) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	shape, ok := in[0].(tensor.Shape)
	if !ok {
		return nil, fmt.Errorf("%v: the shape of the filters is unknown", d)
	}
	return shape.Clone(), nil
}

func (d *convolutionGradient) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	filters, ok := inputs[0].(*tensor.Dense)
	gradient, good := inputs[2].(*tensor.Dense)
	if !ok || !good {
		return nil, fmt.Errorf("%v: the inputs are no matrices", d)
	}
	if d.out == nil {
		d.out = tensor.New(tensor.WithShape(filters.Shape().Clone()...), tensor.Of(tensor.Float32))
	}
	if err := d.of.gradient(d.out.Float32s(), gradient.Float32s(), filters.Shape()[0]); err != nil {
		return nil, fmt.Errorf("%v: %w", d, err)
	}
	return d.out, nil
}

// operation is what both operations have in common.
type operation struct {
	id     uint32
	name   string
	inputs int
}

var operations atomic.Uint32

func newOperation(name string, inputs int) operation {
	return operation{operations.Add(1), name, inputs}
}

// Arity is the number of inputs.
func (o operation) Arity() int { return o.inputs }

// ReturnsPtr is false: Gorgonia must not edit the result in place.
func (o operation) ReturnsPtr() bool { return false }

// CallsExtern is false: no cgo.
func (o operation) CallsExtern() bool { return false }

// OverwritesInput is -1: none.
func (o operation) OverwritesInput() int { return -1 }

// WriteHash writes what tells this operation from all others: Gorgonia merges
// nodes of equal hash.
func (o operation) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%s #%d", o.name, o.id) }

// Hashcode is the hash of WriteHash.
func (o operation) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o operation) String() string { return o.name }

var matrixType = gorgonia.TensorType{Dims: 2, Of: tensor.Float32}
