package graph

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/kernels/simd"
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

// check returns why the list is wrong for a batch of rows and a right table of v
// rows. The vector kernels do not look.
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

// sampler gives the targets of a W2V-CL step that is not tempered: every row has one
// sample and negatives of its own.
type sampler struct{ *tempered.Sampler }

func (s sampler) width() int { return 1 + s.Negatives }

// fill draws negative k of row i from number iK+k of the step's stream, so no
// draw depends on where fill began. first times K is a multiple of 4, as Philox
// needs it.
func (s sampler) fill(first int, dst []uint32) {
	width := s.width()
	rows := len(dst) / width
	// The random bits lie at the end of dst. A row is written in front of the
	// bits that are still to be read.
	bits := dst[rows:]
	simd.Philox(bits, s.Seed, uint64(s.Stream()), uint64(first)*uint64(s.Negatives)/4)
	for i := range rows {
		row := dst[i*width:][:width]
		drawn := bits[i*s.Negatives:][:s.Negatives]
		row[0] = s.Samples[first+i]
		for k, x := range drawn {
			row[k+1] = s.Noise.Draw(x)
		}
	}
}

// draws hands out the random numbers of one stream in order, 32 bits each.
type draws struct {
	seed   uint64
	stream corpus.Stream
	place  uint64 // of the next number
	loaded uint64 // 1 + place/drawsHeld of the numbers held
	bits   [drawsHeld]uint32
}

// drawsHeld is how many numbers the vector kernel makes at once.
const drawsHeld = 32

func newDraws(seed uint64, stream corpus.Stream, place uint64) *draws {
	return &draws{seed: seed, stream: stream, place: place}
}

func (d *draws) next() uint32 {
	d.place++
	return d.at(d.place - 1)
}

// at returns number i: lane i mod 4 of Philox at counter i/4.
func (d *draws) at(i uint64) uint32 {
	if d.loaded != i/drawsHeld+1 {
		simd.Philox(d.bits[:], d.seed, uint64(d.stream), i/drawsHeld*drawsHeld/4)
		d.loaded = i/drawsHeld + 1
	}
	return d.bits[i%drawsHeld]
}
