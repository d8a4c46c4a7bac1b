package corpus

import (
	"math"
	"strings"
	"testing"
)

func zipf(n int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1e9 / float64(i+1)
	}
	return weights
}

var aliasTests = []struct {
	name    string
	weights []float64
}{
	{"one", []float64{3}},
	{"two", []float64{1, 3}},
	{"equal", []float64{2, 2, 2, 2, 2}},
	{"zeros", []float64{0, 1, 0, 0, 2, 0}},
	{"one of many", []float64{0, 0, 0, 7, 0}},
	{"rising", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
	{"thirds", []float64{1. / 3, 1. / 3, 1. / 3}},
	{"largest floats", []float64{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64 / 2}},
	{"smallest floats", []float64{5e-324, 1e-323, 5e-324}},
	{"far apart", []float64{1e300, 1, 1e-300}},
	{"Zipf", zipf(1000)},
	{"Zipf, many", zipf(100_000)},
}

// The cells hold exactly the share of each weight.
func TestAliasTable(t *testing.T) {
	for _, test := range aliasTests {
		t.Run(test.name, func(t *testing.T) {
			a, err := NewAlias(test.weights)
			if err != nil {
				t.Fatal(err)
			}
			n := len(test.weights)
			if a.Len() != n {
				t.Fatalf("length %d, want %d", a.Len(), n)
			}
			share := make([]uint64, n)
			for i, c := range a.cells {
				share[i] += uint64(c.accept)
				share[c.other] += 1<<32 - uint64(c.accept)
			}
			var largest, sum float64
			for _, w := range test.weights {
				largest = max(largest, w)
			}
			for _, w := range test.weights {
				sum += w / largest
			}
			for i, w := range test.weights {
				exact := w / largest / sum * float64(n) * (1 << 32)
				tolerance := 1.0 // in units of 1/(n·2^32) of the sum
				if w == largest {
					tolerance = float64(n) // takes up the rounding of the others
				}
				if math.Abs(float64(share[i])-exact) > tolerance+exact*1e-14 {
					t.Errorf("weight %d, %g, has %d parts, want %.1f", i, w, share[i], exact)
				}
				if w == 0 && share[i] != 0 {
					t.Errorf("weight %d is zero but has %d parts", i, share[i])
				}
			}
		})
	}
}

// Draw is a contract with the devices: cell bits·n >> 32, its own number if the
// lower 32 bits are below accept.
func TestAliasDrawBits(t *testing.T) {
	a, err := NewAlias([]float64{1, 3}) // cell 0: 50% itself, 50% number 1
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ bits, want uint32 }{
		{0, 0}, {1<<30 - 1, 0}, {1 << 30, 1}, {1<<31 - 1, 1}, {1 << 31, 1}, {1<<32 - 1, 1},
	} {
		if got := a.Draw(test.bits); got != test.want {
			t.Errorf("Draw(%#x) = %d, want %d", test.bits, got, test.want)
		}
	}
}

func TestNewAliasErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		weights []float64
		message string
	}{
		{"none", nil, "no weights"},
		{"zeros", []float64{0, 0}, "all 2 weights are zero"},
		{"negative", []float64{1, -1}, "weight 1 is -1"},
		{"NaN", []float64{math.NaN(), 1}, "weight 0 is NaN"},
		{"infinite", []float64{1, 2, math.Inf(1)}, "weight 2 is +Inf"},
	} {
		if _, err := NewAlias(test.weights); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.message)
		}
	}
}
