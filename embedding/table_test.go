package embedding

import (
	"math"
	"strings"
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
