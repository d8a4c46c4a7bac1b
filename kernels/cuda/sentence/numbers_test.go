//go:build gpu

package sentence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNumbers needs no GPU: every word has a number of its own, and rows come
// back as they went.
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
			rows := make([]float32, words*dim)
			for i := range rows {
				rows[i] = rand.Float32()
			}
			there := make([]float32, chunkValues*words*chunks(dim))
			for i := range there {
				there[i] = 1 // what lay there before
			}
			each := chunkValues * (1 + rand.IntN(2*words)) // values of a part
			for first := 0; first < len(there); first += each {
				n.cut(there[first:min(first+each, len(there))], first/chunkValues, rows, dim)
			}
			for range 10 {
				w, j := rand.IntN(words), rand.IntN(dim)
				if got := there[(j/chunkValues*words+n.number(w))*chunkValues+j%chunkValues]; got != rows[w*dim+j] {
					t.Fatalf("%d words, dimension %d: value %d of word %d is %v, want %v", words, dim, j, w, got, rows[w*dim+j])
				}
			}
			if last := dim % chunkValues; last > 0 {
				for w := range words {
					for j := last; j < chunkValues; j++ {
						if there[((chunks(dim)-1)*words+w)*chunkValues+j] != 0 {
							t.Fatalf("%d words, dimension %d: no zeros behind row %d", words, dim, w)
						}
					}
				}
			}
			back := make([]float32, len(rows))
			for first := 0; first < len(there); first += each {
				n.join(back, there[first:min(first+each, len(there))], first/chunkValues, dim)
			}
			if !slices.Equal(back, rows) {
				t.Errorf("%d words, dimension %d: rows do not come back", words, dim)
			}
			halved := make([]uint16, len(there))
			for i := range halved {
				halved[i] = 1
			}
			for first := 0; first < len(there); first += each {
				part := halved[first:min(first+each, len(there))]
				n.cutHalf(part, first/chunkValues, rows, dim)
				n.joinHalf(back, part, first/chunkValues, dim)
			}
			for i, x := range there {
				if halved[i] != half(x) {
					t.Fatalf("%d words, dimension %d: value %d is %v as half, want %v", words, dim, i, halved[i], half(x))
				}
			}
			for i, x := range rows {
				if back[i] != float(half(x)) {
					t.Fatalf("%d words, dimension %d: value %d comes back as %v, want %v", words, dim, i, back[i], float(half(x)))
				}
			}
		}
	}
}

// Of 200 million words of 128 values, too, every word has a number of its own, and all chunks have their places.
func TestManyNumbers(t *testing.T) {
	const words, dim = 200_000_000, 128
	n := newNumbers(words)
	if divisor(int(n.successor), words) != 1 {
		t.Errorf("%d words, %d from word to word: they have a common divisor", words, n.successor)
	}
	if values := n.values(dim); values != words*dim {
		t.Errorf("a table has %d values, want %d", values, words*dim)
	}
	for range 1000 {
		if w := rand.IntN(words); n.word(n.number(w)) != w {
			t.Fatalf("word %d has number %d, which is word %d", w, n.number(w), n.word(n.number(w)))
		}
	}
	const cells = 40
	for _, cell := range []int{0, words - 7, 2*words - 1, 3*words + rand.IntN(words-cells), 4*words - cells} {
		next := 0
		n.each(dim, cells*chunkValues, cell, func(row, at, values int) {
			chunk, number := (cell+next)/words, (cell+next)%words
			if want := n.word(number)*dim + chunk*chunkValues; row != want || at != next*chunkValues || values != chunkValues {
				t.Fatalf("cell %d: %d values from %d at %d, want those from %d at %d", cell+next, values, row, at, want, next*chunkValues)
			}
			next++
		})
		if next != cells {
			t.Errorf("%d cells from %d on, want %d", next, cell, cells)
		}
	}
}
