package device

import (
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
)

// An UnsupportedError is the error of options that the kernels cannot
// train with.
type UnsupportedError struct {
	Setting string // its name, such as negative
	Value   any    // its value
	Reason  string // a sentence without its end
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s %v: %s", e.Setting, e.Value, e.Reason)
}

func unsupported(setting string, value any, format string, args ...any) error {
	return &UnsupportedError{setting, value, fmt.Sprintf(format, args...)}
}

// CheckCL returns why the kernels cannot train W2V-CL with its options, an
// UnsupportedError, or nil.
func CheckCL(c graph.Options, p Precision) error {
	if err := checkShared(c.Dim, p); err != nil {
		return err
	}
	if p == HalfTables {
		return errSentences(p)
	}
	o, err := optim.Find(c.Optimizer.Method)
	if err != nil {
		return err
	}
	if !o.Kernels {
		return unsupported("optimizer", o.Name, "GPUs have no kernels for it")
	}
	if c.Encoder == nil && c.Composition == nil {
		return nil
	}
	if !o.Shared {
		return unsupported("optimizer", o.Name, "parameters that all words share have gradients of very different sizes")
	}
	if c.Composition != nil {
		return CheckEncoder(nil, p)
	}
	cnn, err := subword.OptionsOf(c.Encoder)
	if err != nil {
		return err
	}
	return CheckEncoder(cnn, p)
}

// CheckEncoder returns why the kernels cannot train an encoder, an UnsupportedError, or
// nil: a CNN of the given shape, or n-grams if there is none.
func CheckEncoder(cnn *subword.NetworkOptions, p Precision) error {
	if p.Rounds() {
		return unsupported("precision", p, "encoders have tables of %s only", Float32)
	}
	if cnn == nil {
		return nil
	}
	switch symbols := cnn.Spelling.Limit; {
	case symbols > MaxCNNSymbols:
		return unsupported("max-chars", symbols, "on GPUs words have at most %d symbols, the two marks among them", MaxCNNSymbols)
	case len(cnn.Widths) > MaxCNNWidths:
		return unsupported("widths", cnn.Widths, "GPUs take at most %d widths", MaxCNNWidths)
	}
	return nil
}

// errSentences is the error of a precision that no other modes have.
func errSentences(p Precision) error {
	return unsupported("precision", p, "only modes %s and %s have it", sequential.FullW2V, sequential.PWord2Vec)
}

// checkShared checks the limits of all kernels.
func checkShared(dim int, p Precision) error {
	if dim > MaxDim {
		return unsupported("dim", dim, "on GPUs vectors have at most %d dimensions", MaxDim)
	}
	if !slices.Contains([]Precision{"", Float32, Half, HalfTables}, p) {
		return unsupported("precision", p, "GPUs have %s, %s and %s", Float32, Half, HalfTables)
	}
	return nil
}
