package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SumEach adds to a graph the sums of as many rows in a row, (V, D), of features (each V, D).
func SumEach(features *gorgonia.Node, each, threads int) (*gorgonia.Node, error) {
	shape := features.Shape()
	if shape.Dims() != 2 || each < 1 || shape[0]%each != 0 {
		return nil, fmt.Errorf("sums of %d rows each of features %v", each, shape)
	}
	s := newSumEach(shape[0]/each, shape[1], each, team.New(threads))
	return operation.Apply("sum over lengths", gorgonia.Nodes{features}, s.rows, s.d, s.forward, s.backward)
}

type sumEach struct {
	rows, d, each int // V, D
	team          *team.Team
	result        *tensor.Dense // (V, D)
	gradient      *tensor.Dense // (each V, D); nil until backward is called
}

func newSumEach(rows, d, each int, t *team.Team) *sumEach {
	return &sumEach{rows: rows, d: d, each: each, team: t, result: newMatrix(rows, d)}
}

func (s *sumEach) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	d, from, to := s.d, in[0].Float32s(), s.result.Float32s()
	return s.result, eachBlock(s.team, s.rows, func(_, first, last int) {
		for i := first; i < last; i++ {
			out := to[i*d:][:d]
			copy(out, from[i*s.each*d:][:d])
			for k := 1; k < s.each; k++ {
				simd.SGD(out, from[(i*s.each+k)*d:][:d], 1, -1)
			}
		}
	})
}

// backward: each row gets the gradient of its sum.
func (s *sumEach) backward(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.gradient == nil {
		s.gradient = newMatrix(s.rows*s.each, s.d)
	}
	d, g, to := s.d, gradient.Float32s(), s.gradient.Float32s()
	err := eachBlock(s.team, s.rows, func(_, first, last int) {
		for i := first * s.each; i < last*s.each; i++ {
			copy(to[i*d:][:d], g[i/s.each*d:][:d])
		}
	})
	return []*tensor.Dense{s.gradient}, err
}
