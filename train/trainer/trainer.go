// Package trainer is the contract between the run loop and the modes.
//
// Start at [Trainer], which every mode implements. The optional abilities are in
// abilities.go: each is an interface, beside a function that uses it if a trainer
// has it. randomize.go fills the word table for the start of training.
package trainer

import "context"

// A Trainer trains one model in units whose number is fixed in advance:
// iterations over columns of M, or stretches of the text. The run loop owns the
// order of the units and the learning rate.
type Trainer interface {
	// Units is the number of units of the whole run.
	Units() int

	// Advance trains unit number unit, counted from 0, at a learning rate.
	// The report's loss is summed over the unit's pairs. After an error the
	// tables are of no use.
	Advance(ctx context.Context, unit int, rate float64) (Report, error)

	// Tables returns the word table W and the context table C, each (V, N)
	// in row-major order. They are live: the next Advance changes them.
	Tables() (words, contexts []float32)

	// State returns everything that training changes, live, in the same
	// order every time: copying saved values into it restores a trainer.
	State() []Tensor

	// Reset goes back to the start of training, as if nothing had been
	// trained: a plan measures units on the trainer that will train.
	Reset()

	// Close releases the trainer's memory.
	Close() error
}

// A Report is the result of one unit of training. Counts are floating-point
// because a unit may stand for a fraction of a word.
type Report struct {
	Loss  float64 // summed over the pairs, natural logarithm
	Pairs float64 // pairs the loss was summed over; a pair is one dot product
	Words float64 // train words the unit stands for; 0 if the trainer cannot tell
}

// A Tensor is a named part of a trainer's state. Data is live: writing to it
// changes the trainer.
type Tensor struct {
	Name string
	Data []float32
}
