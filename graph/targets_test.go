package graph

import (
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/tempered"
)

// The vector kernel and the definition of the generator are one: negative k of
// row i is number iK+k of the step's stream, wherever a block begins.
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
	const v = 300
	column := make([]uint32, v)
	for i := range column {
		column[i] = uint32(r.IntN(v))
	}
	for _, k := range []int{1, 2, 3, 5, 8} {
		s := sampler{&tempered.Sampler{Noise: uniformNoise(t, v), Seed: seed, Iteration: iteration, Step: step, Samples: column, Negatives: k}}
		for first := 0; first < v; first += blockRows {
			rows := min(blockRows, v-first)
			dst := make([]uint32, rows*(1+k))
			s.fill(first, dst)
			for i := range rows {
				row := first + i
				if dst[i*(1+k)] != column[row] {
					t.Fatalf("K=%d row %d: positive %d, want %d", k, row, dst[i*(1+k)], column[row])
				}
				for n := range k {
					if want := s.Noise.Draw(word(uint64(row*k + n))); dst[i*(1+k)+1+n] != want {
						t.Fatalf("K=%d row %d negative %d: %d, want %d", k, row, n, dst[i*(1+k)+1+n], want)
					}
				}
			}
		}
	}
}
