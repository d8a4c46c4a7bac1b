package subword

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A leaning has n-grams that are fitted to directions, and the vectors that its definition gives bucket by bucket.
func TestLeaning(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9))
	for _, dim := range []int{1, 16, 37} {
		words, counts := []string{"a", "", "banana", "bananas", "ananas", "xyz"}, []uint64{0, 1, leanCount, 1 << 40, 7, 7}
		for i := range 30 {
			word := fmt.Sprint(i)
			for range r.IntN(6) {
				word += string(rune('a' + r.IntN(3)))
			}
			words, counts = append(words, word), append(counts, 1<<r.IntN(12))
		}
		vectors := make([]float32, len(words)*dim) // the first stays zero
		for i := dim; i < len(vectors); i++ {
			vectors[i] = float32(r.NormFloat64()+1) * float32(1+i/dim)
		}
		made := func() *NGrams {
			e, err := NewNGrams(words, NGramOptions{Dim: dim, Shortest: 1, Longest: 3, Buckets: 200, Mean: 1})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		lengths, mean := make([]float64, len(words)), 0.0
		for v := range words {
			for _, x := range vectors[v*dim:][:dim] {
				lengths[v] += float64(x) * float64(x)
			}
			lengths[v] = math.Sqrt(lengths[v])
			mean += lengths[v] / float64(len(words))
		}
		directions := slices.Clone(vectors)
		for v := range lengths {
			if lengths[v] /= mean; v == 0 {
				lengths[v] = 1
			}
			for i := range dim {
				directions[v*dim+i] /= float32(lengths[v])
			}
		}
		want, e := made(), made()
		once, err := want.Fit(directions, counts, .02, 1)
		if err != nil {
			t.Fatal(err)
		}
		l, err := e.FitLeaning(vectors, counts, .02, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !near(l.Once, once) || !near(e.table.Float32s(), want.table.Float32s()) {
			t.Fatalf("dim %d: the directions are fitted otherwise", dim)
		}
		holders := map[uint32]map[int]bool{}
		for v, word := range words {
			for _, bucket := range e.buckets(word) {
				if holders[bucket] == nil {
					holders[bucket] = map[int]bool{}
				}
				holders[bucket][v] = true
			}
		}
		alone := 0
		for v, word := range words {
			buckets, got := e.buckets(word), l.Vector(v, make([]float32, dim))
			for i := range dim {
				spelling := float64(l.Once[i])
				for _, bucket := range buckets {
					if len(holders[bucket]) == 1 {
						alone++
						continue
					}
					spelling += float64(e.row(int(e.rows[bucket]))[i]) / float64(len(buckets))
				}
				n := float64(counts[v])
				w := (n*float64(vectors[v*dim+i]) + leanCount*spelling*lengths[v]) / (n + leanCount)
				if math.Abs(float64(got[i])-w) > 1e-4*(1+math.Abs(w)) {
					t.Fatalf("dim %d: value %d of %q is %v, want %v", dim, i, word, got[i], w)
				}
			}
		}
		if alone == 0 || alone == len(e.vocabulary.symbols)*dim {
			t.Errorf("dim %d: %d n-grams are those of one word alone", dim, alone/dim)
		}
	}
}

// near compares fits of values that were rounded otherwise.
func near(x, y []float32) bool {
	return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-3*(1+math.Abs(float64(b))) })
}

func TestLeaningErrors(t *testing.T) {
	e, err := NewNGrams([]string{"ab", "cd"}, NGramOptions{Dim: 3, Mean: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []int{5, 9} {
		if _, err := e.FitLeaning(make([]float32, values), make([]uint64, 2), .02, 1); err == nil {
			t.Errorf("%d values: no error", values)
		}
	}
}
