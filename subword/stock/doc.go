// Package stock has encoders whose networks are a few lines of Gorgonia's own operations: a recurrent
// network (recurrent.go) and attention (attention.go). They are examples of how to write another, for
// vocabularies of thousands of words: Gorgonia's operations allocate their results anew in every step.
//
// network.go has what such encoders share: parameters, files, and vectors of any words.
package stock

import (
	"gorgonia.org/gorgonia"
)

// Kinds are the networks by their names, which files have.
var kinds = map[string]kind{
	Recurrent: {recurrentShapes, recurrent, held{3.8, 6}, held{2.5, 5}, held{.3, 0}},
	Attention: {attentionShapes, attention, held{5.5, 14}, held{5.5, 14}, held{.5, 0}},
}

// A kind is how a network is made.
type kind struct {
	shapes func(o Options, symbols int) []shape // of its parameters; that named symbols begins as embeddings
	rows   func(w *words) *gorgonia.Node        // (B, N)

	forRows, forGradient held // the gradient's beside the rows'
	free                 held // what is free again after a run, of each of them
}

// held is what Gorgonia holds at most for each place of a word, with results of a moment ago that are garbage: measured.
type held struct {
	states float64 // of H values
	values float64 // weights, and places in lists
}

// bytes is the memory for so many words and places, and states of so many values.
func (h held) bytes(words, places, hidden int) int64 {
	return int64(4 * float64(words*places) * (h.states*float64(hidden) + h.values))
}

// A shape is a parameter's name, rows and columns.
type shape struct {
	name          string
	rows, columns int
}

// The operations that networks here consist of. Gorgonia panics where shapes do not fit, which
// Network.Rows turns into an error.

func product(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Mul(a, b)) }

func add(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }

func times(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.HadamardProd(a, b)) }

func over(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.HadamardDiv(a, b)) }

func tanh(a *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Tanh(a)) }

func exp(a *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Exp(a)) }
