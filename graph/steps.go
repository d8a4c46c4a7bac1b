package graph

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
)

// A compiledStep trains tables or an encoder once with the samples or pairs set before.
type compiledStep interface {
	// optimizers returns the optimizers of the tables or parameters that the step
	// trains. Each must begin the step before run.
	optimizers() []parameterOptimizer
	run() (loss float64, err error)
	compiled() *machine
}

// A parameterOptimizer is the optimizer of one table or parameter.
type parameterOptimizer struct {
	optim.Optimizer
	relativeRate float64 // learning rate relative to the tables' rate
}

// fusedStep is a graph of one operation, which updates the tables it trains.
type fusedStep struct {
	*machine
	trained []parameterOptimizer
	loss    *float64 // of the last run
}

func (f *fusedStep) optimizers() []parameterOptimizer { return f.trained }

func (f *fusedStep) run() (float64, error) {
	if err := f.machine.run(); err != nil {
		return 0, err
	}
	return *f.loss, nil
}

func (f *fusedStep) compiled() *machine { return f.machine }

// newFusedStep makes the graph of op on two tables, which trains the given ones.
func newFusedStep(op gorgonia.Op, loss *float64, a, b *table, trained []parameterOptimizer) (f *fusedStep, err error) {
	defer operation.Recovered("build the fused graph", &err)
	g := gorgonia.NewGraph()
	if _, err := gorgonia.ApplyOp(op, matrix(g, a.name, a.dense), matrix(g, b.name, b.dense)); err != nil {
		return nil, err
	}
	m, err := newMachine(g)
	return &fusedStep{m, trained, loss}, err
}

// newTableStep trains left, in blocks of rows, against rows of frozen, a table or vectors that
// are computed before the step: one of the two steps of W2V-CL.
func newTableStep(left, frozen *table, s *step.Sampler, blocks []int, workers *team.Team, c Options) (compiledStep, error) {
	if c.Form == FormStock {
		return newStockStep(left, frozen, s, int(s.Slots[s.Len()]))
	}
	op, err := newSkipGram(s, blocks, workers, left.optimizer, c)
	if err != nil {
		return nil, err
	}
	return newFusedStep(op, &op.loss, left, frozen, left.optimizers())
}

// newPairStep trains both tables on a minibatch of pairs: the rows that it holds, or
// every row.
func newPairStep(words, contexts *table, b *pairBatch, everyRow bool, workers *team.Team, c Options) (compiledStep, error) {
	if c.Form == FormStock {
		return newStockPairStep(words, contexts, b, everyRow)
	}
	op := newPairsStep(words, contexts, b, everyRow, workers)
	return newFusedStep(op, &op.loss, words, contexts, append(words.optimizers(), contexts.optimizers()...))
}
