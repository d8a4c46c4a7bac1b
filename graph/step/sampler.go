package step

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Sampler says which frozen vectors each row meets in a step: its samples as positives, and
// fresh negatives. Both are numbers of rows of the frozen matrix.
type Sampler struct {
	Noise     *corpus.Alias // over the rows of the frozen matrix
	Seed      uint64
	Negatives int      // K
	Shared    int      // H; 0: every row has negatives of its own
	Bias      float32  // b, added to every score
	Slots     []uint32 // (V+1): row i's samples are in Samples[Slots[i]:Slots[i+1]]

	Iteration, Step int               // the step, 0 or 1, of an iteration of all epochs
	Samples         []uint32          // (S), of the step, as wordcontext.Matrix.Samples gives them
	Updates         func(row int) int // of each row, with this one

	// A step may be of some rows only: then row i here is row Rows[i] of the table, and has shared negatives.
	Rows []uint32

	// Given, if not nil, are the shared negatives, (H), in place of those drawn from Noise.
	Given []uint32

	drawn []uint32 // (H)
}

// Len is the number of rows.
func (s *Sampler) Len() int { return len(s.Slots) - 1 }

// Row returns the number of row i in the table.
func (s *Sampler) Row(i int) int {
	if s.Rows == nil {
		return i
	}
	return int(s.Rows[i])
}

// Share returns the samples of a row in this step, none if the row is left alone.
func (s *Sampler) Share(row int) []uint32 {
	share := s.Samples[s.Slots[row]:s.Slots[row+1]]
	for len(share) > 0 && share[len(share)-1] == wordcontext.NoSample {
		share = share[:len(share)-1]
	}
	return share
}

// AppendTargets appends what a row meets to dst: its samples, and behind them its own negatives, if
// rows have some. own holds those of the rows from first on; see DrawOwn. A word without contexts
// trains on nothing, so its row has no targets. samples is the size of the share.
func (s *Sampler) AppendTargets(dst []uint32, row, first int, own []uint32) (targets []uint32, samples int) {
	share := s.Share(row)
	if len(share) == 0 || share[0] == wordcontext.NoContext {
		return dst, len(share)
	}
	dst = append(dst, share...)
	if s.Shared == 0 {
		dst = append(dst, own[(row-first)*s.Negatives:][:s.Negatives]...)
	}
	return dst, len(share)
}

// Targets returns how many targets a row has; see AppendTargets.
func (s *Sampler) Targets(row int) int {
	share := s.Share(row)
	switch {
	case len(share) == 0 || share[0] == wordcontext.NoContext:
		return 0
	case s.Shared > 0:
		return len(share)
	}
	return len(share) + s.Negatives
}

// UpdatesOf returns Updates of a row, 0 if it is left alone.
func (s *Sampler) UpdatesOf(row int) int {
	if len(s.Share(row)) == 0 {
		return 0
	}
	return s.Updates(row)
}

// Weight is the weight of a negative: K/H if rows share them, else 1.
func (s *Sampler) Weight() float64 {
	if s.Shared > 0 {
		return float64(s.Negatives) / float64(s.Shared)
	}
	return 1
}

// DrawShared draws the negatives of all rows, spread over the words; see
// [corpus.Alias.DrawSpread]. They are good until the next call.
func (s *Sampler) DrawShared() []uint32 {
	if s.Given != nil {
		return s.Given
	}
	s.drawn = memory.Resize(s.drawn, s.Shared)
	s.Noise.DrawSpread(s.drawn, s.Seed, s.Iteration, s.Step)
	return s.drawn
}

// stream is the step's stream of the rows' own negatives.
func (s *Sampler) stream() corpus.Stream {
	return corpus.StreamNegatives.Sub(uint32(2*s.Iteration + s.Step))
}

// DrawOwn draws the K negatives of each row from first up to last, row by row:
// negative k of row i is number iK+k of the step's stream. dst is memory that it may
// use. If all rows share their negatives, there are none.
func (s *Sampler) DrawOwn(first, last int, dst []uint32) []uint32 {
	if s.Shared > 0 {
		return dst[:0]
	}
	number, count := first*s.Negatives, (last-first)*s.Negatives
	skip := number % 4 // Philox gives four numbers at once
	dst = memory.Resize(dst, skip+count)
	simd.Philox(dst, s.Seed, uint64(s.stream()), uint64(number/4))
	for i, bits := range dst[skip:] {
		dst[i] = s.Noise.Draw(bits)
	}
	return dst[:count]
}
