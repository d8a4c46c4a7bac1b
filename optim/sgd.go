package optim

import (
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
)

// SGD is plain gradient descent, without state.
const SGD Method = "sgd"

var sgdDescriptor = Descriptor{
	Name: SGD, Help: "plain gradient descent", Kernels: true,
	Bytes:  func(int, int) int64 { return 0 },
	create: func(c Config, _, _ int) Optimizer { return &sgd{config: c} },
}

type sgd struct {
	config     Config
	keep, rate float32 // of the step begun last
}

func (s *sgd) Begin(_ int, rate float64) { s.keep, s.rate = s.config.keep(rate), float32(rate) }

func (s *sgd) UpdateRow(_ int, w, g []float32) { simd.SGD(w, g, s.keep, s.rate) }

func (s *sgd) UpdateCombination(row int, w, coefficients, table []float32, rows []uint32, scratch []float32) {
	simd.Combine(scratch, coefficients, table, rows)
	s.UpdateRow(row, w, scratch)
}

func (s *sgd) State() []trainer.Tensor { return nil }
