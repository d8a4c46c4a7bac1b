package graph

import (
	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/gorgonia"
)

// A step trains tables once with the targets or pairs set before.
type step interface {
	run() (loss float64, err error)
	compiled() *machine
}

// fusedStep is a graph of one operation, which updates what it trains.
type fusedStep struct {
	*machine
	loss func() float64
}

func (f *fusedStep) run() (float64, error) {
	if err := f.machine.run(); err != nil {
		return 0, err
	}
	return f.loss(), nil
}

func (f *fusedStep) compiled() *machine { return f.machine }

// newFusedStep makes the graph of op on two tables.
func newFusedStep(op gorgonia.Op, loss func() float64, a, b *table) (f *fusedStep, err error) {
	defer recovered("build the fused graph", &err)
	g := gorgonia.NewGraph()
	if _, err := gorgonia.ApplyOp(op, matrix(g, a.name, a.dense), matrix(g, b.name, b.dense)); err != nil {
		return nil, err
	}
	m, err := newMachine(g)
	return &fusedStep{m, loss}, err
}

// newHalfStep trains left against frozen right: one of the two steps of
// W2V-CL.
func newHalfStep(left, right *table, t targets, workers *team.Team, c Config) (step, error) {
	if c.Form == FormStock {
		return newStockHalfStep(left, right, t)
	}
	op := newSkipGram(t, workers, left.optimizer)
	return newFusedStep(op, op.Loss, left, right)
}

// newPairStep trains both tables on a minibatch of pairs.
func newPairStep(words, contexts *table, b *pairBatch, c Config) (step, error) {
	if c.Form == FormStock {
		return newStockPairStep(words, contexts, b)
	}
	op := newPairsStep(words, contexts, b, team.New(c.Threads))
	return newFusedStep(op, func() float64 { return op.loss }, words, contexts)
}
