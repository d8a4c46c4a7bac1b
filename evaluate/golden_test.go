package evaluate

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
)

// goldenScores is testdata/golden.json, what gensim, scipy and scikit-learn
// computed (testdata/make_golden.py).
type goldenScores struct {
	Runs []struct {
		CaseSensitive              bool `json:"case_sensitive"`
		Restrict                   int
		Pearson, Spearman, Analogy float64
		PairsFound                 int `json:"pairs_found"`
		Sections                   []struct {
			Name         string
			Right, Found int
		}
	}
	Correlations []struct {
		X, Y              []float64
		Spearman, Pearson float64
	}
	LRCos    struct{ Right, Found int }
	Logistic struct {
		Features [][]float64
		Positive int
		Weights  []float64
	}
}

func loadGolden(t *testing.T) goldenScores {
	t.Helper()
	content, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldenScores
	if err := json.Unmarshal(content, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func loadTable(t *testing.T, path string) *embedding.Table {
	t.Helper()
	table, err := embedding.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// find returns the result of that data set and metric.
func find(t *testing.T, results []Result, dataset, metric string) Result {
	t.Helper()
	for _, r := range results {
		if r.Dataset == dataset && r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no result %s %s in %v", dataset, metric, results)
	return Result{}
}

func TestGensimScores(t *testing.T) {
	table := loadTable(t, "testdata/vectors.txt")
	for _, run := range loadGolden(t).Runs {
		o := Options{CaseSensitive: run.CaseSensitive, RestrictVocab: run.Restrict, Sections: true, Methods: []Method{CosAdd}}
		pairs, _, err := Run(context.Background(), table, "testdata/pairs.tsv", o)
		if err != nil {
			t.Fatal(err)
		}
		spearman := find(t, pairs, "pairs", MetricSpearman)
		near(t, "Spearman", float64(spearman.Score), run.Spearman, 1e-6)
		near(t, "Pearson", float64(find(t, pairs, "pairs", MetricPearson).Score), run.Pearson, 1e-6)
		if spearman.Found != run.PairsFound || spearman.Total != 61 {
			t.Errorf("%+v: %d pairs of %d, want %d of 61", o, spearman.Found, spearman.Total, run.PairsFound)
		}

		questions, _, err := Run(context.Background(), table, "testdata/questions.txt", o)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "analogy", float64(find(t, questions, "questions", "3cosadd").Score), run.Analogy, 1e-12)
		var sum float64
		for _, s := range run.Sections {
			r := find(t, questions, "questions/"+s.Name, "3cosadd")
			near(t, s.Name, float64(r.Score), float64(s.Right)/float64(s.Found), 1e-12)
			if r.Found != s.Found {
				t.Errorf("%s: found %d, want %d", s.Name, r.Found, s.Found)
			}
			sum += float64(s.Right) / float64(s.Found)
		}
		near(t, "macro", float64(find(t, questions, "questions", "3cosadd-macro").Score), sum/float64(len(run.Sections)), 1e-12)
	}
}

func TestScikitLearnLRCos(t *testing.T) {
	golden := loadGolden(t).LRCos
	results, _, err := Run(context.Background(), loadTable(t, "testdata/lrcos.txt"), "testdata/questions.txt", Options{Methods: []Method{LRCos}, Sections: true})
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, results, "questions/capital", "lrcos")
	if r.Found != golden.Found || r.Total != golden.Found+1 {
		t.Errorf("%d pairs of %d, want %d of %d", r.Found, r.Total, golden.Found, golden.Found+1)
	}
	near(t, "LRCos", float64(r.Score), float64(golden.Right)/float64(golden.Found), 1e-12)
	if none := find(t, results, "questions/plural", "lrcos"); none.Score.Valid() || none.Found != 0 {
		t.Errorf("section without known words: %+v", none)
	}
}

func TestScikitLearnLogistic(t *testing.T) {
	golden := loadGolden(t).Logistic
	x := newFeatures(len(golden.Features[0]) - 1)
	var answers []answer
	for i, values := range golden.Features {
		var vector []float32
		for _, v := range values[:len(values)-1] {
			vector = append(vector, float32(v))
		}
		x.add(vector)
		answers = append(answers, answer{uint32(i), i < golden.Positive})
	}
	start := []float64{5, -5, 5, -5, 5, -5, 5, -5, 5}
	for _, from := range [][]float64{nil, start} {
		for k, w := range fitLogistic(x, answers, true, from) {
			near(t, "weight", w, golden.Weights[k], 1e-5)
		}
	}
}

func TestScipyCorrelations(t *testing.T) {
	for _, c := range loadGolden(t).Correlations {
		near(t, "Spearman", Spearman(c.X, c.Y), c.Spearman, 1e-12)
		near(t, "Pearson", Pearson(c.X, c.Y), c.Pearson, 1e-12)
	}
}
