package composed

import (
	"math/rand/v2"
	"testing"
)

// Members and users are the symbols, with how often they come.
func TestMembers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	const parts = 9
	c := &Composition{Dim: 1, Parts: make([]float32, parts), Starts: []uint32{0}}
	var times [40][parts]uint32
	for v := range times {
		for range r.IntN(12) {
			u := r.Uint32N(parts)
			c.Symbols = append(c.Symbols, u)
			times[v][u]++
		}
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	starts, members := c.Members()
	var got [40][parts]uint32
	for v := range times {
		for _, m := range members[starts[v]:starts[v+1]] {
			if got[v][m.Number] != 0 {
				t.Fatalf("word %d has part %d twice", v, m.Number)
			}
			got[v][m.Number] = m.Times
		}
	}
	if got != times {
		t.Errorf("members %v, want %v", got, times)
	}
	first, users := c.Users()
	got = [40][parts]uint32{}
	for u := range parts {
		words := users[first[u]:first[u+1]]
		for i, v := range words {
			if i > 0 && words[i-1] > v {
				t.Fatalf("words of part %d: %v", u, words)
			}
			got[v][u]++
		}
	}
	if got != times {
		t.Errorf("users %v, want %v", got, times)
	}
}
