package subword

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A class is all n-grams that the same words have, as often. A word whose list has their row for each of them is
// folded to have it as often as one of them.
func TestClasses(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, size := range []int{1, 2, 7, 300} {
		e := Structure{Starts: []uint32{0}, Alphabet: size}
		for range 1 + r.IntN(size) {
			for range r.IntN(9) {
				e.Symbols = append(e.Symbols, r.Uint32N(uint32(size)))
			}
			if n := len(e.Symbols); n > 1 && r.IntN(2) == 0 {
				e.Symbols = append(e.Symbols, e.Symbols[n-1]) // twice
			}
			e.Starts = append(e.Starts, uint32(len(e.Symbols)))
		}
		starts, users := inverted(e, wordOf)
		wordsOf := func(u int) []uint32 { return users[starts[u]:starts[u+1]] }
		classes, sizes := ClassesOf(e)
		count := make([]uint32, len(sizes))
		for u, class := range classes {
			count[class]++
			for other, x := range classes[:u] {
				same := len(wordsOf(u)) > 0 && slices.Equal(wordsOf(u), wordsOf(other))
				if same != (x == class) {
					t.Fatalf("n-grams %d and %d, of words %v and %v, are in classes %d and %d", other, u, wordsOf(other), wordsOf(u), x, class)
				}
			}
		}
		if !slices.Equal(count, sizes) {
			t.Fatalf("classes have %v n-grams, not %v", count, sizes)
		}
		shared := Structure{Starts: e.Starts, Alphabet: len(sizes), Sizes: sizes}
		for _, u := range e.Symbols {
			shared.Symbols = append(shared.Symbols, classes[u])
		}
		checkFolded(t, shared)
	}
}

func checkFolded(t *testing.T, c Structure) {
	t.Helper()
	f := c.Folded()
	for v := range len(c.Starts) - 1 {
		times := make([]uint32, c.Alphabet)
		for _, u := range f.Symbols[f.Starts[v]:f.Starts[v+1]] {
			times[u] += c.Sizes[u]
		}
		for _, u := range c.Symbols[c.Starts[v]:c.Starts[v+1]] {
			times[u]--
		}
		for u, left := range times {
			if left != 0 {
				t.Fatalf("word %d has row %d, of %d n-grams, %d times too often", v, u, c.Sizes[u], int32(left))
			}
		}
	}
	own := Structure{Starts: c.Starts, Symbols: c.Symbols, Alphabet: c.Alphabet}
	if f := own.Folded(); !slices.Equal(f.Symbols, c.Symbols) || !slices.Equal(f.Starts, c.Starts) {
		t.Error("rows of one n-gram are not as they were")
	}
}

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
