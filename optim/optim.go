// Package optim updates parameter tables in place, row by row. All methods have decoupled weight decay.
//
// Start with Options and Optimizer. Each method is in a file (adam.go has both Adams, sgd.go;
// scaled.go has AdaGrad and RMSProp) and an entry in methods.go: its name, its
// line of help, where it can be used, and its constructor. No other code that
// runs on the CPU lists the methods.
package optim

import (
	"cmp"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// Options say how parameters are updated. The zero value of a number means its
// default; Method has none and must be set.
type Options struct {
	Method  Method
	Beta1   float64 // decay of the first moment; default 0.9
	Beta2   float64 // decay of the second moment; default 0.999, of RMSProp 0.99
	Epsilon float64 // added to the root of the second moment; default 1e-8

	// WeightDecay is decoupled from the gradient (Loshchilov and Hutter 2019):
	// each step multiplies the parameters by 1 - rate*WeightDecay.
	WeightDecay float64

	Account *trainer.Account // gives the moments their memory; may be nil
}

// Validate reports the first impossible value.
func (c Options) Validate() error {
	c = c.WithDefaults()
	if _, err := Find(c.Method); err != nil {
		return err
	}
	switch {
	case !(c.Beta1 >= 0 && c.Beta1 < 1):
		return fmt.Errorf("beta1 is %v; it must be at least 0 and below 1", c.Beta1)
	case !(c.Beta2 >= 0 && c.Beta2 < 1):
		return fmt.Errorf("beta2 is %v; it must be at least 0 and below 1", c.Beta2)
	case !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0):
		return fmt.Errorf("epsilon is %v; it must be above 0", c.Epsilon)
	case !(c.WeightDecay >= 0) || math.IsInf(c.WeightDecay, 0):
		return fmt.Errorf("weight decay is %v; it must be 0 or more", c.WeightDecay)
	}
	return nil
}

// WithDefaults returns the options with their zero values replaced.
func (c Options) WithDefaults() Options {
	c.Beta1 = cmp.Or(c.Beta1, 0.9)
	if c.Beta2 == 0 {
		d, _ := Find(c.Method) // Validate refuses one that is unknown
		c.Beta2 = cmp.Or(d.decay, 0.999)
	}
	c.Epsilon = cmp.Or(c.Epsilon, 1e-8)
	return c
}

// Bytes returns the memory of the optimizer's state for a table of rows x
// columns float32 values; 0 if the method is unknown.
func (c Options) Bytes(rows, columns int) int64 {
	return trainer.Dry(func(a *trainer.Account) {
		c.Account = a
		_, _ = New(c, rows, columns)
	}).Sum(trainer.ForMoments)
}

// floats is the memory of n moments.
func (c Options) floats(n int) []float32 { return c.Account.Floats(trainer.ForMoments, n) }

// An Optimizer updates one table of rows x columns float32 values: Begin once a
// step, then UpdateRow or UpdateMean for every row, from any number of goroutines, while
// the row is still in the cache.
type Optimizer interface {
	// Begin starts an update of the table, number step, counted from 1, with the given learning
	// rate: in an iteration or a minibatch. The number is the caller's, so that the optimizer has
	// no counter to save. Rows that are not updated then keep their values and moments: they do not
	// decay either.
	Begin(step int, rate float64)

	// UpdateRow updates row number row, whose values are w, by the gradient g,
	// both of the table's number of columns. Different rows may be updated at
	// the same time.
	UpdateRow(row int, w, g []float32)

	// UpdateMean is UpdateRow for rows that differ in how often they are trained and
	// on how many samples. updates counts the row's updates,
	// this one included, from 1 to the step's number; Adam's bias correction uses it
	// in place of the step's number. g is the mean of the gradients of samples
	// samples, at least 1; a method that is not adaptive multiplies the learning
	// rate by the root of samples. With the step's number and 1 the bits are those
	// of UpdateRow.
	UpdateMean(row, updates, samples int, w, g []float32)

	// State returns the moments, live, named for a checkpoint.
	State() []trainer.Tensor
}

// New returns an optimizer with zero moments, if the account has the memory.
func New(c Options, rows, columns int) (Optimizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if rows < 1 || columns < 1 {
		return nil, fmt.Errorf("optimizer for a table of %d x %d values: both must be at least 1", rows, columns)
	}
	d, err := Find(c.Method)
	if err != nil {
		return nil, err
	}
	return d.create(c.WithDefaults(), rows, columns), nil
}
