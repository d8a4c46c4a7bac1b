package cl

import (
	"slices"

	"github.com/w2vcl/w2vcl/kernels/composed"
)

// CBOWOptions say what CBOW trains, and how.
type CBOWOptions struct {
	Rows, Dim       int // V, N
	Negatives       int // K
	SharedNegatives int // H
	Places, Window  int // T and the widest window, of a stretch at most
	Buffers         int // stretches that may be in the host's memory for the device, at least 1

	// The optimizer, as optim.Options has it, with its defaults applied.
	Method                             string
	Beta1, Beta2, Epsilon, WeightDecay float64

	Composition *composed.Composition // of rows of W; nil: they are a table

	PositionRate float64 // learning rate of position weights, relative to that of the tables; 0: windows have plain means
}

// A Stretch is the host's memory for a stretch of the text: a wordcontext.Stretch. Its slices have no values, and
// capacity for the largest.
type Stretch struct {
	Words, From, To     []uint32 // (P)
	Rows, Slots, Places []uint32 // (A), (A+1), (P)
	// (H) each: windows of places, and words
	NegativePlaces, NegativeWords []uint32

	order []rowJob
	large []uint32 // scratch of Prepare
}

// mostRowJobs returns how many jobs a stretch has at most.
func (c CBOWOptions) mostRowJobs() int {
	return mostJobs(min(c.Rows, c.Places), c.Places, samplesOfWarp)
}

// Prepare finds the jobs of the rows, tile by tile: rows of many places come first. So warps of a tile, which wait for each
// other, have about as much to do. It has to be called when the stretch is there.
func (s *Stretch) Prepare() {
	s.large = s.large[:0]
	places := func(a uint32) uint32 { return s.Slots[a+1] - s.Slots[a] }
	for a := range uint32(len(s.Rows)) {
		if places(a) > samplesOfWarp {
			s.large = append(s.large, a)
		}
	}
	s.order = appendTiles(s.order[:0], s.large, samplesOfWarp, places)
	s.appendSmall()
	s.order = fillTile(s.order, 1)
}

// appendSmall appends the jobs of rows that one warp has, in the order of their numbers of places.
func (s *Stretch) appendSmall() {
	var next [samplesOfWarp + 1]int // the place of the next row of so many places
	for n := range s.Rows {
		if places := s.Slots[n+1] - s.Slots[n]; places <= samplesOfWarp {
			next[places]++
		}
	}
	end := len(s.order)
	for n := samplesOfWarp; n > 0; n-- {
		next[n], end = end, end+next[n]
	}
	s.order = slices.Grow(s.order, end-len(s.order))[:end]
	for n := range s.Rows {
		if places := s.Slots[n+1] - s.Slots[n]; places <= samplesOfWarp {
			s.order[next[places]] = rowJob{row: uint32(n), pieces: 1}
			next[places]++
		}
	}
}
