package optim

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// SGD is plain gradient descent, without state.
const SGD Method = "sgd"

var sgdDescriptor = Descriptor{
	Name: SGD, Help: "plain gradient descent", Kernels: true,
	create: func(c Options, _, _ int) Optimizer { return &sgd{options: c} },
}

type sgd struct {
	options Options
	rate    float64 // of the step begun last
}

func (s *sgd) Begin(_ int, rate float64) { s.rate = rate }

func (s *sgd) UpdateRow(_ int, w, g []float32) { s.update(w, g, s.rate) }

// UpdateMean goes the root of the samples times as far: a sum of independent
// samples, divided by its standard deviation.
func (s *sgd) UpdateMean(_, _, samples int, w, g []float32) {
	s.update(w, g, s.rate*math.Sqrt(float64(samples)))
}

func (s *sgd) update(w, g []float32, rate float64) {
	simd.SGD(w, g, float32(1-rate*s.options.WeightDecay), float32(rate))
}

func (s *sgd) State() []trainer.Tensor { return nil }
