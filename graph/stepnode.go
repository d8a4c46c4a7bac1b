package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stepNode is a step of W2V-CL in the graph of an iteration; package step defines and computes it:
//
//	left: (R, N)  frozen: (F, N)
//
// There is no gradient for the frozen vectors, so nothing is scattered. The node that train adds moves a row of left while
// it is in the cache, and keeps no gradient. The node that gradient adds is the gradient of left, for the nodes that move what
// left is made of. The gradient of a row is that of the mean over its samples; the loss is reported as the sum over them.
type stepNode struct {
	core *step.Step
	run  func(left, frozen []float32) (loss float64, err error) // of core
	loss float64                                                // of the last run
	name string
}

// newStepNode makes step 1 or 2 for so many rows at most, without sampler and blocks. It keeps the gradients of kept rows.
func newStepNode(number, rows, kept int, workers *team.Team, c Options) (*stepNode, error) {
	d, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return nil, err
	}
	core := &step.Step{Team: workers, Dim: c.Dim, Root: !d.Adaptive}
	c.Account.Take(trainer.ForWork, step.WorkBytes(rows, c.Dim, c.SharedNegatives, c.Threads))
	if kept > 0 {
		core.Kept = c.Account.Floats(trainer.ForWork, kept*c.Dim)
	}
	return &stepNode{core: core, run: core.Run, name: fmt.Sprintf("step %d", number)}, nil
}

// lossName describes the loss.
func (s *stepNode) lossName() string {
	if k, h := s.core.Sampler.Negatives, s.core.Sampler.Shared; h > 0 {
		return fmt.Sprintf("loss of %d shared negatives with the weight of %d", h, k)
	}
	return fmt.Sprintf("loss of %d negatives", s.core.Sampler.Negatives)
}

// train adds the node that moves the rows of a table, the value of left, and returns the table after it.
func (s *stepNode) train(g *iteration, table *table, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	s.core.Move = table.move
	work := func(in []*tensor.Dense) error {
		table.begin(g)
		return s.compute(in)
	}
	name := fmt.Sprintf("%s, update %s: %s, gradient, %s", s.name, table.name, s.lossName(), table.method)
	return g.node(name, table.dense, work, append(gorgonia.Nodes{left, frozen, g.clock}, after...)...)
}

// gradient adds the node of the gradient of left, whose rows are all kept.
func (s *stepNode) gradient(g *iteration, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	kept := dense(s.core.Kept, len(s.core.Kept)/s.core.Dim, s.core.Dim)
	return g.node(s.name+": "+s.lossName()+", gradient", kept, s.compute, append(gorgonia.Nodes{left, frozen}, after...)...)
}

func (s *stepNode) compute(in []*tensor.Dense) (err error) {
	s.loss, err = s.run(in[0].Float32s(), in[1].Float32s())
	return err
}
