//go:build gpu

package sentence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbers needs no GPU: every word has a number of its own, and rows come
// back as they went, from where their layout says.
func TestNumbers(t *testing.T) {
	for _, words := range []int{2, 3, 10, 97, 1000, 1 << 12} {
		n := newNumbers(words)
		seen := make([]bool, words)
		for w := range words {
			seen[n.number(w)] = true
		}
		if slices.Contains(seen, false) {
			t.Fatalf("%d words: two have one number", words)
		}
		for _, dim := range []int{1, 31, 32, 33, 100} {
			for _, n.spread = range []bool{false, true} {
				t.Run(fmt.Sprintf("%d words, dimension %d, spread %t", words, dim, n.spread), func(t *testing.T) { testRows(t, n, dim) })
			}
		}
	}
}

func testRows(t *testing.T, n numbers, dim int) {
	words, width := int(n.vocabulary), padded(dim)
	rows := make([]float32, words*dim)
	for i := range rows {
		rows[i] = rand.Float32()
	}
	there := make([]float32, n.values(dim))
	for i := range there {
		there[i] = 1 // what lay there before
	}
	each := width * (1 + rand.IntN(2*words)) // values of a part
	for first := 0; first < len(there); first += each {
		pad(n, there[first:min(first+each, len(there))], first, rows, dim, copied)
	}
	l := n.layout(dim)
	for w := range words {
		for j := range width {
			want := float32(0)
			if j < dim {
				want = rows[w*dim+j]
			}
			if at := 4*(n.number(w)*int(l.toNextRow)+j/chunkValues*int(l.toNextChunk)) + j%chunkValues; there[at] != want {
				t.Fatalf("value %d of word %d is %v, want %v", j, w, there[at], want)
			}
		}
	}
	back := make([]float32, len(rows))
	for first := 0; first < len(there); first += each {
		take(n, back, there[first:min(first+each, len(there))], first, dim, copied)
	}
	if !slices.Equal(back, rows) {
		t.Error("rows do not come back")
	}
	halved := make([]uint16, len(there))
	for i := range halved {
		halved[i] = 1
	}
	for first := 0; first < len(there); first += each {
		part := halved[first:min(first+each, len(there))]
		pad(n, part, first, rows, dim, halves)
		take(n, back, part, first, dim, floats)
	}
	for i, x := range there {
		if halved[i] != half(x) {
			t.Fatalf("value %d is %v as half, want %v", i, halved[i], half(x))
		}
	}
	for i, x := range rows {
		if back[i] != float(half(x)) {
			t.Fatalf("value %d comes back as %v, want %v", i, back[i], float(half(x)))
		}
	}
}

// TestManyNumbers: a table of 200 million words still gives each word its own number, and each row its own place.
func TestManyNumbers(t *testing.T) {
	const words, dim = 200_000_000, 128
	n := newNumbers(words)
	if values := n.values(dim); values != words*dim {
		t.Errorf("a table has %d values, want %d", values, words*dim)
	}
	for range 1000 {
		if w := rand.IntN(words); n.word(n.number(w)) != w {
			t.Fatalf("word %d has number %d, which is word %d", w, n.number(w), n.word(n.number(w)))
		}
	}
	for _, number := range []int{0, words - 40, rand.IntN(words - 40)} {
		next := 0
		n.each(dim, 40*dim, number*dim, func(row, _, at, end int) {
			if want := n.word(number+next) * dim; row != want || at != next*dim || end != at+dim {
				t.Fatalf("row %d: from %d, at %d to %d, want from %d at %d", number+next, row, at, end, want, next*dim)
			}
			next++
		})
		if next != 40 {
			t.Errorf("%d rows from %d on, want 40", next, number)
		}
	}
}
