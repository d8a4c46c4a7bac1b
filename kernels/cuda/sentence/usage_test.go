//go:build gpu

package sentence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Words keep their parts under their new numbers, parts know their words, and those of many
// words come first.
func TestUsage(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	x := randomComposition(r, 500, 1, true)
	n := newNumbers(500)
	c := Composition{Parts: len(x.Parts), Starts: x.Starts, Symbols: x.Symbols}
	u := c.usage(n.number)
	users := make([][]uint32, c.Parts)
	for w := range 500 {
		m := n.number(w)
		if got, want := u.symbols[u.starts[m]:u.starts[m+1]], x.Symbols[x.Starts[w]:x.Starts[w+1]]; !slices.Equal(got, want) {
			t.Fatalf("seed %d: word %d has parts %v, want %v", seed, w, got, want)
		}
		for _, g := range x.Symbols[x.Starts[w]:x.Starts[w+1]] {
			users[g] = append(users[g], uint32(m))
		}
	}
	for i, g := range u.order {
		slices.Sort(users[g])
		if got := u.users[u.firsts[g]:u.firsts[g+1]]; !slices.Equal(got, users[g]) {
			t.Fatalf("seed %d: part %d has words %v, want %v", seed, g, got, users[g])
		}
		if frequent := len(users[g]) >= manyWords; frequent != (i < u.frequent) {
			t.Fatalf("seed %d: part %d of %d words is number %d, and %d are frequent", seed, g, len(users[g]), i, u.frequent)
		}
	}
}
