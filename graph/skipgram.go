package graph

import (
	"fmt"
	"math"

	"github.com/chewxy/hm"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// skipGram is a step of W2V-CL as one Gorgonia operation; package step defines and computes it:
//
//	left: (V, N)  frozen: (F, N)
//
// There is no gradient for the frozen vectors, so nothing is scattered. The gradient of left goes
// to one of two places. With an optimizer, a row of left is updated while it is in the cache,
// and no gradient is kept. Without one, the gradient is kept for the derivative node that Gorgonia's
// Grad adds. It is that of the reported loss if rows have one sample each; otherwise rows are trained
// on the mean of their samples, but reported with the sum.
type skipGram struct {
	lossOperation
	core  *step.Step
	loss  float64
	value gorgonia.F32
}

// newSkipGram makes the operation for rows in the given blocks, for an optimizer
// that updates left or, if update is nil, for one that uses the kept gradient.
func newSkipGram(s *step.Sampler, blocks []int, workers *team.Team, update optim.Optimizer, c Options) (*skipGram, error) {
	d, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("skip-gram loss, %d negatives", s.Negatives)
	if s.Shared > 0 {
		name += fmt.Sprintf(" as %d of all rows", s.Shared)
	}
	if update != nil {
		name += ", updates left"
	}
	core := &step.Step{Sampler: s, Team: workers, Dim: c.Dim, Blocks: blocks, Update: update, Root: !d.Adaptive}
	return &skipGram{lossOperation: newLossOperation(name), core: core}, nil
}

// apply adds the operation to the graph of left and frozen and returns its loss, a float32 scalar.
func (s *skipGram) apply(left, frozen *gorgonia.Node) (*gorgonia.Node, error) {
	loss, err := gorgonia.ApplyOp(s, left, frozen)
	if err != nil {
		return nil, fmt.Errorf("skip-gram loss of %v and %v: %w", left.Shape(), frozen.Shape(), err)
	}
	return loss, nil
}

// Do runs the step on values of left and frozen.
func (s *skipGram) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	left, frozen, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	if rows, columns := left.Shape()[0], left.Shape()[1]; rows < s.core.Sampler.Len() || columns != s.core.Dim {
		return nil, fmt.Errorf("%v: left is %v, not (%d, %d)", s, left.Shape(), s.core.Sampler.Len(), s.core.Dim)
	}
	if s.loss, err = s.core.Run(left.Float32s(), frozen.Float32s()); err != nil {
		return nil, err
	}
	s.value = gorgonia.F32(s.loss) // rounded; loss is not
	return &s.value, nil
}

// DiffWRT says that there is a gradient for left only.
func (s *skipGram) DiffWRT(int) []bool { return []bool{true, false} }

// SymDiff returns the node of the gradient for left. Do computes it with the
// loss, and the node hands it out; its input is the loss, to run after it.
func (s *skipGram) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if s.core.Update != nil {
		return nil, fmt.Errorf("%v has no gradient to give: it updates left itself", s)
	}
	kept := tensor.New(tensor.WithShape(inputs[0].Shape().Clone()...), tensor.Of(tensor.Float32))
	s.core.Kept = kept.Float32s()
	d, err := applyLossGradient(s, inputs[0], output, grad, kept)
	if err != nil {
		return nil, err
	}
	return gorgonia.Nodes{d, nil}, nil
}

// lossGradient hands out the gradient that the operation of a loss has computed.
// Its inputs are the matrix that the gradient is for, the loss and the gradient
// of the loss.
type lossGradient struct {
	operation.Base
	gradient *tensor.Dense
}

// applyLossGradient adds the node that hands out the gradient of left.
func applyLossGradient(of fmt.Stringer, left, loss, ofLoss *gorgonia.Node, gradient *tensor.Dense) (*gorgonia.Node, error) {
	node, err := gorgonia.ApplyOp(&lossGradient{operation.New("gradient of "+of.String(), 3), gradient}, left, loss, ofLoss)
	if err != nil {
		return nil, fmt.Errorf("gradient of %v: %w", of, err)
	}
	return node, nil
}

func (d *lossGradient) Type() hm.Type {
	return hm.NewFnType(operation.MatrixType, tensor.Float32, tensor.Float32, operation.MatrixType)
}

func (d *lossGradient) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	shape, ok := in[0].(tensor.Shape)
	if !ok {
		return nil, fmt.Errorf("%v: the shape of left is unknown", d)
	}
	return shape.Clone(), nil
}

func (d *lossGradient) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	scale, ok := inputs[2].Data().(float32)
	if !ok || math.IsNaN(float64(scale)) {
		return nil, fmt.Errorf("%v: the gradient of the loss is %v, not a float32", d, inputs[2])
	}
	if scale != 1 {
		g := d.gradient.Float32s()
		for i := range g {
			g[i] *= scale
		}
	}
	return d.gradient, nil
}
