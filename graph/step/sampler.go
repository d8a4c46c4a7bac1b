package step

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Sampler lists the rows of a step, and says which frozen vectors each row meets: its samples as positives, and
// fresh negatives. In a method, i is the place of a row in this list; [Sampler.Row] has its number in the table. Samples and
// negatives are numbers of rows of the frozen matrix.
//
// Rows that are not listed, and vectors that nobody meets, are not of this iteration. A matrix may have values of an earlier one
// there: nobody reads them.
type Sampler struct {
	Negatives int     // K
	Shared    int     // H; 0: every row has negatives of its own
	Bias      float32 // b, added to every score

	// The negatives are drawn, for a step, 0 or 1, of an iteration of all epochs, unless they are given.
	Noise           *corpus.Alias // over the rows of the frozen matrix
	Seed            uint64
	Iteration, Step int
	Given           []uint32 // (H), shared; nil: drawn

	Rows    []uint32 // the numbers of the rows in the table, which then have shared negatives; nil: all rows
	Slots   []uint32 // (rows+1): the samples of row i are Samples[Slots[i]:Slots[i+1]]; nil: Samples[i] alone
	Samples []uint32 // see wordcontext.Matrix.Samples

	drawn []uint32 // (H)
}

// OfWords lists step 1 of CBOW: a row of the table for each word that occurs in a stretch. Samples and negatives are places.
func (s *Sampler) OfWords(x *wordcontext.Stretch) {
	s.Rows, s.Slots, s.Samples, s.Given = x.Rows, x.Slots, x.Places, x.NegativePlaces
}

// OfPlaces lists step 2 of CBOW: a row for each place of a stretch. Samples, of which it has one, and negatives are words.
func (s *Sampler) OfPlaces(x *wordcontext.Stretch) {
	s.Rows, s.Slots, s.Samples, s.Given = nil, nil, x.Words, x.NegativeWords
}

// Len is the number of rows.
func (s *Sampler) Len() int {
	if s.Slots == nil {
		return len(s.Samples)
	}
	return len(s.Slots) - 1
}

// Row returns the number of row i in the table.
func (s *Sampler) Row(i int) int {
	if s.Rows == nil {
		return i
	}
	return int(s.Rows[i])
}

// Share returns the samples of row i in this step, none if the row is left alone.
func (s *Sampler) Share(i int) []uint32 {
	if s.Slots == nil {
		return s.Samples[i : i+1]
	}
	share := s.Samples[s.Slots[i]:s.Slots[i+1]]
	for len(share) > 0 && share[len(share)-1] == wordcontext.NoSample {
		share = share[:len(share)-1]
	}
	return share
}

// AppendTargets appends what row i meets to dst: its samples, and behind them its own negatives, if
// rows have some. own holds those of the rows from first on; see DrawOwn. A word without contexts
// trains on nothing, so its row has no targets. samples is the size of the share.
func (s *Sampler) AppendTargets(dst []uint32, i, first int, own []uint32) (targets []uint32, samples int) {
	share := s.Share(i)
	if len(share) == 0 || share[0] == wordcontext.NoContext {
		return dst, len(share)
	}
	dst = append(dst, share...)
	if s.Shared == 0 {
		dst = append(dst, own[(i-first)*s.Negatives:][:s.Negatives]...)
	}
	return dst, len(share)
}

// Weight is the weight of a negative: K/H if rows share them, else 1.
func (s *Sampler) Weight() float64 {
	if s.Shared > 0 {
		return float64(s.Negatives) / float64(s.Shared)
	}
	return 1
}

// DrawShared returns the negatives of all rows: the given ones, or drawn ones, spread over the
// words (see [corpus.Alias.DrawSpread]). They are good until the next call.
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
