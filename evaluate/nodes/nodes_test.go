package nodes

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
	"github.com/w2vcl/w2vcl/evaluate/learn"
)

// learnedScores is the part of ../testdata/golden_learned.json on graphs, what
// scikit-learn computed (../testdata/make_golden_learned.py).
type learnedScores struct {
	Nodes struct {
		Features     [][]float32
		Labels       [][]int
		Classes      int
		Splits       []map[string]any
		Pairs        [][2]int
		Folds        []int
		Micro, Macro []float64
	}
	Links struct {
		Features          [][]float32
		Edge              []int
		Areas, Accuracies []float64
		Ties              []float64
		TiesArea          float64 `json:"ties_area"`
	}
}

func loadLearned(t *testing.T) (g learnedScores) {
	t.Helper()
	evaluatetest.Golden(t, "../testdata/golden_learned.json", &g)
	return g
}

func examplesOf(rows [][]float32) *learn.Examples {
	x := learn.NewExamples(len(rows[0]))
	for _, r := range rows {
		x.Add(r)
	}
	return x
}

func TestScikitLearnNodes(t *testing.T) {
	g := loadLearned(t).Nodes
	n := &labelledNodes{classes: g.Classes, x: examplesOf(g.Features), labels: g.Labels}
	for _, p := range g.Pairs {
		n.pairs = append(n.pairs, learn.ClassLabel{Example: uint32(p[0]), Class: p[1]})
	}
	for number, s := range g.Splits {
		numbers := func(key string) (list []int) {
			for _, v := range s[key].([]any) {
				list = append(list, int(v.(float64)))
			}
			return list
		}
		got, err := n.split(t.Context(), numbers("learn"), numbers("find"))
		if err != nil || len(got) != 4 {
			t.Fatalf("%v, %v", got, err)
		}
		for metric, score := range got {
			evaluatetest.Near(t, fmt.Sprintf("split %d: %s", number, metric), score, s[metric].(float64), 1e-12)
		}
	}
	var class []int
	for _, p := range n.pairs {
		class = append(class, p.Class)
	}
	if fold := stratify(class, 5); !slices.Equal(fold, g.Folds) {
		t.Errorf("folds %v, want %v", fold, g.Folds)
	}
	micro, macro, err := n.foldPairs(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for f := range micro {
		evaluatetest.Near(t, fmt.Sprintf("fold %d: micro", f), micro[f], g.Micro[f], 1e-12)
		evaluatetest.Near(t, fmt.Sprintf("fold %d: macro", f), macro[f], g.Macro[f], 1e-12)
	}
}

func TestScikitLearnLinks(t *testing.T) {
	g := loadLearned(t).Links
	var labels []learn.BinaryLabel
	for i, e := range g.Edge {
		labels = append(labels, learn.BinaryLabel{Example: uint32(i), Positive: e == 1})
	}
	evaluatetest.Near(t, "area with ties", auc(g.Ties, labels), g.TiesArea, 1e-12)
	for fold := range linkFolds {
		x := examplesOf(g.Features)
		area, accuracy := linkFold(x, labels, fold, func(training []learn.BinaryLabel) []float64 { return learn.Logistic(x, training, false, nil) })
		evaluatetest.Near(t, fmt.Sprintf("fold %d: area", fold), area, g.Areas[fold], 1e-12)
		evaluatetest.Near(t, fmt.Sprintf("fold %d: accuracy", fold), accuracy, g.Accuracies[fold], 1e-12)
	}
}

// clustered makes vectors of nodes: those whose number has the same remainder lie
// together.
func clustered(t *testing.T, n, clusters int, noise float64) *embedding.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(6, 6))
	var words []string
	var vectors []float32
	for i := range n {
		words = append(words, fmt.Sprint(i+1))
		for k := range clusters {
			v := noise * random.NormFloat64()
			if i%clusters == k {
				v += 3
			}
			vectors = append(vectors, float32(v))
		}
	}
	table, err := embedding.NewTable(words, clusters, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestScoreLabels(t *testing.T) {
	var lines strings.Builder
	for i := range 66 {
		fmt.Fprintf(&lines, "%d,c%d\n", i+1, i%3)
	}
	path := filepath.Join(evaluatetest.Folder(t, map[string]string{"labels.csv": lines.String()}), "labels.csv")
	l, err := ReadLabels(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Ratios: []float64{0.25, 0.5}, Repeats: 3, Folds: 4, Seed: 1}
	results, err := ScoreLabels(t.Context(), clustered(t, 60, 3, 0.1), "set", l, o)
	if err != nil || len(results) != 2*4+2 {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if r.Score != 1 || r.Deviation != 0 || r.Found != 60 || r.Total != 66 || r.Task != evaluate.TaskNodes {
			t.Errorf("%+v", r)
		}
	}
	evaluatetest.Find(t, results, "set/25%", "macro-f1-threshold")
	evaluatetest.Find(t, results, "set/4-fold", "pairs-micro-f1")

	// Vectors that say nothing: a third is right by chance.
	noise := clustered(t, 60, 3, 1000)
	results, err = ScoreLabels(t.Context(), noise, "set", l, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := evaluatetest.Find(t, results, "set/90%", "micro-f1")
	if r.Score < 0.1 || r.Score > 0.6 || r.Deviation == 0 {
		t.Errorf("noise: %+v", r)
	}
	again, err := ScoreLabels(t.Context(), noise, "set", l, Options{})
	if err != nil || !slices.Equal(results, again) {
		t.Errorf("another result the second time (%v)", err)
	}
	// Vectors too long for float32 arithmetic are no reason to break down.
	if _, err := ScoreLabels(t.Context(), clustered(t, 60, 3, 1e37), "set", l, o); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		table *embedding.Table
		o     Options
		want  string
	}{
		"ratio":   {noise, Options{Ratios: []float64{1}}, "the fraction 1"},
		"repeats": {noise, Options{Repeats: -1}, "-1 repeats"},
		"folds":   {noise, Options{Folds: 1}, "1 folds"},
		"many":    {noise, Options{Folds: 61}, "61 folds of 60 pairs"},
		"words":   {evaluatetest.Animals(t), Options{}, "0 of the 66 nodes with labels have vectors"},
	} {
		if _, err := ScoreLabels(t.Context(), c.table, "set", l, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestReadLabels(t *testing.T) {
	want := Labels{Nodes: []string{"a", "b"}, Classes: []string{"x", "y"}, Of: [][]int{{0, 1}, {1}}, pairs: [][2]int{{0, 0}, {0, 1}, {1, 1}}}
	read := func(content string) (*Labels, error) {
		return ReadLabels(t.Context(), filepath.Join(evaluatetest.Folder(t, map[string]string{"set": content}), "set"))
	}
	for _, content := range []string{
		"a,x\na, y\nb,y\n", "# labels\na x\na\ty\n\nb y\n", "a x\na y\nb y\na x\n", "a;x\r\na;y\r\n#\r\nb;y", "\uFEFFa\tx\na\t\"y\"\nb\ty\n",
		"node,label\na,x\na,y\nb,y\n", "# a\nNode_ID\tGroup\na\tx\na\ty\nb\ty\n",
	} {
		got, err := read(content)
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	if l, err := read("a,x y\n"); err != nil || l.Classes[0] != "x y" {
		t.Errorf("a label of two words: %v, %v", l, err)
	}
	for content, want := range map[string]string{
		"a x\n\nb\n":                      "set: line 3, column 2: it has 1 columns",
		"a,x\nb,\n":                       "set: line 2, column 3: \"\" is no node",
		"a,x\nb y\n":                      "set: line 2, column 4: it has 1 columns",
		"a 1 x\nb 2 y\n":                  "set: line 1, column 5: 3 columns",
		"a\n":                             "set: line 1, column 1: 1 columns",
		"a,x\rb,y\r":                      "set: line 1, column 4: a line ends with U+000D",
		"a x\u2028b y\n":                  "set: line 1, column 4: a line ends with U+2028",
		"a x\nb\x00 y\n":                  "set: line 2, column 1: \"b\\x00\" is no node",
		"\"a,b\",x\n":                     "set: line 1, column 1: \"\\\"a\" begins with a quotation mark",
		"# none\n":                        "set: no labels",
		"1 x,y\n2 z,x\n":                  "set: line 1, column 1: \"1 x\" is no node",
		"node label\n":                    "set: no labels",
		"a " + strings.Repeat("x", 2<<20): "line 1: it has more than",
	} {
		if _, err := read(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %q", content, err, want)
		}
	}
	if _, err := ReadLabels(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "cannot read the labels") {
		t.Error(err)
	}
}

func TestScoreLinks(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("# node node edge\n")
	for i := range 50 {
		fmt.Fprintf(&lines, "%d %d 1\n%d %d 0\n", i+1, i+4, i+1, i+2)
	}
	path := filepath.Join(evaluatetest.Folder(t, map[string]string{"links.txt": lines.String()}), "links.txt")
	links, err := ReadLinks(t.Context(), path)
	if err != nil || len(links) != 100 || links[0] != (Link{"1", "4", true}) || links[1].Edge {
		t.Fatalf("%v, %v", links, err)
	}
	results, err := ScoreLinks(t.Context(), clustered(t, 45, 3, 0.1), "links", links, 1)
	if err != nil || len(results) != 4 {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if r.Metric == evaluate.MetricConcatF1 { // a sum of something of each node cannot say that they are alike
			if r.Score > 0.8 || r.Found != 42+44 || r.Deviation == 0 {
				t.Errorf("%+v", r)
			}
			continue
		}
		if r.Score != 1 || r.Found != 42+44 || r.Total != 100 || r.Task != evaluate.TaskLinks {
			t.Errorf("%+v", r)
		}
	}
	// But it says of which clusters they are.
	for i := range links {
		links[i] = Link{fmt.Sprint(1 + i%45), fmt.Sprint(1 + i%44), i%45%3 != 0 && i%44%3 != 1}
	}
	results, err = ScoreLinks(t.Context(), clustered(t, 45, 3, 0.1), "links", links, 1)
	if err != nil || results[3].Metric != evaluate.MetricConcatF1 || results[3].Score != 1 || results[3].Found != 100 {
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := ScoreLinks(t.Context(), evaluatetest.Animals(t), "links", links, 1); err == nil || !strings.Contains(err.Error(), "of 100 pairs, 0 with an edge and 0 without an edge have vectors") {
		t.Errorf("words: %v", err)
	}
	for name, c := range map[string]struct{ content, want string }{
		"columns": {"a b 1\na b\n", `set:2: "a b" is not two nodes and 0 or 1`},
		"edge":    {"a b 2\n", `set:1: "a b 2" is not`},
	} {
		if _, err := ReadLinks(t.Context(), filepath.Join(evaluatetest.Folder(t, map[string]string{"set": c.content}), "set")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
