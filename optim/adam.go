package optim

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
)

// Adam is the method of Kingma and Ba (2015): two moments a value.
const Adam Method = "adam"

var adamDescriptor = Descriptor{
	Name: Adam, Help: "two moments a value",
	Adaptive: true, Shared: true, Kernels: true,
	Bytes: func(rows, columns int) int64 { return 8 * int64(rows) * int64(columns) },
	create: func(c Config, rows, columns int) Optimizer {
		values := rows * columns
		return &adam{config: c, columns: columns, first: memory.Floats(values), second: memory.Floats(values)}
	},
}

type adam struct {
	config        Config
	columns       int
	first, second []float32 // m and v, (rows, columns)
	step          simd.AdamStep
}

func (a *adam) Begin(step int, rate float64) { a.step = a.config.adamStep(step, rate) }

func (a *adam) UpdateRow(row int, w, g []float32) {
	from, to := row*a.columns, (row+1)*a.columns
	simd.Adam(w, a.first[from:to], a.second[from:to], g, &a.step)
}

// UpdateCombination needs no memory for the gradient.
func (a *adam) UpdateCombination(row int, w, coefficients, table []float32, rows []uint32, scratch []float32) {
	from, to := row*a.columns, (row+1)*a.columns
	simd.CombineAdam(w, a.first[from:to], a.second[from:to], coefficients, table, rows, &a.step, scratch)
}

func (a *adam) State() []trainer.Tensor { return moments(a.first, a.second) }

// moments names the first and second moments for a checkpoint.
func moments(first, second []float32) []trainer.Tensor {
	return []trainer.Tensor{{Name: "first-moment", Data: first}, {Name: "second-moment", Data: second}}
}

// adamStep returns the numbers of step number step, counted from 1, at a learning
// rate. The configuration must have its defaults.
func (c Config) adamStep(step int, rate float64) simd.AdamStep {
	return simd.NewAdamStep(c.Beta1, c.Beta2, c.Epsilon, c.WeightDecay, step, rate)
}

// keep is the factor by which a step's weight decay multiplies the parameters.
func (c Config) keep(rate float64) float32 { return float32(1 - rate*c.WeightDecay) }
