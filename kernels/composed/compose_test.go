package composed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/simd"
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

// Gradient is the transpose of Compose: for any rows of parts and any gradients of words, the products of rows and gradients add
// up to the same, whether rows are composed or gradients are taken back. A part counts for each of its n-grams.
func TestGradientIsTranspose(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	const v, parts, n = 40, 9, 5
	c := &Composition{Dim: n, Starts: []uint32{0}, Parts: make([]float32, parts*n), Own: make([]float32, v*n), Sizes: make([]uint32, parts)}
	for g := range c.Sizes {
		c.Sizes[g] = 1 + r.Uint32N(3)
	}
	for range v {
		for range r.IntN(6) {
			c.Symbols = append(c.Symbols, r.Uint32N(parts))
		}
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	gradients, row := make([]float32, v*n), make([]float32, n)
	for _, x := range [][]float32{c.Parts, gradients} {
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	composer, forward, back := Composer{Composition: c, Uses: NewUses(c)}, 0.0, 0.0
	for w := range v {
		if composer.Uses.Trained[w] = r.IntN(3) > 0; composer.Uses.Trained[w] {
			composer.Compose(row, uint32(w), nil)
			forward += float64(simd.Dot(row, gradients[w*n:][:n]))
		}
	}
	for g := range parts {
		if composer.Gradient(row, g, gradients) {
			back += float64(c.Size(uint32(g)) * simd.Dot(row, c.Parts[g*n:][:n]))
		}
	}
	if math.Abs(forward-back) > 1e-4 {
		t.Errorf("composed %v, taken back %v", forward, back)
	}
}
