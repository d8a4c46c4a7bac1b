package seeds

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// tolerance is how far we may be from NumPy.
const tolerance = 1e-6

// from returns what loads tables that are in memory.
func from(tables []*embedding.Table) func(run int) (*embedding.Table, error) {
	return func(run int) (*embedding.Table, error) { return tables[run], nil }
}

// golden are results of testdata/make_golden.py.
type golden struct {
	Dim          int `json:"dim"`
	WordsPerBand int `json:"words_per_band"`
	Runs         []struct {
		Words   []string  `json:"words"`
		Vectors []float32 `json:"vectors"`
	} `json:"runs"`
	Common    []string `json:"common"`
	Stability struct {
		Words int          `json:"words"`
		All   [3]float64   `json:"all"`
		Bands [][3]float64 `json:"bands"`
		Least float64      `json:"least"`
		Most  float64      `json:"most"`
	} `json:"stability"`
	Cosines        []float64 `json:"cosines"`         // of the ensemble with the first word
	ReducedCosines []float64 `json:"reduced_cosines"` // the same of Dim dimensions
	Spreads        []struct {
		Values    []float64  `json:"values"`
		Mean      [3]float64 `json:"mean"`
		Deviation [3]float64 `json:"deviation"`
	} `json:"spreads"`
}

func readGolden(t *testing.T) (g golden, tables []*embedding.Table) {
	t.Helper()
	evaluatetest.Golden(t, filepath.Join("testdata", "golden.json"), &g)
	for _, run := range g.Runs {
		tables = append(tables, tableOf(t, run.Words, g.Dim, run.Vectors))
	}
	return g, tables
}

func tableOf(t *testing.T, words []string, dim int, vectors []float32) *embedding.Table {
	t.Helper()
	table, err := embedding.NewTable(words, dim, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func nearInterval(t *testing.T, what string, got evaluate.Interval, want [3]float64) {
	t.Helper()
	for i, x := range []evaluate.Score{got.Value, got.Low, got.High} {
		evaluatetest.Near(t, what+[]string{"", ", low", ", high"}[i], float64(x), want[i], tolerance)
	}
}

// TestGoldenStability: the overlaps are those that NumPy finds.
func TestGoldenStability(t *testing.T) {
	g, tables := readGolden(t)
	s, err := compare(t.Context(), len(tables), from(tables), g.WordsPerBand)
	if err != nil {
		t.Fatal(err)
	}
	if s.Runs != len(g.Runs) || s.Words != g.Stability.Words || s.Neighbors != 10 || len(s.Bands) != len(g.Stability.Bands) {
		t.Errorf("%+v", s)
	}
	nearInterval(t, "all", s.All.Overlap, g.Stability.All)
	for b, want := range g.Stability.Bands {
		nearInterval(t, "band", s.Bands[b].Overlap, want)
	}
	evaluatetest.Near(t, "least", float64(s.LeastOfRuns), g.Stability.Least, tolerance)
	evaluatetest.Near(t, "most", float64(s.MostOfRuns), g.Stability.Most, tolerance)
}

// TestGoldenEnsemble: the cosines are those of NumPy, of all dimensions and of fewer.
func TestGoldenEnsemble(t *testing.T) {
	g, tables := readGolden(t)
	for _, test := range []struct {
		dim, got int
		cosines  []float64
	}{{0, len(tables) * g.Dim, g.Cosines}, {len(tables) * g.Dim, len(tables) * g.Dim, g.Cosines}, {g.Dim, g.Dim, g.ReducedCosines}} {
		joined, err := Ensemble(t.Context(), tables, test.dim)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(joined.Words, g.Common) || joined.Dim != test.got {
			t.Fatalf("%d words of dimension %d", joined.Len(), joined.Dim)
		}
		for i, want := range test.cosines {
			evaluatetest.Near(t, joined.Words[i], evaluate.Cosine(joined.Vector(0), joined.Vector(i)), want, tolerance)
		}
	}
}

func TestGoldenSpread(t *testing.T) {
	g, _ := readGolden(t)
	for _, want := range g.Spreads {
		s := SpreadOf(slices.Insert(slices.Clone(want.Values), 1, math.NaN()))
		nearInterval(t, "mean", s.Mean, want.Mean)
		if len(want.Values) >= 5 {
			nearInterval(t, "deviation", s.Deviation, want.Deviation)
		} else if s.Deviation.Low.Valid() || s.Deviation.High.Valid() || math.Abs(float64(s.Deviation.Value)-want.Deviation[0]) > 1e-9 {
			t.Errorf("of %d values: %+v", len(want.Values), s.Deviation)
		}
	}
	for _, values := range [][]float64{nil, {math.NaN()}, {0.4}} {
		if s := SpreadOf(values); s.Mean.Low.Valid() || s.Deviation.Value.Valid() || s.Mean.Value.Valid() != (len(values) == 1 && values[0] == 0.4) {
			t.Errorf("%v: %+v", values, s)
		}
	}
}

// TestRotatedRuns: rotation and scale of a run change nothing, so such runs agree
// fully, and their ensemble has the cosines of that of the run twice, also in as many dimensions as a run.
func TestRotatedRuns(t *testing.T) {
	g, tables := readGolden(t)
	first := tables[0]
	turned := make([]float32, len(first.Vectors)) // by 90°, one pair of dimensions after the other, and 3 times as long
	for i := 0; i < len(turned); i += 2 {
		turned[i], turned[i+1] = -3*first.Vectors[i+1], 3*first.Vectors[i]
	}
	runs := []*embedding.Table{first, tableOf(t, first.Words, g.Dim, turned)}
	s, err := Compare(t.Context(), len(runs), from(runs))
	if err != nil || s.All.Overlap.Value != 1 || s.All.Overlap.Low != 1 || s.LeastOfRuns != 1 {
		t.Errorf("overlap of a run and itself: %+v, %v", s, err)
	}
	twice, err := Ensemble(t.Context(), []*embedding.Table{first, first}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, dim := range []int{0, g.Dim} {
		joined, err := Ensemble(t.Context(), runs, dim)
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range joined.Words {
			evaluatetest.Near(t, word, evaluate.Cosine(joined.Vector(0), joined.Vector(i)), evaluate.Cosine(twice.Vector(0), twice.Vector(i)), tolerance)
		}
	}
}

func TestRunsThatDoNotFit(t *testing.T) {
	g, tables := readGolden(t)
	wide := tableOf(t, []string{"w0", "w1"}, 2, []float32{1, 2, 3, 4})
	other := tableOf(t, []string{"x"}, g.Dim, make([]float32, g.Dim))
	for _, test := range []struct {
		tables              []*embedding.Table
		dim                 int
		stability, ensemble string
	}{
		{tables[:1], 0, "two runs or more", "two runs or more"},
		{[]*embedding.Table{tables[0], wide}, 9, "2 words in common", "have only 8 dimensions together, not 9"},
		{[]*embedding.Table{tables[0], other}, 0, "0 words in common", "no word in common"},
	} {
		if _, err := Compare(t.Context(), len(test.tables), from(test.tables)); err == nil || !strings.Contains(err.Error(), test.stability) {
			t.Errorf("stability: %v, want %q", err, test.stability)
		}
		if _, err := Ensemble(t.Context(), test.tables, test.dim); err == nil || !strings.Contains(err.Error(), test.ensemble) {
			t.Errorf("ensemble: %v, want %q", err, test.ensemble)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, len(tables), from(tables)); err == nil {
		t.Error("a cancelled comparison ended well")
	}
	if _, err := Ensemble(ctx, tables, 0); err == nil {
		t.Error("a cancelled ensemble ended well")
	}
}
