package graph

import (
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// The vector kernel and the definition of the generator are one.
func TestDrawsAreCorpusPhilox(t *testing.T) {
	r := freshRandom(t)
	seed, iteration, step := r.Uint64(), r.IntN(1<<20), r.IntN(2)
	stream := corpus.StreamNegatives.Sub(uint32(2*iteration + step))
	word := func(i uint64) uint32 { return corpus.Philox(seed, stream, i/4)[i%4] }
	d := newDraws(seed, stream, 5)
	for i := range uint64(100) {
		if got := d.next(); got != word(i+5) {
			t.Fatalf("word %d is %x, want %x", i+5, got, word(i+5))
		}
	}
}
