package subword

import (
	"math/rand/v2"
	"testing"
)

// Packed words have the symbols of words, the longest ones first, each word once.
func TestPacked(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for _, size := range []int{1, 2, 50} {
		e := Structure{Starts: []uint32{0}}
		for range size {
			for range r.IntN(packedSymbols + 1) {
				e.Symbols = append(e.Symbols, r.Uint32N(255))
			}
			e.Starts = append(e.Starts, uint32(len(e.Symbols)))
		}
		words, places := e.packed()
		seen := map[uint32]bool{}
		for i, place := range places {
			seen[place[0]] = true
			if i > 0 && place[1] > places[i-1][1] || int(place[1]) > e.longest() {
				t.Fatalf("word %d of %d symbols is number %d", place[0], place[1], i)
			}
			want := e.Symbols[e.Starts[place[0]]:e.Starts[place[0]+1]]
			for at := range packedSymbols {
				symbol := words[8*i+at/4] >> (8 * (at % 4)) & 255
				if at < len(want) && symbol != want[at] || at >= len(want) && symbol != 0 {
					t.Fatalf("word %d has %v, packed %d at %d", place[0], want, symbol, at)
				}
			}
		}
		if len(places) != size || len(seen) != size || len(words) != 8*size+2 {
			t.Errorf("%d words are %d places of %d, in %d numbers", size, len(places), len(seen), len(words))
		}
	}
}
