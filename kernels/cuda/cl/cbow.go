package cl

import (
	"cmp"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
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

// A rowJob is a piece of the places of row Rows[row], for a warp; of a noRow it is none.
type rowJob struct {
	row           uint32
	piece, pieces uint16
}

// mostRowJobs returns how many jobs a stretch has at most. A row of several pieces has eight places for each at least.
func (c CBOWOptions) mostRowJobs() int {
	return (min(c.Rows, c.Places)+c.Places/8)/tileRows*tileRows + 5*tileRows
}

// piecesOfRow returns how many warps share a row of so many samples, or places.
func piecesOfRow(samples uint32) uint16 {
	pieces := uint16(1)
	for pieces < tileRows && samples > uint32(pieces)*samplesOfWarp {
		pieces *= 2
	}
	return pieces
}

// Prepare finds the jobs of the rows, tile by tile: rows of many places come first. So warps of a tile, which wait for each
// other, have about as much to do. It has to be called when the stretch is there.
func (s *Stretch) Prepare() {
	s.order, s.large = s.order[:0], s.large[:0]
	places := func(a uint32) uint32 { return s.Slots[a+1] - s.Slots[a] }
	for a := range uint32(len(s.Rows)) {
		if piecesOfRow(places(a)) > 1 {
			s.large = append(s.large, a)
		}
	}
	slices.SortStableFunc(s.large, func(a, b uint32) int { return cmp.Compare(places(b), places(a)) })
	pieces := uint16(tileRows)
	fill := func(next uint16) { // the pieces of all jobs of a tile are the same
		for next < pieces && len(s.order)%tileRows > 0 {
			s.order = append(s.order, rowJob{row: noRow, pieces: pieces})
		}
		pieces = next
	}
	for _, a := range s.large {
		fill(piecesOfRow(places(a)))
		for piece := range pieces {
			s.order = append(s.order, rowJob{row: a, piece: piece, pieces: pieces})
		}
	}
	fill(1)
	s.appendSmall()
	for len(s.order)%tileRows > 0 {
		s.order = append(s.order, rowJob{row: noRow, pieces: 1})
	}
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

// chunk is how many negatives the kernels work on together.
const chunk = 64

// chunks is how many of them have all shared negatives.
func (c CBOWOptions) chunks() int { return (c.SharedNegatives + chunk - 1) / chunk }

// stretchBytes is the memory of a stretch.
func (c CBOWOptions) stretchBytes() int64 {
	return 4*(4*int64(c.Places)+2*int64(min(c.Rows, c.Places))+1+2*int64(c.SharedNegatives)) + 8*int64(c.mostRowJobs())
}

// HostBytes returns the host's memory that the buffers take.
func (c CBOWOptions) HostBytes() int64 { return int64(c.Buffers) * c.stretchBytes() }

// Bytes estimates the memory that training takes on each of some devices beside tables and moments, for rows of so many bytes.
func (c CBOWOptions) Bytes(row int64, devices int) int64 {
	v, t, own := int64(c.Rows), int64(c.Places), 16*int64(c.mostColumns(devices).quads(c.Dim))
	bytes := 2*c.stretchBytes() + 2*t*row + 4*chunk*int64(c.chunks())*(v+t) + 4*(v+t) + 64*int64(c.mostRowJobs())
	if x := c.Composition; x != nil {
		bytes += v*(row+own/2) + 8*v + int64(x.PartCount())*(own/2+24) + 16*int64(len(x.Symbols)) + 4*v // X, its gradient; parts in 16 bits
	}
	if devices > 1 { // X of an iteration and of the next
		bytes += v * row
		if c.Composition == nil {
			bytes += v*row + 16*v
		}
	}
	return bytes
}

// columns are the columns of W and of its parts that one of several devices holds: count columns, starting at first.
type columns struct{ first, count int }

// columnsOf returns the columns of device number n of several: whole sectors of memory.
func columnsOf(n, devices, dim int) columns {
	const sector = 8
	sectors := (dim + sector - 1) / sector
	at := func(n int) int { return min(sectors*n/devices*sector, dim) }
	return columns{at(n), at(n+1) - at(n)}
}

// quads returns the float4s of so many columns of rows of dim values, with their padding.
func (x columns) quads(dim int) int {
	if x.count == dim {
		return cuda.Quads(dim)
	}
	return (x.count + 7) / 8 * 2
}

// mostColumns returns the columns of the device that has most.
func (c CBOWOptions) mostColumns(devices int) columns { return columnsOf(devices-1, devices, c.Dim) }

// OwnDim returns the length of rows of W, and of its parts, on the device that has the most columns.
func (c CBOWOptions) OwnDim(devices int) int { return 4 * c.mostColumns(devices).quads(c.Dim) }
