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
		vectors, counts := make([]float32, len(words)*dim), make([]uint64, len(words))
		for v := range counts {
			counts[v] = 1 << r.IntN(20)
			for i := range dim {
				vectors[v*dim+i] = float32(r.NormFloat64()) + 3 + float32(v%7)*float32(math.Log(float64(counts[v])))
			}
		}
		const ridge = .02
		fit := func(threads int, enough float64) (*NGrams, []float32) {
			e, err := NewNGrams(words, NGramOptions{Dim: dim, Shortest: 1, Longest: 3, Buckets: 90})
			if err != nil {
				t.Fatal(err)
			}
			once, err := e.fit(vectors, counts, ridge, threads, enough)
			if err != nil {
				t.Fatal(err)
			}
			return e, once
		}
		e, once := fit(1, 1e-12)
		start, want := ridgeByElimination(e, words, vectors, counts, dim, ridge)
		for i, x := range once {
			if w := start[i]; math.Abs(float64(x)-w) > 2e-3*(1+math.Abs(w)) {
				t.Fatalf("dim %d: value %d of a word that occurs once is %v, want %v", dim, i, x, w)
			}
		}
		for bucket, row := range e.rows {
			for i, x := range e.row(int(row)) {
				if w := want[bucket][i]; math.Abs(float64(x)-w) > 2e-3*(1+math.Abs(w)) {
					t.Fatalf("dim %d: value %d of bucket %d is %v, want %v", dim, i, bucket, x, w)
				}
			}
		}
		quick, _ := fit(2, fitEnough)
		var off, size float64
		for i, x := range e.words.Parts {
			off, size = off+math.Pow(float64(x-quick.words.Parts[i]), 2), size+float64(x)*float64(x)
		}
		if off > 5e-3*size {
			t.Errorf("dim %d: what Fit takes for enough is off by %v of %v", dim, off, size)
		}
		for _, threads := range []int{2, 5} {
			if again, m := fit(threads, 1e-12); !slices.Equal(again.words.Parts, e.words.Parts) || !slices.Equal(m, once) {
				t.Errorf("dim %d: %d threads give other bits", dim, threads)
			}
		}
	}
}

// ridgeByElimination solves the normal equations in float64, with a row for each bucket, and two for the line of counts.
func ridgeByElimination(e *NGrams, words []string, vectors []float32, counts []uint64, dim int, ridge float64) (once []float64, z map[uint32][]float64) {
	at, buckets := map[uint32]int{}, []uint32{}
	for bucket := range e.rows {
		at[bucket] = len(buckets)
		buckets = append(buckets, bucket)
	}
	n := len(buckets) + 2
	start, slope := n-2, n-1
	a := make([][]float64, n) // with the right sides
	for i := range a {
		a[i] = make([]float64, n+dim)
	}
	for i, bucket := range buckets {
		has := 0
		for _, word := range words {
			if slices.Contains(e.buckets(word), bucket) {
				has++
			}
		}
		a[i][i] = ridge * math.Sqrt(float64(has))
	}
	a[slope][slope] = slopeRidge * float64(len(words))
	for v, word := range words {
		row, of := make([]float64, n), e.buckets(word)
		row[start], row[slope] = 1, math.Log(float64(counts[v]))
		for _, x := range of {
			row[at[x]] += 1 / float64(len(of))
		}
		for x, fx := range row {
			if fx == 0 {
				continue
			}
			for y, fy := range row {
				a[x][y] += fx * fy
			}
			for i := range dim {
				a[x][n+i] += fx * float64(vectors[v*dim+i])
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
	z = map[uint32][]float64{}
	for i := range a {
		for j := range dim {
			a[i][n+j] /= a[i][i]
		}
		if i < start {
			z[buckets[i]] = a[i][n:]
		}
	}
	return a[start][n:], z
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
		if fitPieces(len(e.words.Sizes)) < 3 {
			t.Fatalf("%d rows are too few", len(e.words.Sizes))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Fit(vectors, slices.Repeat([]uint64{7}, len(words)), .02, threads); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		need, took := e.FitBytes()-memory.SizeOf(len(e.words.Sizes)*dim), int64(after.TotalAlloc-before.TotalAlloc)
		if took > need+need/10+1<<16 {
			t.Errorf("%d threads: the fit took %d bytes beside its table, not %d", threads, took, need)
		}
		if want == nil {
			want = e.words.Parts
		} else if !slices.Equal(e.words.Parts, want) {
			t.Errorf("%d threads give other bits", threads)
		}
	}
}

func TestFitErrors(t *testing.T) {
	for _, x := range []struct {
		scale  float32
		values int
		counts int
		ridge  float64
	}{{.7, 6, 2, 1}, {1, 5, 2, 1}, {1, 6, 1, 1}, {1, 6, 2, 0}, {1, 6, 2, math.NaN()}} {
		e, err := NewNGrams([]string{"ab", "cd"}, NGramOptions{Dim: 3, Scale: x.scale})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Fit(make([]float32, x.values), make([]uint64, x.counts), x.ridge, 1); err == nil {
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
	own, err := NewNGrams(words, NGramOptions{Dim: 3, Shortest: 1, Longest: 2, Buckets: 40, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	own.words.Parts = grams.words.Parts
	before := slices.Clone(grams.words.Parts)
	for name, e := range map[string]Trained{"n-grams": grams, "and words": own} {
		fit, err := NewFit(words, 3, e)
		if err != nil {
			t.Fatal(err)
		}
		if fit.Shape() != grams.Shape() || fit.words.Own != nil || !slices.Equal(fit.words.Symbols, grams.words.Symbols) {
			t.Errorf("%s: other n-grams, or lists of their own: %+v", name, fit.Shape())
		}
		if _, err := fit.Fit([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, []uint64{4, 3, 2, 1}, .1, 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(grams.words.Parts, before) || slices.Equal(fit.words.Parts, before) {
			t.Errorf("%s: the table of the encoder was changed, or is the one that was fitted", name)
		}
	}
	if fit, err := NewFit(words, 3, nil); err != nil || fit.Shape().Shortest != 3 || fit.Shape().Longest != 6 {
		t.Errorf("n-grams %+v, error %v", fit.Shape(), err)
	}
}

// Words that occur equally often are fitted whatever their counts are, and one that does not occur counts as one that does once.
// A vocabulary of one word is fitted by its own vector.
func TestFitWithoutALine(t *testing.T) {
	words, vectors := []string{"word", "dog", "cat"}, []float32{3, -4, 5, -2, 4, -9}
	var want []float32
	for _, counts := range [][]uint64{{1, 1, 1}, {7, 7, 7}, {0, 1, 0}, {1 << 40, 1 << 40, 1 << 40}, {9}} {
		e, err := NewFit(words[:len(counts)], 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Fit(vectors[:2*len(counts)], counts, .02, 2)
		if err != nil {
			t.Fatal(err)
		}
		switch all := slices.Concat(got, e.words.Parts); {
		case len(counts) == 1 && !slices.Equal(got, []float32{3, -4}):
			t.Errorf("one word: %v", got)
		case want == nil:
			want = all
		case len(counts) == 3 && !slices.Equal(all, want):
			t.Errorf("counts %v: %v, want %v", counts, all, want)
		}
	}
}
