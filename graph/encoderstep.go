package graph

import (
	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
)

// encoderStep trains an encoder against frozen right rows: step 1 of W2V-CL with
// composed words. Step 2 meets the rows of this forward pass, which the
// parameters gave before their update. A second pass after the update would cost
// a fifth of the step and changes no score
// (benchmarks/tried/recipes.md).
type encoderStep struct {
	*machine
	*composer
	loss *skipGram
	rows *gorgonia.Node
}

func newEncoderStep(left *composer, right *table, op *skipGram) (s *encoderStep, err error) {
	defer operation.Recovered("build the graph of the encoder", &err)
	s = &encoderStep{composer: left, loss: op}
	g := gorgonia.NewGraph()
	nodes, rows, err := s.compose(g, nil)
	if err != nil {
		return nil, err
	}
	s.rows = rows
	loss, err := op.apply(rows, matrix(g, right.name, right.dense))
	if err != nil {
		return nil, err
	}
	if s.machine, err = s.differentiate(g, loss, nodes); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *encoderStep) run() (float64, error) {
	if err := s.machine.run(); err != nil {
		return 0, err
	}
	if err := s.keep(s.rows); err != nil {
		return 0, err
	}
	return s.loss.loss, s.update()
}

func (s *encoderStep) compiled() *machine { return s.machine }
