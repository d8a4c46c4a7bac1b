package graph

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

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
