package evaluate_test

import (
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

func TestScipyCorrelations(t *testing.T) {
	var golden struct {
		Correlations []struct {
			X, Y              []float64
			Spearman, Pearson float64
		}
	}
	evaluatetest.Golden(t, "testdata/golden.json", &golden)
	for _, c := range golden.Correlations {
		evaluatetest.Near(t, "Spearman", evaluate.Spearman(c.X, c.Y), c.Spearman, 1e-12)
		evaluatetest.Near(t, "Pearson", evaluate.Pearson(c.X, c.Y), c.Pearson, 1e-12)
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct{ values, want []float64 }{
		{nil, []float64{}},
		{[]float64{7}, []float64{1}},
		{[]float64{3, 1, 2}, []float64{3, 1, 2}},
		{[]float64{2, 1, 2, 2}, []float64{3, 1, 3, 3}},
		{[]float64{1, 1}, []float64{1.5, 1.5}},
	} {
		if got := evaluate.Ranks(c.values); !slices.Equal(got, c.want) {
			t.Errorf("ranks(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	// numpy.quantile([1, 2, 4, 8], q)
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		evaluatetest.Near(t, "quantile", evaluate.Quantile([]float64{1, 2, 4, 8}, q), want, 1e-12)
	}
	evaluatetest.Near(t, "one value", evaluate.Quantile([]float64{5}, 0.3), 5, 0)
}
