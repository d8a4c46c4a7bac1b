package graph

import (
	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
)

// A step trains tables or an encoder once with the targets or pairs set before.
type step interface {
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
	loss    func() float64
}

func (f *fusedStep) optimizers() []parameterOptimizer { return f.trained }

func (f *fusedStep) run() (float64, error) {
	if err := f.machine.run(); err != nil {
		return 0, err
	}
	return f.loss(), nil
}

func (f *fusedStep) compiled() *machine { return f.machine }

// newFusedStep makes the graph of op on two tables, which trains the given ones.
func newFusedStep(op gorgonia.Op, loss func() float64, a, b *table, trained []parameterOptimizer) (f *fusedStep, err error) {
	defer operation.Recovered("build the fused graph", &err)
	g := gorgonia.NewGraph()
	if _, err := gorgonia.ApplyOp(op, matrix(g, a.name, a.dense), matrix(g, b.name, b.dense)); err != nil {
		return nil, err
	}
	m, err := newMachine(g)
	return &fusedStep{m, trained, loss}, err
}

// newTableStep trains left against frozen right: one of the two steps of
// W2V-CL.
func newTableStep(left, right *table, t targets, workers *team.Team, c Config) (step, error) {
	if c.Form == FormStock {
		return newStockStep(left, right, t)
	}
	op := newSkipGram(t, workers, left.optimizer)
	return newFusedStep(op, op.Loss, left, right, left.optimizers())
}

// newTemperedStep is newTableStep for tempered samples or shared negatives.
func newTemperedStep(left, right *table, s *tempered.Sampler, blocks []int, workers *team.Team, c Config) (step, error) {
	if c.Form == FormStock {
		return newTemperedStockStep(left, right, s)
	}
	op, err := newTemperedLoss(s, blocks, workers, left.optimizer, c)
	if err != nil {
		return nil, err
	}
	return newFusedStep(op, op.Loss, left, right, left.optimizers())
}

// newPairStep trains both tables on a minibatch of pairs: the rows that it holds, or
// every row.
func newPairStep(words, contexts *table, b *pairBatch, everyRow bool, c Config) (step, error) {
	if c.Form == FormStock {
		return newStockPairStep(words, contexts, b, everyRow)
	}
	op := newPairsStep(words, contexts, b, everyRow, team.New(c.Threads))
	return newFusedStep(op, func() float64 { return op.loss }, words, contexts, append(words.optimizers(), contexts.optimizers()...))
}
