package words

import (
	"context"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// goldenScores is the part of ../testdata/golden.json on words, what gensim and
// scikit-learn computed (../testdata/make_golden.py).
type goldenScores struct {
	Runs []struct {
		Restrict                   int
		Pearson, Spearman, Analogy float64
		PairsFound                 int `json:"pairs_found"`
		Sections                   []struct {
			Name         string
			Right, Found int
		}
	}
	LRCos struct{ Right, Found int }
}

func loadGolden(t *testing.T) (g goldenScores) {
	t.Helper()
	evaluatetest.Golden(t, "../testdata/golden.json", &g)
	return g
}

func loadTable(t *testing.T, path string) *embedding.Table {
	t.Helper()
	table, err := embedding.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestGensimScores(t *testing.T) {
	table := loadTable(t, "../testdata/vectors.txt")
	for _, run := range loadGolden(t).Runs {
		o := Options{Restrict: run.Restrict, Sections: true, Methods: []Method{CosAdd}}
		pairs, _, err := Score(context.Background(), table, "../testdata/pairs.tsv", o)
		if err != nil {
			t.Fatal(err)
		}
		spearman := evaluatetest.Find(t, pairs, "pairs", evaluate.MetricSpearman)
		evaluatetest.Near(t, "Spearman", float64(spearman.Score), run.Spearman, 1e-6)
		evaluatetest.Near(t, "Pearson", float64(evaluatetest.Find(t, pairs, "pairs", evaluate.MetricPearson).Score), run.Pearson, 1e-6)
		if spearman.Found != run.PairsFound || spearman.Total != 61 {
			t.Errorf("%+v: %d pairs of %d, want %d of 61", o, spearman.Found, spearman.Total, run.PairsFound)
		}

		questions, _, err := Score(context.Background(), table, "../testdata/questions.txt", o)
		if err != nil {
			t.Fatal(err)
		}
		evaluatetest.Near(t, "analogy", float64(evaluatetest.Find(t, questions, "questions", "3cosadd").Score), run.Analogy, 1e-12)
		var sum float64
		for _, s := range run.Sections {
			r := evaluatetest.Find(t, questions, "questions/"+s.Name, "3cosadd")
			evaluatetest.Near(t, s.Name, float64(r.Score), float64(s.Right)/float64(s.Found), 1e-12)
			if r.Found != s.Found {
				t.Errorf("%s: found %d, want %d", s.Name, r.Found, s.Found)
			}
			sum += float64(s.Right) / float64(s.Found)
		}
		evaluatetest.Near(t, "macro", float64(evaluatetest.Find(t, questions, "questions", "3cosadd-macro").Score), sum/float64(len(run.Sections)), 1e-12)
	}
}

func TestScikitLearnLRCos(t *testing.T) {
	golden := loadGolden(t).LRCos
	results, _, err := Score(context.Background(), loadTable(t, "../testdata/lrcos.txt"), "../testdata/questions.txt", Options{Methods: []Method{LRCos}, Sections: true})
	if err != nil {
		t.Fatal(err)
	}
	r := evaluatetest.Find(t, results, "questions/capital", "lrcos")
	if r.Found != golden.Found || r.Total != golden.Found+1 {
		t.Errorf("%d pairs of %d, want %d of %d", r.Found, r.Total, golden.Found, golden.Found+1)
	}
	evaluatetest.Near(t, "LRCos", float64(r.Score), float64(golden.Right)/float64(golden.Found), 1e-12)
	if none := evaluatetest.Find(t, results, "questions/plural", "lrcos"); none.Score.Valid() || none.Found != 0 {
		t.Errorf("section without known words: %+v", none)
	}
}

func TestScikitLearnPurity(t *testing.T) {
	var golden struct {
		Clusters struct {
			Category, Assigned []int
			Purity             float64
		}
	}
	evaluatetest.Golden(t, "../testdata/golden_learned.json", &golden)
	g := golden.Clusters
	evaluatetest.Near(t, "purity", float64(purity(g.Assigned, g.Category)), g.Purity, 1e-12)
}
