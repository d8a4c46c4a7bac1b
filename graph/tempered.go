package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// temperedLoss is a step of tempered W2V-CL as one Gorgonia operation; package tempered
// defines and computes it:
//
//	left: (V, N)  right: (V, N)
//
// As in SkipGram, the gradient updates the row at once, or is kept for the derivative
// node that Gorgonia's Grad adds. It is not quite that of the reported loss: rows are
// trained on the mean of their samples, but reported with the sum.
type temperedLoss struct {
	lossOperation
	core  *tempered.Loss
	loss  float64
	value gorgonia.F32
}

// newTemperedLoss makes the operation for rows in the given blocks, for an optimizer
// that updates left or, if update is nil, for one that uses the kept gradient.
func newTemperedLoss(s *tempered.Sampler, blocks []int, workers *team.Team, update optim.Optimizer, c Config) (*temperedLoss, error) {
	d, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("tempered skip-gram loss, %d negatives", s.Negatives)
	if s.Shared > 0 {
		name += fmt.Sprintf(" as %d of all rows", s.Shared)
	}
	if update != nil {
		name += ", updates left"
	}
	core := &tempered.Loss{Sampler: s, Team: workers, Dim: c.Dim, Blocks: blocks, Update: update, Root: !d.Adaptive}
	return &temperedLoss{lossOperation: newLossOperation(name), core: core}, nil
}

// Loss returns the loss of the last run in float64.
func (t *temperedLoss) Loss() float64 { return t.loss }

// Do runs the step on values of left and right.
func (t *temperedLoss) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	left, right, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	if want := (tensor.Shape{len(t.core.Sampler.Slots) - 1, t.core.Dim}); !left.Shape().Eq(want) {
		return nil, fmt.Errorf("%v: left is %v, not %v", t, left.Shape(), want)
	}
	if t.loss, err = t.core.Run(left.Float32s(), right.Float32s()); err != nil {
		return nil, err
	}
	t.value = gorgonia.F32(t.loss)
	return &t.value, nil
}

// DiffWRT says that there is a gradient for left only.
func (t *temperedLoss) DiffWRT(int) []bool { return []bool{true, false} }

// SymDiff returns the node of the gradient for left.
func (t *temperedLoss) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if t.core.Update != nil {
		return nil, fmt.Errorf("%v has no gradient to give: it updates left itself", t)
	}
	kept := tensor.New(tensor.WithShape(inputs[0].Shape().Clone()...), tensor.Of(tensor.Float32))
	t.core.Kept = kept.Float32s()
	d, err := applyLossGradient(t, inputs[0], output, grad, kept)
	if err != nil {
		return nil, err
	}
	return gorgonia.Nodes{d, nil}, nil
}
