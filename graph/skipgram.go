package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// skipGram is a step of W2V-CL in the graph of an iteration; package step defines and computes it:
//
//	left: (V, N)  frozen: (F, N)
//
// There is no gradient for the frozen vectors, so nothing is scattered. The gradient of left goes to one of two places.
// The node that train adds updates a row of left while it is in the cache, and keeps no gradient. The node that apply adds
// is a loss, which keeps the gradient of left for what comes before it in the graph. It is that of the reported loss if
// rows have one sample each; otherwise rows are trained on the mean of their samples, but reported with the sum.
type skipGram struct {
	lossOperation
	core  *step.Step
	run   func(left, frozen []float32) (loss float64, err error) // of core
	loss  float64                                                // of the last run
	value gorgonia.F32
}

// newSkipGram makes the step for rows in the given blocks, for an optimizer
// that updates left or, if update is nil, for one that uses the kept gradient.
func newSkipGram(s *step.Sampler, blocks []int, workers *team.Team, update optim.Optimizer, c Options) (*skipGram, error) {
	d, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return nil, err
	}
	core := &step.Step{Sampler: s, Team: workers, Dim: c.Dim, Blocks: blocks, Update: update, Root: !d.Adaptive}
	return &skipGram{core: core, run: core.Run}, nil
}

// lossName describes the loss.
func (c Options) lossName() string {
	if c.SharedNegatives > 0 {
		return fmt.Sprintf("loss of %d negatives as %d of all rows", c.Negatives, c.SharedNegatives)
	}
	return fmt.Sprintf("loss of %d negatives", c.Negatives)
}

// trainName names the node that train adds.
func trainName(number int, left *table, loss string) string {
	return fmt.Sprintf("step %d, update %s: %s, gradient, %s", number, left.name, loss, left.method)
}

// train adds the step as a node that updates left, and returns the updated left. It runs after the nodes that are given.
func (s *skipGram) train(g *iteration, name string, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	if g.err != nil {
		return nil
	}
	table := left.Value().(*tensor.Dense)
	work := func(in []*tensor.Dense) (err error) {
		s.core.Update.Begin(g.number(), g.rate())
		s.loss, err = s.run(in[0].Float32s(), in[1].Float32s())
		return err
	}
	return g.node(name, table, work, append(gorgonia.Nodes{left, frozen, g.clock}, after...)...)
}

// apply adds the step as a loss of left and frozen, a float32 scalar. It runs after the nodes that are given.
func (s *skipGram) apply(g *iteration, name string, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	return g.add(func() (*gorgonia.Node, error) {
		inputs := append(gorgonia.Nodes{left, frozen}, after...)
		s.Base = operation.New(name, inputs, tensor.Float32)
		loss, err := gorgonia.ApplyOp(s, inputs...)
		if err != nil {
			return nil, fmt.Errorf("%s of %v and %v: %w", name, left.Shape(), frozen.Shape(), err)
		}
		return loss, nil
	})
}

// Do computes the loss of values of left and frozen.
func (s *skipGram) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	left, frozen, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	if rows, columns := left.Shape()[0], left.Shape()[1]; rows < s.core.Sampler.Len() || columns != s.core.Dim {
		return nil, fmt.Errorf("%v: left is %v, not (%d, %d)", s, left.Shape(), s.core.Sampler.Len(), s.core.Dim)
	}
	if s.loss, err = s.run(left.Float32s(), frozen.Float32s()); err != nil {
		return nil, err
	}
	s.value = gorgonia.F32(s.loss) // rounded; loss is not
	return &s.value, nil
}

// SymDiff returns the node of the gradient for left. Do computes it with the
// loss, and the node hands it out; its input is the loss, to run after it.
func (s *skipGram) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	kept := tensor.New(tensor.WithShape(inputs[0].Shape().Clone()...), tensor.Of(tensor.Float32))
	s.core.Kept = kept.Float32s()
	return applyLossGradient(s.String(), inputs, output, grad, kept)
}
