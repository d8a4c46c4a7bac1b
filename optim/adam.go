package optim

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Adam is the method of Kingma and Ba (2015): two moments a value.
const Adam Method = "adam"

var adamDescriptor = Descriptor{
	Name: Adam, Help: "two moments a value",
	Adaptive: true, Shared: true, Kernels: true,
	create: func(c Options, rows, columns int) Optimizer {
		values := rows * columns
		return &adam{corrected: corrected{options: c}, columns: columns, first: c.floats(values), second: c.floats(values)}
	},
}

type adam struct {
	corrected
	columns       int
	first, second []float32 // m and v, (rows, columns)
}

func (a *adam) UpdateRow(row int, w, g []float32) {
	from, to := row*a.columns, (row+1)*a.columns
	simd.Adam(w, a.first[from:to], a.second[from:to], g, &a.step)
}

func (a *adam) UpdateMean(row, updates, _ int, w, g []float32) {
	var step simd.AdamStep
	a.ofUpdates(updates, &step)
	from, to := row*a.columns, (row+1)*a.columns
	simd.Adam(w, a.first[from:to], a.second[from:to], g, &step)
}

func (a *adam) State() []trainer.Tensor { return moments(a.first, a.second) }

// moments names the first and second moments for a checkpoint.
func moments(first, second []float32) []trainer.Tensor {
	return []trainer.Tensor{{Name: "first-moment", Data: first}, {Name: "second-moment", Data: second}}
}

// corrected is the begun step of a method that has Adam's bias correction.
type corrected struct {
	options     Options // has its defaults
	step        simd.AdamStep
	rate        float64
	corrections []simd.AdamCorrection // of update 1, 2, ... up to the step, or up to the last that is not none
}

// Begin starts a step. It adds the corrections up to that step, so that goroutines
// only read them.
func (c *corrected) Begin(step int, rate float64) {
	c.step = simd.NewAdamStep(c.options.Beta1, c.options.Beta2, c.options.Epsilon, c.options.WeightDecay, step, rate)
	c.rate = rate
	for t := len(c.corrections) + 1; t <= step; t++ {
		next := simd.NewAdamCorrection(c.options.Beta1, c.options.Beta2, t)
		if next == simd.NoAdamCorrection {
			break
		}
		c.corrections = append(c.corrections, next)
	}
}

// ofUpdates puts the numbers of the step for a row's update number updates into s. It
// does not return them: to copy numbers just written, the processor waits for all its
// earlier writes, those to other rows, too. That took longer than the update.
func (c *corrected) ofUpdates(updates int, s *simd.AdamStep) {
	correction := simd.NoAdamCorrection
	if updates <= len(c.corrections) {
		correction = c.corrections[updates-1]
	}
	*s = c.step
	s.Correct(correction, c.rate, c.options.Epsilon)
}

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
