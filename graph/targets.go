package graph

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
)

// noTarget in the first place of a row's targets means that the row trains on
// nothing: its gradient is zero.
const noTarget = math.MaxUint32

// targets says which rows of the right table each left row meets in one step:
// its positive first, then its negatives.
type targets interface {
	// width is 1+K.
	width() int
	// fill writes the targets of left rows first, first+1, ... to dst, width
	// of them a row. Goroutines call it at the same time.
	fill(first int, dst []uint32)
}

// A List is the targets of a batch written out: row i of the batch meets
// Rows[i*Width:(i+1)*Width] of the right table, its positive first.
type List struct {
	Width int
	Rows  []uint32
}

// check says what is wrong with the list for a batch of rows and a right table
// of v rows. The vector kernels do not look.
func (l *List) check(rows, v int) error {
	if l.Width < 1 || len(l.Rows) < rows*l.Width {
		return fmt.Errorf("%d targets, %d a row, for %d rows", len(l.Rows), l.Width, rows)
	}
	for i, row := range l.Rows[:rows*l.Width] {
		if int(row) >= v && l.Rows[i-i%l.Width] != noTarget {
			return fmt.Errorf("target %d is row %d of a table of %d rows", i, row, v)
		}
	}
	return nil
}

func (l *List) width() int { return l.Width }

func (l *List) fill(first int, dst []uint32) {
	copy(dst, l.Rows[first*l.Width:])
}

// sampler gives the targets of a W2V-CL step: the column's entries as
// positives and fresh negatives.
type sampler struct {
	noise     *corpus.Alias
	seed      uint64
	stream    corpus.Stream // of this step
	column    []uint32      // V entries of M
	negatives int
}

func (s *sampler) width() int { return 1 + s.negatives }

// fill draws negative k of row i from lane (iK+k) mod 4 of block (iK+k)/4, so
// no draw depends on where fill began.
func (s *sampler) fill(first int, dst []uint32) {
	draws := newDraws(s.seed, s.stream, uint64(first)*uint64(s.negatives))
	width := s.width()
	for i := first; len(dst) > 0; i++ {
		row := dst[:width]
		dst = dst[width:]
		row[0] = s.column[i]
		for k := 1; k < width; k++ {
			row[k] = s.noise.Draw(draws.next())
		}
	}
}

// draws hands out the 32-bit words of one random stream in order: word i is
// lane i mod 4 of block i/4.
type draws struct {
	seed   uint64
	stream corpus.Stream
	place  uint64 // of the next word
	loaded uint64 // 1 + number of the block held
	block  [4]uint32
}

func newDraws(seed uint64, stream corpus.Stream, place uint64) *draws {
	return &draws{seed: seed, stream: stream, place: place}
}

func (d *draws) next() uint32 {
	d.place++
	return d.at(d.place - 1)
}

// at returns word i.
func (d *draws) at(i uint64) uint32 {
	if d.loaded != i/4+1 {
		d.block = corpus.Philox(d.seed, d.stream, i/4)
		d.loaded = i/4 + 1
	}
	return d.block[i%4]
}
