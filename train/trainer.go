package train

import (
	"context"

	"github.com/w2vcl/w2vcl/trainer"
)

// A Report says what one unit of training did.
type Report = trainer.Report

// A Tensor is a named part of a trainer's state.
type Tensor = trainer.Tensor

// A Trainer is what every mode implements. It trains in units whose number is
// fixed in advance: iterations over one column of M, or blocks of minibatches.
// The run loop owns the order of units and the learning rate.
type Trainer interface {
	// Units is the number of units of the whole run.
	Units() int

	// Advance trains unit number unit, counted from 0, with a learning rate.
	// The loss it reports is summed over the unit's pairs. After an error
	// the tables are not to be used.
	Advance(ctx context.Context, unit int, rate float64) (Report, error)

	// Tables returns the word table W and the context table C, each V x N
	// in row-major order. They are live: the next Advance changes them.
	Tables() (words, contexts []float32)

	// State returns everything that training changes, live, in the same
	// order every time: copying saved values into it restores a trainer.
	State() []Tensor

	// Reset goes back to the start of training, as if nothing had been
	// trained: a plan measures units on the trainer that will train.
	Reset()

	// DOT returns the Gorgonia graph in Graphviz's language, or "".
	DOT() string

	// Close releases what the trainer holds.
	Close() error
}

// advance trains the units from first on, as many at a time as the trainer likes
// but at most most, and returns their reports and learning rates.
func advance(ctx context.Context, t Trainer, first, most int, rate func(unit int) float64) ([]Report, []float64, error) {
	blocks, ok := t.(trainer.Blocks)
	if !ok {
		lr := rate(first)
		report, err := t.Advance(ctx, first, lr)
		return []Report{report}, []float64{lr}, err
	}
	var rates []float64
	for unit := first; unit < first+min(blocks.Block(), most); unit++ {
		rates = append(rates, rate(unit))
	}
	reports, err := blocks.AdvanceBlock(ctx, first, rates)
	return reports, rates, err
}

// pull brings to the host what Tables returns, and with everything set what State
// does, if the trainer has it elsewhere.
func pull(t Trainer, everything bool) error {
	if blocks, ok := t.(trainer.Blocks); ok {
		return blocks.Pull(everything)
	}
	return nil
}
