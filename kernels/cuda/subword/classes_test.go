package subword

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A class is all n-grams that the same words have, as often: its sum, updated as a whole, gives each of its
// rows what updates of every row on its own give.
func TestClasses(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, size := range []int{1, 2, 7, 300} {
		e := Config{Starts: []uint32{0}, Alphabet: size}
		for range 1 + r.IntN(size) {
			for range r.IntN(9) {
				e.Symbols = append(e.Symbols, r.Uint32N(uint32(size)))
			}
			if n := len(e.Symbols); n > 1 && r.IntN(2) == 0 {
				e.Symbols = append(e.Symbols, e.Symbols[n-1]) // twice
			}
			e.Starts = append(e.Starts, uint32(len(e.Symbols)))
		}
		starts, users := inverted(e)
		wordsOf := func(u uint32) []uint32 { return users[starts[u]:starts[u+1]] }
		c := classesOf(e)
		seen := 0
		for number, members := range c.members {
			seen += len(members)
			for _, u := range members {
				if int(c.of[u]) != number || !slices.Equal(wordsOf(u), wordsOf(members[0])) {
					t.Fatalf("n-gram %d of words %v is in class %d, whose words are %v", u, wordsOf(u), c.of[u], wordsOf(members[0]))
				}
			}
			for other, x := range c.members[:number] {
				if len(wordsOf(x[0])) > 0 && slices.Equal(wordsOf(x[0]), wordsOf(members[0])) {
					t.Fatalf("classes %d and %d have the same words", other, number)
				}
			}
		}
		if seen != size || c.count() != e.Classes() {
			t.Fatalf("%d n-grams in %d classes, should be %d in %d", seen, c.count(), size, e.Classes())
		}
		checkTraining(t, r, e, c)
	}
}

// checkTraining sums words from rows and from classes, and trains rows and classes.
func checkTraining(t *testing.T, r *rand.Rand, e Config, c classes) {
	t.Helper()
	const columns = 3
	rows := make([]float32, e.Alphabet*columns)
	for i := range rows {
		rows[i] = r.Float32() - .5
	}
	lists, sums := c.lists(e), c.sums(rows, columns)
	for v := range len(e.Starts) - 1 {
		var want, got [columns]float64
		for _, u := range e.Symbols[e.Starts[v]:e.Starts[v+1]] {
			for i := range columns {
				want[i] += float64(rows[int(u)*columns+i])
			}
		}
		for _, class := range lists.Symbols[lists.Starts[v]:lists.Starts[v+1]] {
			for i := range columns {
				got[i] += float64(sums[int(class)*columns+i])
			}
		}
		for i := range columns {
			if math.Abs(got[i]-want[i]) > 1e-5 {
				t.Fatalf("word %d has the sum %v, want %v", v, got, want)
			}
		}
	}
	decays, sizes := slices.Repeat([]float32{1}, c.count()), c.sizes()
	trained := slices.Clone(rows)
	for range 20 {
		for class, members := range c.members {
			if r.IntN(3) == 0 {
				continue // has no share
			}
			keep := 1 - r.Float32()/100
			decays[class] *= keep
			for i := range columns {
				step := r.Float32() - .5
				for _, u := range members {
					x := &trained[int(u)*columns+i]
					*x = keep**x - step
				}
				x := &sums[class*columns+i]
				*x = keep**x - sizes[class]*step
			}
		}
	}
	c.spread(rows, sums, decays, columns)
	for i, x := range rows {
		if math.Abs(float64(x-trained[i])) > 1e-4 {
			t.Fatalf("row %d became %v, want %v", i/columns, x, trained[i])
		}
	}
}
