package words

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

func TestScoreErrors(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{"README": "nothing here\n", "good/set.txt": "a b 1\n"})
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		dir  string
		o    Options
		want string
	}{
		"no set":         {ctx, filepath.Join(dir, "README"), Options{}, "no similarity, analogy or categorization set found"},
		"empty folder":   {ctx, t.TempDir(), Options{}, "no similarity, analogy or categorization set found"},
		"no folder":      {ctx, filepath.Join(dir, "none"), Options{}, "none"},
		"method":         {ctx, dir, Options{Methods: []Method{"4cos"}}, `unknown analogy method "4cos"`},
		"method twice":   {ctx, dir, Options{Methods: []Method{CosAdd, CosAdd}}, "given twice"},
		"restrict vocab": {ctx, dir, Options{Restrict: -1}, "restricted to -1 words"},
		"cancelled":      {cancelled, dir, Options{}, "canceled"},
	} {
		if _, _, err := Score(c.ctx, evaluatetest.Animals(t), c.dir, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestCompose: unseen words get composed vectors, asked for once, in lower case
// where the table has no capital letters.
func TestCompose(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"set.txt":       "cat Dog 9\ncat car 1\nDOG car 8\ncat Unicorn 5\nUnicorn Gnu 7\n",
		"questions.txt": ": s\ncat dog car unicorn\ncat dog car cat\n",
	})
	capital, err := embedding.NewTable([]string{"Cat", "dog", "car"}, 2, []float32{1, 0, 4, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table *embedding.Table
		want  []string
	}{
		{evaluatetest.Animals(t), []string{"unicorn", "gnu"}},
		{capital, []string{"Unicorn", "Gnu"}},
	} {
		var got []string
		o := Options{Compose: func(words []string, dst []float32) error {
			got = append(got, words...)
			for i := range words { // (1, 1), (2, 1), ...
				dst[2*i], dst[2*i+1] = float32(1+i), 1
			}
			return nil
		}}
		results, _, err := Score(context.Background(), c.table, filepath.Join(dir, "set.txt"), o)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("composed %v, want %v (error %v)", got, c.want, err)
		}
		if r := results[1]; r.Found != 3 || r.Composed != 2 || r.Total != 5 {
			t.Errorf("%+v", r)
		}
		// Cosines 0.8, 0, 0.6, then with (1,1) and of it with (2,1).
		want := evaluate.Pearson([]float64{0.8, 0, 0.6, math.Sqrt(0.5), 3 / math.Sqrt(10)}, []float64{9, 1, 8, 5, 7})
		evaluatetest.Near(t, "all", float64(results[1].Score), want, 1e-6)
		want = evaluate.Pearson([]float64{0.8, 0, 0.6}, []float64{9, 1, 8})
		evaluatetest.Near(t, "found", float64(results[1].FoundScore), want, 1e-6)
		evaluatetest.Near(t, "composed", float64(results[1].ComposedScore), 1, 1e-6) // two pairs, in the right order
	}
	// Words without a known part are not asked for, and their pairs are left out.
	for part, composed := range map[string]int{"x": 0, "unicorn": 1, "n": 2} {
		o := Options{Source: "cnn"}
		o.Parts = func(word string) int { return strings.Count(word, part) }
		o.Compose = func(_ []string, dst []float32) error {
			copy(dst, []float32{1, 1})
			return nil
		}
		results, _, err := Score(t.Context(), evaluatetest.Animals(t), filepath.Join(dir, "set.txt"), o)
		if err != nil || results[0].Found != 3 || results[0].Composed != composed || (results[0].Source != "") != (composed > 0) {
			t.Errorf("words with %s: %+v, %v", part, results, err)
		}
	}
	o := Options{Compose: func([]string, []float32) error { return errors.New("no vector") }}
	if _, _, err := Score(context.Background(), evaluatetest.Animals(t), filepath.Join(dir, "set.txt"), o); err == nil || !strings.Contains(err.Error(), "no vector") {
		t.Errorf("got %v", err)
	}
	results, _, err := Score(context.Background(), evaluatetest.Animals(t), filepath.Join(dir, "questions.txt"), o)
	if err != nil || results[0].Found != 1 || results[0].Total != 2 || results[0].Composed != 0 {
		t.Errorf("questions: %+v, %v", results, err)
	}
	results, _, err = Score(t.Context(), evaluatetest.Animals(t), filepath.Join(dir, "set.txt"), Options{})
	if err != nil || results[1].Found != 3 || results[1].Total != 5 || results[1].Composed != 0 || results[1].FoundScore != 0 {
		t.Errorf("nothing composed: %+v, %v", results, err)
	}
}

