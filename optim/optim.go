// Package optim updates parameter tables in place: Adam, Adam with one second
// moment a row, and SGD, all with decoupled weight decay, and the learning-rate
// schedule.
//
// Start with Config and Optimizer. An Optimizer serves two callers. To
// Gorgonia it is a gorgonia.Solver that updates a whole table from its
// gradient. To the fused graph it is a row updater: Begin once a step, then
// UpdateRow or UpdateCombination for every row, from any number of goroutines,
// while the row is still in the cache. All give the same bits.
package optim

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Method names an update rule.
type Method string

// The update rules. Memory is what a parameter needs beside itself.
const (
	Adam    Method = "adam"     // Kingma and Ba 2015: two moments a value
	AdamRow Method = "adam-row" // Adam with one second moment a row: a value and a bit
	SGD     Method = "sgd"      // plain gradient descent: nothing
)

// Config says how parameters are updated. The zero value of a number means its
// default; Method has none and must be set.
type Config struct {
	Method  Method
	Beta1   float64 // decay of the first moment; default 0.9
	Beta2   float64 // decay of the second moment; default 0.999
	Epsilon float64 // added to the root of the second moment; default 1e-8

	// WeightDecay is decoupled from the gradient (Loshchilov and Hutter 2019):
	// each step multiplies the parameters by 1 - rate*WeightDecay.
	WeightDecay float64
}

// Validate reports the first impossible value.
func (c Config) Validate() error {
	c = c.WithDefaults()
	switch {
	case c.Method != Adam && c.Method != AdamRow && c.Method != SGD:
		return fmt.Errorf("optimizer %q is unknown; it is one of %s, %s, %s", c.Method, Adam, AdamRow, SGD)
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

// WithDefaults returns the configuration with its zero values replaced.
func (c Config) WithDefaults() Config {
	if c.Beta1 == 0 {
		c.Beta1 = 0.9
	}
	if c.Beta2 == 0 {
		c.Beta2 = 0.999
	}
	if c.Epsilon == 0 {
		c.Epsilon = 1e-8
	}
	return c
}

// Bytes returns the memory of the optimizer's state for a table of rows x
// columns float32 values.
func (c Config) Bytes(rows, columns int) int64 {
	values := int64(rows) * int64(columns)
	switch c.Method {
	case Adam:
		return 8 * values
	case AdamRow:
		return 4 * (values + int64(rows))
	}
	return 0
}

// An Optimizer updates one table of rows x columns float32 values.
type Optimizer struct {
	config        Config
	rows, columns int
	first         []float32 // m, rows x columns; nil for SGD
	second        []float32 // v, rows x columns (Adam) or rows (AdamRow)

	step, rate float64 // of the step begun last
	adam       simd.AdamStep
}

// New returns an optimizer whose moments are zero.
func New(c Config, rows, columns int) (*Optimizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if rows < 1 || columns < 1 {
		return nil, fmt.Errorf("optimizer for a table of %d x %d values: both must be at least 1", rows, columns)
	}
	o := &Optimizer{config: c.WithDefaults(), rows: rows, columns: columns}
	switch c.Method {
	case Adam:
		o.first, o.second = memory.Floats(rows*columns), memory.Floats(rows*columns)
	case AdamRow:
		o.first, o.second = memory.Floats(rows*columns), make([]float32, rows)
	}
	return o, nil
}

// Begin starts step number step, counted from 1, with the given learning rate.
// The number is the caller's, so that the optimizer has no counter to save:
// Adam's bias corrections follow from it.
func (o *Optimizer) Begin(step int, rate float64) {
	c := o.config
	o.step, o.rate = float64(step), rate
	o.adam = simd.NewAdamStep(c.Beta1, c.Beta2, c.Epsilon, c.WeightDecay, step, rate)
}

// UpdateRow updates row number row, whose values are w, by the gradient g,
// both of the table's number of columns. Different rows may be updated at the
// same time.
func (o *Optimizer) UpdateRow(row int, w, g []float32) {
	from, to := row*o.columns, (row+1)*o.columns
	switch o.config.Method {
	case Adam:
		simd.Adam(w, o.first[from:to], o.second[from:to], g, &o.adam)
	case AdamRow:
		a := &o.adam
		meanSquare := simd.Dot(g, g) / float32(o.columns)
		v := a.Beta2*o.second[row] + a.OneMinusBeta2*meanSquare
		o.second[row] = v
		scale := a.Scale / (float32(math.Sqrt(float64(v))) + a.Epsilon)
		simd.Momentum(w, o.first[from:to], g, a.Beta1, a.Keep, scale)
	case SGD:
		simd.SGD(w, g, o.adam.Keep, float32(o.rate))
	}
}

// UpdateCombination is UpdateRow with the gradient given as a linear combination
// of rows of a table with as many columns:
//
//	g = sum over k of coefficients[k] * table[rows[k]]
//
// Adam needs no memory for g then. scratch, of the number of columns, may be
// overwritten.
func (o *Optimizer) UpdateCombination(row int, w, coefficients, table []float32, rows []uint32, scratch []float32) {
	if o.config.Method == Adam {
		from, to := row*o.columns, (row+1)*o.columns
		simd.CombineAdam(w, o.first[from:to], o.second[from:to], coefficients, table, rows, &o.adam, scratch)
		return
	}
	simd.Combine(scratch, coefficients, table, rows)
	o.UpdateRow(row, w, scratch)
}

// Step is gorgonia.Solver: it updates the one parameter of model in place by
// its gradient, as the next step at the learning rate of the last Begin.
func (o *Optimizer) Step(model []gorgonia.ValueGrad) error {
	if len(model) != 1 {
		return fmt.Errorf("optimizer of one table was given %d parameters", len(model))
	}
	gradient, err := model[0].Grad()
	if err != nil {
		return fmt.Errorf("optimizer: %w", err)
	}
	w, err := o.values("parameter", model[0].Value())
	if err != nil {
		return err
	}
	g, err := o.values("gradient", gradient)
	if err != nil {
		return err
	}
	o.Begin(int(o.step)+1, o.rate)
	for row := range o.rows {
		from, to := row*o.columns, (row+1)*o.columns
		o.UpdateRow(row, w[from:to], g[from:to])
	}
	return nil
}

func (o *Optimizer) values(what string, v gorgonia.Value) ([]float32, error) {
	dense, ok := v.(*tensor.Dense)
	if !ok || dense.Dtype() != tensor.Float32 || dense.Size() != o.rows*o.columns {
		return nil, fmt.Errorf("optimizer of %d x %d float32 values: the %s is %v", o.rows, o.columns, what, v)
	}
	return dense.Float32s(), nil
}

// State returns the moments, live, named for a checkpoint.
func (o *Optimizer) State() []trainer.Tensor {
	var state []trainer.Tensor
	if o.first != nil {
		state = append(state, trainer.Tensor{Name: "first-moment", Data: o.first})
	}
	if o.second != nil {
		state = append(state, trainer.Tensor{Name: "second-moment", Data: o.second})
	}
	return state
}

// A Schedule is a learning rate that goes in a straight line from Start, at
// the first unit of training, to End, after the last.
type Schedule struct{ Start, End float64 }

// Rate returns the learning rate of unit number unit, of units in all.
func (s Schedule) Rate(unit, units int) float64 {
	if units < 1 {
		return s.Start
	}
	return s.Start + (s.End-s.Start)*float64(unit)/float64(units)
}
