//go:build gpu

package sentence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Words keep their parts under their new numbers.
func TestPartsByNumber(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	x := randomComposition(r, 500, 1, true)
	n := newNumbers(500)
	starts, symbols := partsByNumber(x, n.number)
	for w := range 500 {
		m := n.number(w)
		if got, want := symbols[starts[m]:starts[m+1]], x.Symbols[x.Starts[w]:x.Starts[w+1]]; !slices.Equal(got, want) {
			t.Fatalf("seed %d: word %d has parts %v, want %v", seed, w, got, want)
		}
	}
}
