//go:build gpu

package sentence

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
)

// Words keep their parts under their new numbers.
func TestPartsByNumber(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	x := randomComposition(r, 500, 1, true)
	n := newNumbers(500)
	starts, members, weights := partsByNumber(x, n.number)
	for w := range 500 {
		m := n.number(w)
		var want []composed.Member
		for _, g := range x.Of(uint32(w)) {
			want = append(want, composed.Member{Number: g, Times: uint32(x.Size(g))})
		}
		if got := members[starts[m]:starts[m+1]]; !slices.Equal(got, want) || weights[m] != x.Weight(uint32(w)) {
			t.Fatalf("seed %d: word %d has parts %v, want %v", seed, w, got, want)
		}
	}
}
