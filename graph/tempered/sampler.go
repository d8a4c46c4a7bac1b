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

	// Of the step.
	Stream  corpus.Stream     // of the negatives
	Samples []uint32          // (S), M's
	Updates func(row int) int // of each row, with this step

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

// DrawShared draws the negatives of all rows, numbers 0 ... H-1 of the step's stream.
// They are good until the next call.
func (s *Sampler) DrawShared() []uint32 {
	s.drawn = memory.Resize(s.drawn, s.Shared)
	simd.Philox(s.drawn, s.Seed, uint64(s.Stream), 0)
	for k, bits := range s.drawn {
		s.drawn[k] = s.Noise.Draw(bits)
	}
	return s.drawn
}

// DrawOwn draws the K negatives of each row from first up to last, row by row:
// negative k of row i is number iK+k of the step's stream. dst is memory that it may
// use.
func (s *Sampler) DrawOwn(first, last int, dst []uint32) []uint32 {
	number, count := first*s.Negatives, (last-first)*s.Negatives
	skip := number % 4 // Philox gives four numbers at once
	dst = memory.Resize(dst, skip+count)
	simd.Philox(dst, s.Seed, uint64(s.Stream), uint64(number/4))
	for i, bits := range dst[skip:] {
		dst[i] = s.Noise.Draw(bits)
	}
	return dst[:count]
}
