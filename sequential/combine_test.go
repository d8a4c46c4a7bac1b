package sequential_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/sequential"
)

func add(rule sequential.Rule, row []float32, changes ...[]float32) []float32 {
	row = slices.Clone(row)
	sequential.Combine(rule, row, changes)
	return row
}

// What each rule makes of changes that are easy to see.
func TestRules(t *testing.T) {
	row := []float32{8, 16}
	right, up, none := []float32{4, 0}, []float32{0, 2}, []float32{0, 0}
	for _, x := range []struct {
		rule    sequential.Rule
		changes [][]float32
		want    []float32
	}{
		{sequential.Touched, [][]float32{right, nil}, []float32{12, 16}},
		{sequential.Touched, [][]float32{none, right, nil, up}, []float32{10, 17}},
		{sequential.Mean, [][]float32{right, nil}, []float32{10, 16}},
		{sequential.Sum, [][]float32{right, right, up}, []float32{16, 18}},
		{sequential.Adasum, [][]float32{right, up}, []float32{12, 18}},    // orthogonal: the sum
		{sequential.Adasum, [][]float32{right, right}, []float32{12, 16}}, // parallel: the mean
		{sequential.Adasum, [][]float32{right, nil, up, nil}, []float32{12, 18}},
		{sequential.Adasum, [][]float32{right, right, right, right}, []float32{12, 16}},
		{sequential.Adasum, [][]float32{right, right, right}, []float32{12, 16}}, // of any number
		{sequential.Adasum, [][]float32{nil, none}, row},
	} {
		if got := add(x.rule, row, x.changes...); !slices.Equal(got, x.want) {
			t.Errorf("%s of %v: %v, want %v", x.rule, x.changes, got, x.want)
		}
	}
}

// A change that rounding left does not count as one.
func TestNegligible(t *testing.T) {
	row := []float32{1, -2, 3}
	tiny := []float32{1e-7, 1e-7, -1e-7}
	if got := add(sequential.Touched, row, tiny, []float32{1, 1, 1}); got[0] != 2 {
		t.Errorf("%v: a change of rounding has halved another", got)
	}
}

// Adasum of two is what the paper says, and that of more the same of pairs.
func TestAdasum(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, dim := range []int{1, 2, 31, 128, 300} {
		for _, trainers := range []int{1, 2, 3, 4, 5, 8} {
			if dim < 31 && trainers > 2 {
				continue // sums of changes may cancel: see TestCancelled
			}
			var changes [][]float32
			var list [][]float64
			for range trainers {
				d, e := make([]float32, dim), make([]float64, dim)
				for i := range d {
					d[i] = float32(r.NormFloat64() + .5)
					e[i] = float64(d[i])
				}
				changes, list = append(changes, d), append(list, e)
			}
			for len(list) > 1 {
				var next [][]float64
				for i := 0; i < len(list); i += 2 {
					if i+1 == len(list) {
						next = append(next, list[i])
					} else {
						next = append(next, pair(list[i], list[i+1]))
					}
				}
				list = next
			}
			got := add(sequential.Adasum, make([]float32, dim), changes...)
			for i, want := range list[0] {
				if math.Abs(float64(got[i])-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("%d trainers, %d dimensions, value %d: %v, want %v", trainers, dim, i, got[i], want)
				}
			}
		}
	}
}

// Changes that cancel each other leave no direction to divide by.
func TestCancelled(t *testing.T) {
	d := []float32{1, 2, 3}
	e := []float32{-1, -2, -3 - 1e-6}
	if got := add(sequential.Adasum, make([]float32, 3), d, e, d, d); !(math.Abs(float64(got[0])-1) < .01) {
		t.Errorf("%v, want %v", got, d)
	}
}

func pair(a, b []float64) []float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	to := make([]float64, len(a))
	for i := range a {
		to[i] = (1-ab/(2*aa))*a[i] + (1-ab/(2*bb))*b[i]
	}
	return to
}

// TestHotRows: every second combination has twice the rows, every fourth four times, and one that stands for several has the most of them.
func TestHotRows(t *testing.T) {
	o := sequential.Sync{Hot: 10, Doubles: true}
	for i, want := range []int{10, 20, 10, 40, 10, 20, 10, 80, 10} {
		if got := o.HotRows(i, i+1); got != want {
			t.Errorf("combination %d: %d rows, want %d", i+1, got, want)
		}
	}
	for _, x := range []struct{ before, after, want int }{{0, 3, 20}, {4, 7, 20}, {3, 9, 80}, {5, 5, 0}, {4, 5, 10}, {0, 1 << 40, 10 << 30}} {
		if got := o.HotRows(x.before, x.after); got != x.want {
			t.Errorf("combinations after %d up to %d: %d rows, want %d", x.before, x.after, got, x.want)
		}
	}
	if o.Doubles = false; o.HotRows(7, 8) != 10 || o.HotRows(8, 8) != 0 {
		t.Error("without Doubles all combinations have the same rows")
	}
}