// TestNoScore: what has no score says so, and never prints NaN.
func TestNoScore(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"constant-human.txt": "cat dog 5\ncat car 5\ndog car 5\n",
		"constant-model.txt": "cat cat 1\ndog dog 2\ncar car 3\n",
		"one-pair.txt":       "cat dog 5\nx y 1\n",
		"unknown.txt":        "x y 5\nz u 6\n",
		"questions.txt":      ": s\na b c d\ncat dog car unicorn\n",
	})
	results, _, err := Score(context.Background(), evaluatetest.Animals(t), dir, Options{Sections: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 3*3+4*2 {
		t.Errorf("%d results: %v", len(results), results)
	}
	for _, r := range results {
		if r.Score.Valid() || r.Score.String() != "n/a" {
			t.Errorf("%+v has a score", r)
		}
	}
	text, err := json.Marshal(results)
	if err != nil || strings.Contains(string(text), "NaN") || !strings.Contains(string(text), `"score":null,"found":1,"total":2`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestCategorization(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"ap.csv":      "category,word\nanimal,cat\nanimal,Dog\nthing,car\nthing,bus\n",
		"similar.txt": "cat dog 9\ndog car 1\n",
		"one.csv":     "category,word\nanimal,cat\nanimal,dog\nthing,bus\n",
	})
	results, _, err := Score(t.Context(), evaluatetest.Animals(t), dir, Options{Task: evaluate.TaskCategorization})
	if err != nil || len(results) != 2 {
		t.Fatalf("%v, %v", results, err)
	}
	if r := evaluatetest.Find(t, results, "AP", evaluate.MetricPurity); r.Score != 1 || r.Found != 3 || r.Total != 4 {
		t.Errorf("%+v", r)
	}
	if one := evaluatetest.Find(t, results, "one", evaluate.MetricPurity); one.Score.Valid() || one.Found != 2 {
		t.Errorf("one category: %+v", one)
	}
	if _, _, err := Score(t.Context(), evaluatetest.Animals(t), dir, Options{Task: evaluate.TaskAnalogy}); err == nil || !strings.Contains(err.Error(), "no analogy set found") {
		t.Errorf("no analogy set: %v", err)
	}
	if _, _, err := Score(t.Context(), evaluatetest.Animals(t), dir, Options{Task: evaluate.TaskNodes}); err == nil || !strings.Contains(err.Error(), `unknown task "nodes"`) {
		t.Errorf("task of graphs: %v", err)
	}
}

// FuzzScore: no content of a data set makes a reader panic or a score leave its
// range.
func FuzzScore(f *testing.F) {
	for _, content := range []string{
		"cat dog 1\ncat car 2\n", ": s\ncat dog cat car\n", "word1\tword2\tPOS\tSimLex999\na\tb\tN\t1\n",
		"a,b,c\n", ":\n", "cat dog 1e308\ncat car -1e308\ndog car 1e308\n", "cat dog car NN_NNS cat\n", "a\t\t1\n\t\t\n",
		"category,word\nx,cat\ny,dog\n", "class\tconcept\nx\t\"cat\ny\tdog\n", "cat-n\tx\tattri\tdog-n\ndog-n\ty\tmero\t\n",
	} {
		f.Add(content)
	}
	for _, format := range dataset.Formats() {
		f.Add(format.Example)
	}
	table := evaluatetest.Animals(f)
	f.Fuzz(func(t *testing.T, content string) {
		dir := evaluatetest.Folder(t, map[string]string{"set": content})
		results, _, err := Score(context.Background(), table, dir, Options{Sections: true})
		if err != nil {
			return
		}
		for _, r := range results {
			if s := float64(r.Score); s < -1 || s > 1 || math.IsInf(s, 0) || r.Found > r.Total {
				t.Errorf("%+v", r)
			}
		}
		if _, err := json.Marshal(results); err != nil {
			t.Error(err)
		}
	})
}
