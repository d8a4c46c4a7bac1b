package subword

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Statistics are the results of Standardize, one a feature: feature j of a word becomes (x - Mean[j]) * Scale[j].
type Statistics struct{ Mean, Scale []float32 }

func newStatistics(features int) *Statistics {
	return &Statistics{make([]float32, features), make([]float32, features)}
}

func (m *Statistics) apply(dst, features []float32) {
	for j, x := range features {
		dst[j] = (x - m.Mean[j]) * m.Scale[j]
	}
}

// leastVariance keeps a feature that hardly any word has from becoming huge.
const leastVariance = 1e-3

// Standardize adds to a graph the features of all words, (V, D), with mean 0 and variance 1 over the words. Batch
// normalization (Ioffe and Szegedy 2015) does this for some of the words; here the batch is the vocabulary, so mean and
// variance are exact, and serve for words that come later. Every run writes them to statistics. With fixed set, for
// batches smaller than the vocabulary, a run reads statistics only.
//
// Without it all words get nearly the same vector: a feature is a maximum of values that are never negative, so its mean
// outweighs its differences.
func Standardize(features *gorgonia.Node, statistics *Statistics, fixed bool, threads int) (*gorgonia.Node, error) {
	shape := features.Shape()
	if shape.Dims() != 2 || len(statistics.Mean) != shape[1] || len(statistics.Scale) != shape[1] {
		return nil, fmt.Errorf("standardization of features %v: statistics of %d", shape, len(statistics.Mean))
	}
	s := &standardization{rows: shape[0], d: shape[1], statistics: statistics, fixed: fixed, team: team.New(threads), result: newMatrix(shape[0], shape[1])}
	s.sums = make([]float64, 2*s.d*min(maxShards, (s.rows+blockRows-1)/blockRows))
	return operation.Apply("standardization", gorgonia.Nodes{features}, s.rows, s.d, s.forward, s.backward)
}

type standardization struct {
	rows, d    int // V, D
	statistics *Statistics
	fixed      bool
	team       *team.Team
	result     *tensor.Dense // (V, D)
	gradient   *tensor.Dense // (V, D); nil until backward is called
	sums       []float64     // two a feature for each block of the words
}

// means returns two means over all words for each feature. add sums them up, word by word. The blocks, and so the
// rounding, follow from the shape alone.
func (s *standardization) means(add func(first, second []float64, row int)) ([]float64, error) {
	d, size := s.d, 2*s.d
	blocks := len(s.sums) / size
	err := s.team.Do(blocks, func(_, i int) {
		sum := s.sums[i*size:][:size]
		clear(sum)
		for row := i * s.rows / blocks; row < (i+1)*s.rows/blocks; row++ {
			add(sum[:d], sum[d:], row)
		}
	})
	total := s.sums[:size]
	for i := 1; i < blocks; i++ {
		for j, x := range s.sums[i*size:][:size] {
			total[j] += x
		}
	}
	for j := range total {
		total[j] /= float64(s.rows)
	}
	return total, err
}

func (s *standardization) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	d, x, result := s.d, in[0].Float32s(), s.result.Float32s()
	if !s.fixed {
		if err := s.measure(x); err != nil {
			return nil, err
		}
	}
	err := eachBlock(s.team, s.rows, func(_, first, last int) {
		for at := first * d; at < last*d; at += d {
			s.statistics.apply(result[at:][:d], x[at:][:d])
		}
	})
	return s.result, err
}

// measure finds the statistics of features.
func (s *standardization) measure(x []float32) error {
	d := s.d
	means, err := s.means(func(sums, squares []float64, row int) {
		for j, v := range x[row*d:][:d] {
			v := float64(v)
			sums[j] += v
			squares[j] += v * v
		}
	})
	if err != nil {
		return err
	}
	for j, mean := range means[:d] {
		s.statistics.Mean[j] = float32(mean)
		s.statistics.Scale[j] = float32(1 / math.Sqrt(max(means[d+j]-mean*mean, 0)+leastVariance))
	}
	return nil
}

// backward: mean and variance depend on all words, so
//
//	dx = Scale * (g - mean of g - y * mean of g*y)
//
// with y the result. With fixed set, dx = Scale * g.
func (s *standardization) backward(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.gradient == nil {
		s.gradient = newMatrix(s.rows, s.d)
	}
	d, g, y, dx := s.d, gradient.Float32s(), s.result.Float32s(), s.gradient.Float32s()
	meanG, meanGY := make([]float32, d), make([]float32, d)
	if !s.fixed {
		means, err := s.means(func(sums, products []float64, row int) {
			of := y[row*d:][:d]
			for j, v := range g[row*d:][:d] {
				sums[j] += float64(v)
				products[j] += float64(v) * float64(of[j])
			}
		})
		if err != nil {
			return nil, err
		}
		for j := range d {
			meanG[j], meanGY[j] = float32(means[j]), float32(means[d+j])
		}
	}
	err := eachBlock(s.team, s.rows, func(_, first, last int) {
		for at := first * d; at < last*d; at += d {
			to, of, from := dx[at:][:d], y[at:][:d], g[at:][:d]
			for j, scale := range s.statistics.Scale {
				to[j] = scale * (from[j] - meanG[j] - of[j]*meanGY[j])
			}
		}
	})
	return []*tensor.Dense{s.gradient}, err
}
