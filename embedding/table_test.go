package embedding

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
)

func TestNewTableErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		words   []string
		dim     int
		vectors []float32
		want    string
	}{
		"no words":           {nil, 2, nil, "at least one word"},
		"dimension 0":        {[]string{"a"}, 0, nil, "dimension 0"},
		"negative dimension": {[]string{"a"}, -1, []float32{1}, "dimension -1"},
		"huge dimension":     {[]string{"a"}, maxDim + 1, nil, "dimension 1048577"},
		"too few values":     {[]string{"a", "b"}, 2, []float32{1, 2, 3}, "3 values do not make 2 vectors of dimension 2"},
		"too many rows":      {[]string{"a"}, 2, []float32{1, 2, 3, 4}, "4 values do not make 1 vectors"},
		"empty word":         {[]string{"a", ""}, 1, []float32{1, 2}, "word 2 is empty"},
		"not UTF-8":          {[]string{"a\xff"}, 1, []float32{1}, `word 1 ("a\xff") is not valid UTF-8`},
		"repeated word":      {[]string{"a", "b", "a"}, 1, []float32{1, 2, 3}, `word "a" occurs twice: it is word 1 and word 3`},
		"NaN":                {[]string{"a", "b"}, 2, []float32{1, 2, 3, nan}, `value 2 of the vector of word 2 ("b") is NaN`},
		"infinity":           {[]string{"a"}, 1, []float32{inf}, "is -Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := NewTable(c.words, c.dim, c.vectors)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an error with %q", table, err, c.want)
			}
		})
	}
}

func TestNormalized(t *testing.T) {
	// 3-4-5 triangles; rows whose squares are beyond float32; a row of zeros.
	table := mustTable(t, []string{"a", "b", "c", "zero"}, 2, []float32{3, -4, 3e30, 4e30, 3e-30, 4e-30, 0, 0})
	want := []float32{0.6, -0.8, 0.6, 0.8, 0.6, 0.8, 0, 0}
	for i, got := range table.Normalized() {
		if math.Abs(float64(got-want[i])) > 1e-7 {
			t.Errorf("value %d is %v, want %v", i, got, want[i])
		}
	}
	if table.Vectors[0] != 3 {
		t.Error("Normalized changed the table")
	}
}

// TestDistinctTable: a table without an index is the same, makes it when a word is looked up, and names the first value that is not finite.
func TestDistinctTable(t *testing.T) {
	words, values := make([]string, 3000), make([]float32, 3000*1000)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	for i := range values {
		values[i] = float32(i % 97)
	}
	table, err := NewDistinctTable(words, 1000, values)
	if err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			if row, ok := table.Index(fmt.Sprint("w", 300*i)); !ok || row != 300*i {
				t.Errorf("w%d is row %d, %t", 300*i, row, ok)
			}
		})
	}
	working.Wait()
	if _, ok := table.Index("x"); ok {
		t.Error("x is there")
	}
	for _, i := range []int{2_999_999, 1_500_000, 1_499_999, 0} {
		values[i] = float32(math.Inf(1))
		if _, err := NewDistinctTable(words, 1000, values); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), fmt.Sprintf("value %d of the vector of word %d ", i%1000+1, i/1000+1)) {
			t.Errorf("value %d: %v", i, err)
		}
	}
}
