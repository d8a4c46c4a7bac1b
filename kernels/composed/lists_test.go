package composed

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A part stands for all n-grams that the same words have equally often. A word has the part as often as it has one of these n-grams.
func TestFold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, size := range []int{1, 2, 7, 300} {
		starts, ngrams := []uint32{0}, []uint32(nil)
		for range 1 + r.IntN(size) {
			for range r.IntN(9) {
				ngrams = append(ngrams, r.Uint32N(uint32(size)))
			}
			if n := len(ngrams); n > 1 && r.IntN(2) == 0 {
				ngrams = append(ngrams, ngrams[n-1]) // twice
			}
			starts = append(starts, uint32(len(ngrams)))
		}
		first, users := Invert(starts, ngrams, size, ListOf)
		wordsOf := func(u int) []uint32 { return users[first[u]:first[u+1]] }
		parts, sizes, folded, symbols := Fold(starts, ngrams, size)
		count := make([]uint32, len(sizes))
		for u, part := range parts {
			count[part]++
			for other, x := range parts[:u] {
				same := len(wordsOf(u)) > 0 && slices.Equal(wordsOf(u), wordsOf(other))
				if same != (x == part) {
					t.Fatalf("n-grams %d and %d, of words %v and %v, are parts %d and %d", other, u, wordsOf(other), wordsOf(u), x, part)
				}
			}
		}
		if !slices.Equal(count, sizes) {
			t.Fatalf("parts have %v n-grams, not %v", count, sizes)
		}
		for v := range len(starts) - 1 {
			times := make([]uint32, len(sizes))
			for _, g := range symbols[folded[v]:folded[v+1]] {
				times[g] += sizes[g]
			}
			for _, u := range ngrams[starts[v]:starts[v+1]] {
				times[parts[u]]--
			}
			for g, left := range times {
				if left != 0 {
					t.Fatalf("word %d has part %d, of %d n-grams, %d times too often", v, g, sizes[g], int32(left))
				}
			}
		}
	}
}

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
