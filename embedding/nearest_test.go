package embedding

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// normalTable returns a table of normally distributed values. Every eighth row
// repeats an earlier one, so that there are ties.
func normalTable(t testing.TB, words, dim int) *Table {
	random := rand.New(rand.NewPCG(uint64(words), uint64(dim)))
	names := make([]string, words)
	values := make([]float32, words*dim)
	for i := range names {
		names[i] = fmt.Sprint(i)
		row := values[i*dim : (i+1)*dim]
		if i%8 == 7 {
			copy(row, values[random.IntN(i)*dim:])
			continue
		}
		for k := range row {
			row[k] = float32(random.NormFloat64())
		}
	}
	return mustTable(t, names, dim, values)
}

// naiveNearest follows the definition: it sorts all dot products with the normalized
// rows.
func naiveNearest(t *Table, query []float32, k int, exclude []int) []Neighbor {
	normalized := slices.Clone(query)
	normalize(normalized)
	var all []Neighbor
	for i, word := range t.Words {
		if slices.Contains(exclude, i) {
			continue
		}
		var sum float32
		for d, x := range t.Normalized()[i*t.Dim : (i+1)*t.Dim] {
			sum += normalized[d] * x
		}
		all = append(all, Neighbor{i, word, sum})
	}
	slices.SortStableFunc(all, func(a, b Neighbor) int { // stable: ties by row
		switch {
		case a.Cosine > b.Cosine:
			return -1
		case a.Cosine < b.Cosine:
			return 1
		}
		return 0
	})
	return all[:min(k, len(all))]
}

func TestNearestAgainstNaive(t *testing.T) {
	for _, words := range []int{1, 2, 3, 5, rowBlock - 1, rowBlock, rowBlock + 1, 2*rowBlock + 7} {
		for _, dim := range []int{1, 2, 17} {
			table := normalTable(t, words, dim)
			for _, count := range []int{0, 1, 4, queryBlock + 3} {
				random := rand.New(rand.NewPCG(uint64(count), 1))
				queries, exclude := make([][]float32, count), make([][]int, count)
				for q := range queries {
					queries[q] = slices.Clone(table.Vector(random.IntN(words)))
					if q%2 == 0 {
						queries[q][0] += 0.5
					}
					exclude[q] = []int{random.IntN(words), random.IntN(words)}[:q%3]
				}
				for _, k := range []int{1, 10, words + 5} {
					got, err := table.Nearest(context.Background(), queries, k, exclude...)
					if err != nil {
						t.Fatal(err)
					}
					for q := range queries {
						compare(t, got[q], naiveNearest(table, queries[q], k, exclude[q]), fmt.Sprintf("V %d N %d, query %d of %d, k %d", words, dim, q, count, k))
					}
				}
			}
		}
	}
}

// compare allows another last bit, because a compiler may fuse multiply and add in
// only one of the loops. Then neighbours may change places.
func compare(t *testing.T, got, want []Neighbor, where string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d neighbours, want %d", where, len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i].Cosine-want[i].Cosine)) > 1e-6 {
			t.Fatalf("%s: neighbour %d is %v, want %v", where, i, got[i], want[i])
		}
		if runtime.GOARCH == "amd64" && got[i] != want[i] {
			t.Fatalf("%s: neighbour %d is %v, want %v", where, i, got[i], want[i])
		}
	}
}

func TestNearestDoesNotDependOnProcessors(t *testing.T) {
	table := normalTable(t, 5*rowBlock, 16)
	var queries [][]float32
	for i := range 100 {
		queries = append(queries, table.Vector(i))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, err := table.Nearest(context.Background(), queries, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(processors)
		if got, err := table.Nearest(context.Background(), queries, 20); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d processors give another answer, error %v", processors, err)
		}
	}
}

func TestNearestTies(t *testing.T) {
	// Powers of two, so that normalized rows have equal bits.
	table := mustTable(t, []string{"a", "b", "c", "d", "zero"}, 2, []float32{0, 2, 4, 0, 1, 0, 2, 0, 0, 0})
	got, err := table.Nearest(context.Background(), [][]float32{{8, 0}, {0, 0}}, 3, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Neighbor{
		{{1, "b", 1}, {3, "d", 1}, {0, "a", 0}},
		{{0, "a", 0}, {1, "b", 0}, {2, "c", 0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	words, err := table.NearestWords(context.Background(), []int{1}, 2)
	if err != nil || !reflect.DeepEqual(words, [][]Neighbor{{{2, "c", 1}, {3, "d", 1}}}) {
		t.Errorf("NearestWords: got %v, %v", words, err)
	}
}

func TestNearestErrors(t *testing.T) {
	table := normalTable(t, 3, 2)
	ctx := context.Background()
	good := [][]float32{{1, 2}}
	for name, call := range map[string]func() error{
		"k 0":                func() error { _, err := table.Nearest(ctx, good, 0); return err },
		"another dimension":  func() error { _, err := table.Nearest(ctx, [][]float32{{1}}, 1); return err },
		"NaN":                func() error { _, err := table.Nearest(ctx, [][]float32{{1, float32(math.NaN())}}, 1); return err },
		"too many exclusion": func() error { _, err := table.Nearest(ctx, good, 1, nil, nil); return err },
		"row outside":        func() error { _, err := table.NearestWords(ctx, []int{3}, 1); return err },
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := table.Nearest(ctx, good, 1)
			return err
		},
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(random.IntN(9) - 4) // sums are exact
		}
		return v
	}
	for _, dim := range []int{1, 3, 4, 17} {
		for count := range 6 {
			for rows := range 10 {
				a, b := fill(count*dim), fill(rows*dim)
				const guard = 12345
				dst := slices.Repeat([]float32{guard}, count*rows+1)
				products(dst[:count*rows], a, b, dim)
				for q := range count {
					for r := range rows {
						var want float32
						for k := range dim {
							want += a[q*dim+k] * b[r*dim+k]
						}
						if got := dst[q*rows+r]; got != want {
							t.Fatalf("N %d, %dx%d: product %d,%d is %v, want %v", dim, count, rows, q, r, got, want)
						}
					}
				}
				if dst[count*rows] != guard {
					t.Fatalf("N %d, %dx%d: products wrote behind the end", dim, count, rows)
				}
			}
		}
	}
}
