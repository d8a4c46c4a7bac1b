package graph

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// stockStep is one of the two steps of W2V-CL in stock operations. Each slot of samples is a
// place for a pair, and so is each of a row's own negatives. A place counts as a share of its row's
// mean in the objective, and whole in the loss.
type stockStep struct {
	pairs        *stockPairs
	left, frozen *table
	sampler      *step.Sampler
	own          int       // negatives of a row
	kept         []float32 // (V, N), gets the gradients in place of the optimizer of left; may be nil
}

// newStockStep makes the step for at most so many samples.
func newStockStep(left, frozen *table, sampler *step.Sampler, samples int) (*stockStep, error) {
	s := &stockStep{left: left, frozen: frozen, sampler: sampler, own: sampler.Negatives}
	if sampler.Shared > 0 {
		s.own = 0
	}
	var err error
	s.pairs, err = newStockPairs(samples+left.rows*s.own, left.dim, left.dense, sampler.Shared, sampler.Bias)
	return s, err
}

// first returns the first place of a row: its samples, then its own negatives.
func (s *stockStep) first(row int) int { return int(s.sampler.Slots[row]) + row*s.own }

func (s *stockStep) optimizers() []parameterOptimizer { return s.left.optimizers() }

func (s *stockStep) compiled() *machine { return s.pairs.machine }

func (s *stockStep) run() (float64, error) {
	s.gather()
	loss, gradients, err := s.pairs.run()
	if err != nil {
		return 0, err
	}
	n := s.left.dim
	g := make([]float32, n)
	for i := range s.sampler.Len() {
		row, samples := s.sampler.Row(i), len(s.sampler.Share(i))
		if samples == 0 {
			continue
		}
		clear(g)
		for place := s.first(i); place < s.first(i+1); place++ {
			add(g, gradients[0][place*n:])
		}
		if s.sampler.Shared > 0 {
			add(g, gradients[2][row*n:])
		}
		if s.kept != nil {
			copy(s.kept[row*n:], g)
			continue
		}
		s.left.optimizer.UpdateMean(row, s.sampler.Updates(row), samples, s.left.row(row), g)
	}
	return loss, nil
}

// add adds the first values of x to y.
func add(y, x []float32) {
	for j := range y {
		y[j] += x[j]
	}
}

// gather fills the places for the sampler's step.
func (s *stockStep) gather() {
	s.pairs.clear()
	if s.sampler.Shared > 0 {
		s.gatherShared()
	}
	own := s.sampler.DrawOwn(0, s.sampler.Len(), nil)
	for i := range s.sampler.Len() {
		left := s.left.row(s.sampler.Row(i))
		targets, samples := s.sampler.AppendTargets(nil, i, 0, own)
		for k, target := range targets {
			place, row := s.first(i)+k, s.frozen.row(int(target))
			if k < samples {
				s.pairs.set(place, left, row, -1, 1/float32(samples), 1)
			} else {
				s.pairs.set(place, left, row, 1, 1, float32(samples))
			}
		}
	}
}

// gatherShared fills the negatives of all rows. A word without contexts trains on nothing.
func (s *stockStep) gatherShared() {
	h := s.sampler.Shared
	to := s.pairs.negatives.Float32s()
	for k, row := range s.sampler.DrawShared() {
		for j, x := range s.frozen.row(int(row)) {
			to[j*h+k] = x
		}
	}
	meets, times := s.pairs.meets.Float32s(), s.pairs.times.Float32s()
	clear(meets)
	clear(times)
	for i := range s.sampler.Len() {
		share, weight := s.sampler.Share(i), s.sampler.Weight()
		if len(share) == 0 || share[0] == wordcontext.NoContext {
			continue
		}
		row := s.sampler.Row(i)
		for k := row * h; k < (row+1)*h; k++ {
			meets[k], times[k] = float32(weight), float32(float64(len(share))*weight)
		}
	}
}
