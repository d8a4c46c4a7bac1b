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
	Recurrent: {recurrentShapes, recurrent, 6, 4},
	Attention: {attentionShapes, attention, 6, 12},
}

// A kind is how a network is made.
type kind struct {
	shapes func(o Options, symbols int) []shape // of its parameters; that named symbols begins as embeddings
	rows   func(w *words) *gorgonia.Node        // (B, N)

	// The matrices of states, (V, H), that Gorgonia holds for each place of a word, and those that the gradient adds: measured.
	matrices, ofGradient int64
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
