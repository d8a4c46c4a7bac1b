package tempered

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Sampler says which rows of the frozen table each row meets in a step: samples of
// M as positives, and fresh negatives.
type Sampler struct {
	Noise     *corpus.Alias
	Seed      uint64
	Negatives int      // K
	Shared    int      // H; 0: every row has negatives of its own
	Slots     []uint32 // (V+1), M's

	Iteration, Step int               // the step, 0 or 1, of an iteration of all epochs
	Samples         []uint32          // (S), M's, of the step
	Updates         func(row int) int // of each row, with this step

	drawn []uint32 // (H)
}

// Share returns the samples of a row in this step, none if the row is left alone.
func (s *Sampler) Share(row int) []uint32 {
	share := s.Samples[s.Slots[row]:s.Slots[row+1]]
	for len(share) > 0 && share[len(share)-1] == wordcontext.NoSample {
		share = share[:len(share)-1]
	}
	return share
}

// Width is how many negatives a row meets. Each of them has the weight Weight.
func (s *Sampler) Width() int {
	if s.Shared > 0 {
		return s.Shared
	}
	return s.Negatives
}

// Weight is the weight of a negative, K/Width.
func (s *Sampler) Weight() float64 { return float64(s.Negatives) / float64(s.Width()) }

// DrawShared draws the negatives of all rows, spread over the words; see
// [corpus.Alias.DrawSpread]. They are good until the next call.
func (s *Sampler) DrawShared() []uint32 {
	s.drawn = memory.Resize(s.drawn, s.Shared)
	s.Noise.DrawSpread(s.drawn, s.Seed, s.Iteration, s.Step)
	return s.drawn
}

// Stream is the step's stream of the rows' own negatives.
func (s *Sampler) Stream() corpus.Stream {
	return corpus.StreamNegatives.Sub(uint32(2*s.Iteration + s.Step))
}

// DrawOwn draws the K negatives of each row from first up to last, row by row:
// negative k of row i is number iK+k of the step's stream. dst is memory that it may
// use.
func (s *Sampler) DrawOwn(first, last int, dst []uint32) []uint32 {
	number, count := first*s.Negatives, (last-first)*s.Negatives
	skip := number % 4 // Philox gives four numbers at once
	dst = memory.Resize(dst, skip+count)
	simd.Philox(dst, s.Seed, uint64(s.Stream()), uint64(number/4))
	for i, bits := range dst[skip:] {
		dst[i] = s.Noise.Draw(bits)
	}
	return dst[:count]
}
