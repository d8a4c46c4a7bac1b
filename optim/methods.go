package optim

import (
	"fmt"
	"slices"
	"strings"
)

// A Method names an update rule.
type Method string

// A Descriptor is all that the program knows about a method. Adding one is a
// file with its Descriptor and a line in the table below; methods that compute alike
// may share a file.
type Descriptor struct {
	Name Method
	Help string // a few words behind the name

	// Adaptive methods move every value by about the learning rate, whatever
	// the size of the gradient. So they share Adam's learning rates; the others
	// share those of SGD.
	Adaptive bool

	// RateFactor returns what Adam's learning rate is multiplied by in a run of so many
	// steps of an adaptive method, each of every row, or, 0, of minibatches, which
	// update the rows that they hold; nil: 1.
	RateFactor func(steps int) float64

	// Shared methods are fit for parameters that all words share, those of an
	// encoder, whose gradients have very different sizes.
	Shared bool

	// WholeRows says that an update needs all values of a row, so that ranks and GPUs cannot
	// have some columns each.
	WholeRows bool

	// Kernels says that kernels/cuda has the method.
	Kernels bool

	decay  float64                                      // default of Options.Beta2; 0: Adam's
	create func(c Options, rows, columns int) Optimizer // c is valid and has no zero values
}

// methods is the table of all methods, in the order of help.
var methods = []Descriptor{adamDescriptor, adamRowDescriptor, rmsPropDescriptor, adaGradDescriptor, sgdDescriptor}

// Methods returns all methods in the order of help.
func Methods() []Descriptor { return slices.Clone(methods) }

// OfColumns returns the names of the methods that are not WholeRows, for messages.
func OfColumns() string {
	var names []string
	for _, d := range methods {
		if !d.WholeRows {
			names = append(names, string(d.Name))
		}
	}
	return strings.Join(names, ", ")
}

// Find returns the descriptor of a method. The error of an unknown one, whose descriptor is empty, lists
// them all.
func Find(name Method) (Descriptor, error) {
	var known []string
	for _, d := range methods {
		if d.Name == name {
			return d, nil
		}
		known = append(known, string(d.Name))
	}
	return Descriptor{}, fmt.Errorf("optimizer %q is unknown; it is one of %s", name, strings.Join(known, ", "))
}
