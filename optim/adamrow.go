package optim

import (
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
)

// AdamRow is Adam with one second moment a row, that of the mean square of the
// row's gradient: little more than half of Adam's memory.
const AdamRow Method = "adam-row"

var adamRowDescriptor = Descriptor{
	Name: AdamRow, Help: "one second moment per word",
	Adaptive: true, Shared: true, Kernels: true,
	Bytes: func(rows, columns int) int64 { return 4 * (int64(rows)*int64(columns) + int64(rows)) },
	create: func(c Config, rows, columns int) Optimizer {
		return &adamRow{config: c, columns: columns, first: memory.Floats(rows * columns), second: make([]float32, rows)}
	},
}

type adamRow struct {
	config  Config
	columns int
	first   []float32 // m, (rows, columns)
	second  []float32 // v, (rows)
	step    simd.AdamStep
}

func (a *adamRow) Begin(step int, rate float64) { a.step = a.config.adamStep(step, rate) }

func (a *adamRow) UpdateRow(row int, w, g []float32) {
	from, to := row*a.columns, (row+1)*a.columns
	s := &a.step
	meanSquare := simd.Dot(g, g) / float32(a.columns)
	v := s.Beta2*a.second[row] + s.OneMinusBeta2*meanSquare
	a.second[row] = v
	scale := s.Scale / (float32(math.Sqrt(float64(v))) + s.Epsilon)
	simd.Momentum(w, a.first[from:to], g, s.Beta1, s.Keep, scale)
}

func (a *adamRow) UpdateCombination(row int, w, coefficients, table []float32, rows []uint32, scratch []float32) {
	simd.Combine(scratch, coefficients, table, rows)
	a.UpdateRow(row, w, scratch)
}

func (a *adamRow) State() []trainer.Tensor { return moments(a.first, a.second) }
