package subword

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A fit has the vectors that the normal equations of ridge regression give, with an unknown for each n-gram, though here n-grams
// of the same words share one; and it has the same bits for any number of threads.
func TestFit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	for _, dim := range []int{1, 16, 37} {
		words := []string{"a", "", "banana", "bananas", "ananas"}
		for i := range 40 {
			word := fmt.Sprint(i)
			for range r.IntN(6) {
				word += string(rune('a' + r.IntN(3)))
			}
			words = append(words, word)
		}
		vectors := make([]float32, len(words)*dim)
		for i := range vectors {
			vectors[i] = float32(r.NormFloat64()) + 3
		}
		const ridge = .02
		fit := func(threads int, enough float64) (*NGrams, []float32) {
			e, err := NewNGrams(words, NGramOptions{Dim: dim, Shortest: 1, Longest: 3, Buckets: 90, Mean: 1})
			if err != nil {
				t.Fatal(err)
			}
			mean, err := e.fit(vectors, ridge, threads, enough)
			if err != nil {
				t.Fatal(err)
			}
			return e, mean
		}
		e, mean := fit(1, 1e-12)
		want := ridgeByElimination(e, words, vectors, mean, ridge)
		for bucket, row := range e.rows {
			for i, x := range e.row(int(row)) {
				if w := want[bucket][i]; math.Abs(float64(x)-w) > 2e-3*(1+math.Abs(w)) {
					t.Fatalf("dim %d: value %d of bucket %d is %v, want %v", dim, i, bucket, x, w)
				}
			}
		}
		quick, _ := fit(2, fitEnough)
		var off, size float64
		for i, x := range e.table.Float32s() {
			off, size = off+math.Pow(float64(x-quick.table.Float32s()[i]), 2), size+float64(x)*float64(x)
		}
		if off > 5e-3*size {
			t.Errorf("dim %d: what Fit takes for enough is off by %v of %v", dim, off, size)
		}
		for _, threads := range []int{2, 5} {
			if again, m := fit(threads, 1e-12); !slices.Equal(again.table.Float32s(), e.table.Float32s()) || !slices.Equal(m, mean) {
				t.Errorf("dim %d: %d threads give other bits", dim, threads)
			}
		}
	}
}

// ridgeByElimination solves the normal equations in float64, with a row for each bucket.
func ridgeByElimination(e *NGrams, words []string, vectors, mean []float32, ridge float64) map[uint32][]float64 {
	dim, at, buckets := len(mean), map[uint32]int{}, []uint32{}
	for bucket := range e.rows {
		at[bucket] = len(buckets)
		buckets = append(buckets, bucket)
	}
	n := len(buckets)
	a := make([][]float64, n) // with the right sides
	for i := range a {
		a[i] = make([]float64, n+dim)
		a[i][i] = ridge
	}
	for v, word := range words {
		of := e.buckets(word)
		for _, x := range of {
			for _, y := range of {
				a[at[x]][at[y]] += 1 / float64(len(of)*len(of))
			}
			for i := range dim {
				a[at[x]][n+i] += float64(vectors[v*dim+i]-mean[i]) / float64(len(of))
			}
		}
	}
	for i := range n { // the matrix is positive definite: no pivots
		for k := range n {
			if k == i {
				continue
			}
			f := a[k][i] / a[i][i]
			for j := i; j < n+dim; j++ {
				a[k][j] -= f * a[i][j]
			}
		}
	}
	z := map[uint32][]float64{}
	for i, bucket := range buckets {
		z[bucket] = a[i][n:]
		for j := range z[bucket] {
			z[bucket][j] /= a[i][i]
		}
	}
	return z
}

// All threads share the memory of a fit, which is what FitBytes says, and n-grams of several pieces have the same bits for any
// number of threads.
func TestFitOnManyThreads(t *testing.T) {
	const dim = 8 * regressColumns
	r := rand.New(rand.NewPCG(5, 7))
	words := make([]string, 1200)
	for i := range words {
		words[i] = strconv.FormatUint(r.Uint64()>>34, 36)
	}
	vectors := make([]float32, len(words)*dim)
	for i := range vectors {
		vectors[i] = float32(r.NormFloat64())
	}
	var want []float32
	for _, threads := range []int{1, 8} {
		e, err := NewFit(words, dim, nil)
		if err != nil {
			t.Fatal(err)
		}
		if fitPieces(len(e.sizes)) < 3 {
			t.Fatalf("%d rows are too few", len(e.sizes))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Fit(vectors, .02, threads); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		need, took := e.FitBytes()-memory.SizeOf(len(e.sizes)*dim), int64(after.TotalAlloc-before.TotalAlloc)
		if took < need*9/10 || took > need+need/10+1<<16 {
			t.Errorf("%d threads: the fit took %d bytes beside its table, not %d", threads, took, need)
		}
		if want == nil {
			want = e.table.Float32s()
		} else if !slices.Equal(e.table.Float32s(), want) {
			t.Errorf("%d threads give other bits", threads)
		}
	}
}

func TestFitErrors(t *testing.T) {
	for _, x := range []struct {
		mean   float32
		values int
		ridge  float64
	}{{0, 6, 1}, {1, 5, 1}, {1, 6, 0}, {1, 6, math.NaN()}} {
		e, err := NewNGrams([]string{"ab", "cd"}, NGramOptions{Dim: 3, Mean: x.mean})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Fit(make([]float32, x.values), x.ridge, 1); err == nil {
			t.Errorf("%+v: no error", x)
		}
	}
}

// Words that are composed of n-grams are fitted with the same ones, others with those of fastText's lengths; the encoder
// stays as it is.
func TestNewFit(t *testing.T) {
	words := []string{"banana", "bananas", "ananas", "an"}
	grams, err := NewNGrams(words, NGramOptions{Dim: 3, Shortest: 1, Longest: 2, Buckets: 40})
	if err != nil {
		t.Fatal(err)
	}
	grams.Randomize(1)
	before := slices.Clone(grams.table.Float32s())
	for name, e := range map[string]Encoder{"n-grams": grams, "and words": WithWords(grams)} {
		fit, err := NewFit(words, 3, e)
		if err != nil {
			t.Fatal(err)
		}
		if fit.shape() != grams.shape() || fit.vocabulary != grams.vocabulary {
			t.Errorf("%s: other n-grams, or lists of their own: %+v", name, fit.shape())
		}
		if _, err := fit.Fit([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, .1, 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(grams.table.Float32s(), before) || slices.Equal(fit.table.Float32s(), before) {
			t.Errorf("%s: the table of the encoder was changed, or is the one that was fitted", name)
		}
	}
	bag, err := NewBag(words, BagOptions{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]Encoder{"nothing": nil, "a bag": bag} {
		if fit, err := NewFit(words, 3, e); err != nil || fit.shape().Shortest != 3 || fit.shape().Longest != 6 {
			t.Errorf("%s: n-grams %+v, error %v", name, fit.shape(), err)
		}
	}
}

// A vocabulary of one word is fitted, by zeros around its own vector.
func TestFitOneWord(t *testing.T) {
	e, err := NewFit([]string{"word"}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if mean, err := e.Fit([]float32{3, -4}, .02, 2); err != nil || !slices.Equal(mean, []float32{3, -4}) || !finite(e.table.Float32s()) {
		t.Errorf("mean %v, rows %v, error %v", mean, e.table.Float32s(), err)
	}
}
