package optim

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// AdamRow is Adam with one second moment a row, that of the mean square of the
// row's gradient: little more than half of Adam's memory.
const AdamRow Method = "adam-row"

var adamRowDescriptor = Descriptor{
	Name: AdamRow, Help: "one second moment per word",
	Adaptive: true, Shared: true, WholeRows: true, Kernels: true,
	create: func(c Options, rows, columns int) Optimizer {
		return &adamRow{corrected: corrected{options: c}, columns: columns, first: c.floats(rows * columns), second: c.floats(rows)}
	},
}

type adamRow struct {
	corrected
	columns int
	first   []float32 // m, (rows, columns)
	second  []float32 // v, (rows)
}

func (a *adamRow) UpdateRow(row int, w, g []float32) { a.update(row, w, g, &a.step) }

func (a *adamRow) UpdateMean(row, updates, _ int, w, g []float32) {
	var step simd.AdamStep
	a.ofUpdates(updates, &step)
	a.update(row, w, g, &step)
}

func (a *adamRow) update(row int, w, g []float32, s *simd.AdamStep) {
	from, to := row*a.columns, (row+1)*a.columns
	meanSquare := simd.Dot(g, g) / float32(a.columns)
	v := s.Beta2*a.second[row] + s.OneMinusBeta2*meanSquare
	a.second[row] = v
	scale := s.Scale / (float32(math.Sqrt(float64(v))) + s.Epsilon)
	simd.Momentum(w, a.first[from:to], g, s.Beta1, s.Keep, scale)
}

func (a *adamRow) State() []trainer.Tensor { return moments(a.first, a.second) }
