package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stepNode is a step of W2V-CL in the graph of an iteration; package step defines and computes it:
//
//	left: (R, N)  frozen: (F, N)
//
// There is no gradient for the frozen vectors, so nothing is scattered. The node that train adds moves a row of left while
// it is in the cache. The node that gradient adds returns the gradient of left, from which other nodes
// move what left is composed of. A row's gradient is that of its mean loss over samples; the reported loss is the sum.
type stepNode struct {
	core      *step.Step
	run       func(left, frozen []float32) (loss float64, err error) // of core
	loss      float64                                                // of the last run
	name      string
	gradients []float32 // (R, N), for the node that gradient adds
}

// newStepNode makes step 1 or 2 for so many rows at most, without sampler and blocks, with room for so many gradients.
func newStepNode(number, rows, gradients int, workers *team.Team, c Options) *stepNode {
	core := &step.Step{Team: workers, Dim: c.Dim}
	s := &stepNode{core: core, run: core.Run, name: fmt.Sprintf("step %d", number)}
	c.Account.Take(trainer.ForWork, step.WorkBytes(rows, c.Dim, c.SharedNegatives, c.Threads))
	if gradients > 0 {
		s.gradients = c.Account.Floats(trainer.ForWork, gradients*c.Dim)
	}
	return s
}

func (s *stepNode) lossName() string {
	if k, h := s.core.Sampler.Negatives, s.core.Sampler.Shared; h > 0 {
		return fmt.Sprintf("loss of %d shared negatives with the weight of %d", h, k)
	}
	return fmt.Sprintf("loss of %d negatives", s.core.Sampler.Negatives)
}

// train adds the node that moves the rows of a table, the value of left, and returns the table after it.
func (s *stepNode) train(g *iteration, table *table, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	s.core.Give = table.move
	work := func(in []*tensor.Dense) error {
		table.optimizer.Begin(g.step(), g.rate())
		return s.compute(in)
	}
	name := fmt.Sprintf("%s, update %s: %s, gradient, %s", s.name, table.name, s.lossName(), table.method)
	return g.node(name, table.dense, work, append(gorgonia.Nodes{left, frozen, g.clock}, after...)...)
}

// gradient adds the node of the gradient of left.
func (s *stepNode) gradient(g *iteration, left, frozen *gorgonia.Node, after ...*gorgonia.Node) *gorgonia.Node {
	s.core.Give = s.keep
	all := dense(s.gradients, len(s.gradients)/s.core.Dim, s.core.Dim)
	return g.node(s.name+": "+s.lossName()+", gradient", all, s.compute, append(gorgonia.Nodes{left, frozen}, after...)...)
}

func (s *stepNode) keep(row, samples int, gradient []float32) {
	kept := s.gradients[row*s.core.Dim:][:s.core.Dim]
	if samples == 0 {
		clear(kept)
		return
	}
	copy(kept, gradient)
}

func (s *stepNode) compute(in []*tensor.Dense) (err error) {
	s.loss, err = s.run(in[0].Float32s(), in[1].Float32s())
	return err
}
