package cuda

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A Method is an optimizer of package optim as the kernels have it. A new one is a line in the table below, and its struct and
// its name in include/methods.cuh.
type Method struct {
	Name    string // in package optim
	Kernels string // the struct in methods.cuh, which methods that compute alike share

	First, Second bool // values have first and second moments
	SecondOfRow   bool // a row has one second moment

	Corrected bool // Adam's bias correction changes Scale and Epsilon; otherwise they are the rate and epsilon
	Sums      bool // second moments are sums of squares, which do not decay
	Adaptive  bool // encoders may have it
}

var methods = []Method{
	{Name: "adam", Kernels: "adam", First: true, Second: true, Corrected: true, Adaptive: true},
	{Name: "adam-row", Kernels: "adamRow", First: true, SecondOfRow: true, Corrected: true, Adaptive: true},
	{Name: "rmsprop", Kernels: "scaled", Second: true, Adaptive: true},
	{Name: "adagrad", Kernels: "scaled", Second: true, Sums: true, Adaptive: true},
	{Name: "sgd", Kernels: "sgd"},
}

// Methods returns all methods.
func Methods() []Method { return append([]Method(nil), methods...) }

// FindMethod returns a method by its name in package optim.
func FindMethod(name string) (Method, error) {
	for _, m := range methods {
		if m.Name == name {
			return m, nil
		}
	}
	return Method{}, fmt.Errorf("optimizer %q is unknown to the CUDA kernels", name)
}

// StepNumbers is StepNumbers of methods.cuh: the numbers of one step of the optimizer.
type StepNumbers struct {
	Stream                     uint32 // lower 32 bits of the stream of negatives; of parts in CBOW the iteration
	Keep, Scale, Epsilon, Rate float32
}

// Decays is Decays of methods.cuh: the constants of moments.
type Decays struct{ Beta1, OneMinusBeta1, Beta2, OneMinusBeta2 float32 }

// An Optimizer is a method with its numbers: those of optim.Options, with defaults applied.
type Optimizer struct {
	Method
	Beta1, Beta2, Epsilon, WeightDecay float64
}

// Step returns the numbers of step number step, counted from 1, at a learning rate.
func (o Optimizer) Step(step int, rate float64) StepNumbers {
	s := simd.NewAdamStep(o.Beta1, o.Beta2, o.Epsilon, o.WeightDecay, step, rate)
	if !o.Corrected {
		s.Scale, s.Epsilon = float32(rate), float32(o.Epsilon)
	}
	return StepNumbers{Keep: s.Keep, Scale: s.Scale, Epsilon: s.Epsilon, Rate: float32(rate)}
}

// Decays returns the constants of moments, which are the same in every step.
func (o Optimizer) Decays() Decays {
	if o.Sums {
		return Decays{float32(o.Beta1), float32(1 - o.Beta1), 1, 1}
	}
	return Decays{float32(o.Beta1), float32(1 - o.Beta1), float32(o.Beta2), float32(1 - o.Beta2)}
}

// A Rule is Rule of methods.cuh: the constants of an optimizer whose numbers differ from row to row.
type Rule struct{ Decay, Epsilon, LogBeta1, LogBeta2 float32 }

// Rule returns the optimizer's.
func (o Optimizer) Rule() Rule {
	return Rule{float32(o.WeightDecay), float32(o.Epsilon), float32(math.Log(o.Beta1)), float32(math.Log(o.Beta2))}
}

// A Table is Table of methods.cuh: a table of float32 values, rows padded to whole quads, with the state of its optimizer.
// Addresses are in the device's memory.
type Table struct {
	Values, First, Second, SecondOfRow uint64
	Narrow                             uint64 // the values in float16, or 0
	Rows, Quads, Columns, _            uint32
	Decays
}
