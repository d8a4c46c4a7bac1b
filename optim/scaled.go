package optim

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// AdaGrad (Duchi, Hazan and Singer 2011) divides a gradient by the root of the sum of
// all its squares so far, each value by its own. So its steps become shorter, soonest
// where gradients are large and frequent.
const AdaGrad Method = "adagrad"

// RMSProp (Tieleman and Hinton 2012) divides by the root of a decaying mean of the
// squares: Adam without its first moment and its bias correction.
const RMSProp Method = "rmsprop"

// The state of both is one value for each of the table's.
var adaGradDescriptor = Descriptor{
	Name: AdaGrad, Help: "by the sum of squares so far",
	Adaptive: true, Shared: true, Kernels: true,
	// A sum over t steps makes a step shorter by √t. With a rate that falls to zero in a
	// line, 3/8 of √t makes the way of all steps as long as Adam's: 1/2 against the
	// integral of (1-x)/√x, which is 4/3. Half of that was best on a small text.
	RateFactor: func(steps int) float64 {
		if steps == 0 {
			return 20
		}
		return 0.1875 * math.Sqrt(float64(steps))
	},
	create: func(c Options, rows, columns int) Optimizer {
		return newScaled(c, 1, 1, rows, columns)
	},
}

var rmsPropDescriptor = Descriptor{
	Name: RMSProp, Help: "one moment a value, of squares",
	Adaptive: true, Shared: true, Kernels: true,
	decay: 0.99, // as in Chainer and PyTorch
	// Found on a small text.
	RateFactor: func(steps int) float64 {
		if steps == 0 {
			return 2
		}
		return 0.5
	},
	create: func(c Options, rows, columns int) Optimizer {
		return newScaled(c, c.Beta2, 1-c.Beta2, rows, columns)
	},
}

// scaled is both.
type scaled struct {
	options      Options
	decay, fresh float64
	columns      int
	step         simd.ScaledStep
	squares      []float32 // (rows, columns)
}

func newScaled(c Options, decay, share float64, rows, columns int) *scaled {
	return &scaled{options: c, decay: decay, fresh: share, columns: columns, squares: c.floats(rows * columns)}
}

func (s *scaled) Begin(_ int, rate float64) {
	s.step = simd.ScaledStep{
		Decay: float32(s.decay), Fresh: float32(s.fresh), Keep: float32(1 - rate*s.options.WeightDecay),
		Rate: float32(rate), Epsilon: float32(s.options.Epsilon),
	}
}

func (s *scaled) UpdateRow(row int, w, g []float32) {
	simd.Scaled(w, s.squares[row*s.columns:][:s.columns], g, &s.step)
}

// UpdateMean is UpdateRow: there is no correction for few updates.
func (s *scaled) UpdateMean(row, _, _ int, w, g []float32) { s.UpdateRow(row, w, g) }

func (s *scaled) State() []trainer.Tensor {
	return []trainer.Tensor{{Name: "second-moment", Data: s.squares}}
}
