package optim

import (
	"math"

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

func (a *adam) Begin(step int, rate float64) { a.step = a.config.AdamStep(step, rate) }

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

// AdamStep returns the numbers of step number step, counted from 1, of Adam at a
// learning rate. The bias corrections of the moments are part of Scale and
// Epsilon. The configuration must have its defaults.
func (c Config) AdamStep(step int, rate float64) simd.AdamStep {
	correction1 := 1 - math.Pow(c.Beta1, float64(step))
	correction2 := math.Sqrt(1 - math.Pow(c.Beta2, float64(step)))
	return simd.AdamStep{
		Beta1: float32(c.Beta1), OneMinusBeta1: float32(1 - c.Beta1),
		Beta2: float32(c.Beta2), OneMinusBeta2: float32(1 - c.Beta2),
		Keep:    c.keep(rate),
		Scale:   float32(rate * correction2 / correction1),
		Epsilon: float32(c.Epsilon * correction2),
	}
}

// keep is the factor by which a step's weight decay multiplies the parameters.
func (c Config) keep(rate float64) float32 { return float32(1 - rate*c.WeightDecay) }
