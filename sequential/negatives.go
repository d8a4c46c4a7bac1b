package sequential

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// negatives draws words from the noise distribution, never the one they are
// negatives of.
//
// Negatives are numbered: the window of word i of a sentence, after subsampling,
// has numbers (f+i)D, (f+i)D+1, ..., where f is the place of the sentence's
// first token in the text and D is how many a window draws at most, rounded up
// to a multiple of 4. Negative number j is drawn with number j of the epoch's
// stream: lane j mod 4 of Philox at counter j/4.
type negatives struct {
	noise     *corpus.Alias
	seed      uint64
	perWindow int // D

	epoch uint32
	bits  []uint32
}

// number returns the number of the first negative of word i of a sentence that begins
// with token number first of the text.
func (n *negatives) number(first, i int) uint64 {
	return uint64(first+i) * uint64(n.perWindow)
}

// draw draws len(dst) negatives of a target, from number j on, which is a
// multiple of 4.
func (n *negatives) draw(dst []uint32, j uint64, target uint32) {
	for i, x := range n.random(j, len(dst)) {
		dst[i] = n.noise.Draw(x)
		if dst[i] == target {
			dst[i] = n.redraw(j+uint64(i), target)
		}
	}
}

// drawAll returns the outputs of all windows of a sentence: (words, 1+count),
// the word itself, which is the target, and its negatives.
func (n *negatives) drawAll(dst []uint32, s *sentence, count int) []uint32 {
	dst = memory.Resize(dst, len(s.words)*(1+count))
	bits := n.random(n.number(s.first, 0), len(s.words)*n.perWindow)
	for i, target := range s.words {
		row := dst[i*(1+count):][:1+count]
		row[0] = target
		for k, x := range bits[i*n.perWindow:][:count] {
			row[1+k] = n.noise.Draw(x)
			if row[1+k] == target {
				row[1+k] = n.redraw(n.number(s.first, i)+uint64(k), target)
			}
		}
	}
	return dst
}

// random returns count random numbers of 32 bits, from number j on.
func (n *negatives) random(j uint64, count int) []uint32 {
	const group = 32 // that the generator makes at once
	n.bits = memory.Resize(n.bits, (count+group-1)/group*group)
	simd.Philox(n.bits, n.seed, uint64(corpus.StreamNegatives.Sub(n.epoch)), j/4)
	return n.bits[:count]
}

// redraw draws negative number j anew until it is not the target. Attempt a
// takes lane a mod 4 of counter j, with a/4 in the counter's highest bits.
// A word so frequent that all attempts find it has its neighbour in the
// vocabulary as negative.
func (n *negatives) redraw(j uint64, target uint32) uint32 {
	const attempts = 256
	var bits [4]uint32
	for a := range uint64(attempts) {
		if a%4 == 0 {
			bits = corpus.Philox(n.seed, corpus.StreamRedraws.Sub(n.epoch), j|a/4<<56)
		}
		if word := n.noise.Draw(bits[a%4]); word != target {
			return word
		}
	}
	return (target + 1) % uint32(n.noise.Len())
}
