package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
)

// learnedScores is testdata/golden_learned.json, what scikit-learn computed
// (testdata/make_golden_learned.py).
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
	Clusters struct {
		Points             [][]float64
		Category, Assigned []int
		Purity, Inertia    float64
		Usual              []float64
	}
}

func loadLearned(t *testing.T) learnedScores {
	t.Helper()
	content, err := os.ReadFile("testdata/golden_learned.json")
	if err != nil {
		t.Fatal(err)
	}
	var g learnedScores
	if err := json.Unmarshal(content, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func featuresOf(rows [][]float32) *features {
	x := newFeatures(len(rows[0]))
	for _, r := range rows {
		x.add(r)
	}
	return x
}

func TestScikitLearnNodes(t *testing.T) {
	g := loadLearned(t).Nodes
	n := &nodeSet{classes: g.Classes, x: featuresOf(g.Features), labels: g.Labels}
	for _, p := range g.Pairs {
		n.pairs = append(n.pairs, choice{uint32(p[0]), p[1]})
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
			near(t, fmt.Sprintf("split %d: %s", number, metric), score, s[metric].(float64), 1e-12)
		}
	}
	var class []int
	for _, p := range n.pairs {
		class = append(class, p.class)
	}
	if fold := stratify(class, 5); !slices.Equal(fold, g.Folds) {
		t.Errorf("folds %v, want %v", fold, g.Folds)
	}
	micro, macro, err := n.foldPairs(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for f := range micro {
		near(t, fmt.Sprintf("fold %d: micro", f), micro[f], g.Micro[f], 1e-12)
		near(t, fmt.Sprintf("fold %d: macro", f), macro[f], g.Macro[f], 1e-12)
	}
}

func TestScikitLearnLinks(t *testing.T) {
	g := loadLearned(t).Links
	var answers []answer
	for i, e := range g.Edge {
		answers = append(answers, answer{uint32(i), e == 1})
	}
	near(t, "area with ties", auc(g.Ties, answers), g.TiesArea, 1e-12)
	for fold := range linkFolds {
		area, accuracy := linkFold(featuresOf(g.Features), answers, fold)
		near(t, fmt.Sprintf("fold %d: area", fold), area, g.Areas[fold], 1e-12)
		near(t, fmt.Sprintf("fold %d: accuracy", fold), accuracy, g.Accuracies[fold], 1e-12)
	}
}

func TestScikitLearnClusters(t *testing.T) {
	g := loadLearned(t).Clusters
	near(t, "purity", float64(purity(g.Assigned, g.Category)), g.Purity, 1e-12)
	cluster, err := kMeans(t.Context(), g.Points, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	inertia := inertiaOf(g.Points, cluster, 6)
	if worst := slices.Max(g.Usual); inertia > worst+1e-9 || inertia < g.Inertia-1e-9 {
		t.Errorf("inertia %v; scikit-learn's is %v at best, %v at worst", inertia, g.Inertia, worst)
	}
}

// inertiaOf is the sum of the squared distances to the means, by its definition.
func inertiaOf(points [][]float64, cluster []int, clusters int) float64 {
	sum := 0.0
	for k := range clusters {
		mean, n := make([]float64, len(points[0])), 0.0
		for i, p := range points {
			if cluster[i] == k {
				add(mean, 1, p)
				n++
			}
		}
		for i, p := range points {
			if cluster[i] == k {
				for j := range p {
					sum += (p[j] - mean[j]/n) * (p[j] - mean[j]/n)
				}
			}
		}
	}
	return sum
}

// TestKMeans: each point is in the cluster of the nearest mean, no cluster is
// empty, and the number of processors changes nothing; also where many points
// are the same one.
func TestKMeans(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ points, dim, clusters, different int }{
		{2, 1, 2, 2}, {5, 3, 5, 5}, {60, 4, 7, 60}, {40, 2, 6, 9}, {30, 3, 1, 30},
	} {
		var points [][]float64
		for i := range c.points {
			p := make([]float64, c.dim)
			for k := range p {
				p[k] = random.NormFloat64()
			}
			if i >= c.different {
				p = points[i%c.different]
			}
			points = append(points, p)
		}
		cluster, err := kMeans(t.Context(), points, c.clusters, 3)
		if err != nil {
			t.Fatal(err)
		}
		means, counts := make([]float64, c.clusters*c.dim), make([]float64, c.clusters)
		for i, k := range cluster {
			counts[k]++
			add(means[k*c.dim:(k+1)*c.dim], 1, points[i])
		}
		for k, n := range counts {
			if n == 0 {
				t.Errorf("%v: cluster %d is empty", c, k)
			}
			for i := range c.dim {
				means[k*c.dim+i] /= n
			}
		}
		distance := func(p []float64, k int) (sum float64) {
			for i, m := range means[k*c.dim : (k+1)*c.dim] {
				sum += (p[i] - m) * (p[i] - m)
			}
			return sum
		}
		for i, p := range points {
			for k := range c.clusters {
				if distance(p, k) < distance(p, cluster[i])-1e-9 {
					t.Errorf("%v: point %d is in cluster %d but nearer to %d", c, i, cluster[i], k)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kMeans(ctx, [][]float64{{1}, {2}}, 2, 1); err == nil {
		t.Error("no error of a cancelled context")
	}
}

// TestDerivatives compares gradient and curvature with differences of the loss
// and of the gradient.
func TestDerivatives(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, c := range []struct{ examples, dim, classes int }{{1, 1, 2}, {7, 3, 4}, {blockRows, 15, 3}, {blockRows + 1, 16, 7}, {3*blockRows + 5, 17, 6}} {
		x := newFeatures(c.dim)
		var answers []answer
		var choices []choice
		for i := range c.examples {
			v := make([]float32, c.dim)
			for k := range v {
				v[k] = float32(random.NormFloat64())
			}
			x.add(v)
			answers = append(answers, answer{uint32(i), i%3 == 0})
			choices = append(choices, choice{uint32(i), random.IntN(c.classes)})
		}
		softmax := &softmaxLoss{x: x, choices: choices, classes: c.classes, probabilities: make([]float64, len(choices)*c.classes)}
		for _, choice := range choices {
			softmax.examples = append(softmax.examples, choice.example)
		}
		for name, f := range map[string]struct {
			loss   convexLoss
			length int
		}{
			"logistic": {newLogisticLoss(x, answers, false), x.dim},
			"softmax":  {softmax, x.dim * c.classes},
		} {
			w, v := make([]float64, f.length), make([]float64, f.length)
			for k := range w {
				w[k], v[k] = random.NormFloat64(), random.NormFloat64()
			}
			f.loss.at(w)
			g, h := f.loss.gradient(w), f.loss.curvature(v)
			const step = 1e-5
			moved := func(by float64) []float64 {
				m := slices.Clone(w)
				add(m, by, v)
				return m
			}
			slope := (f.loss.at(moved(step)) - f.loss.at(moved(-step))) / (2 * step)
			near(t, fmt.Sprintf("%v %s: slope", c, name), product(g, v), slope, 1e-4*(1+math.Abs(slope)))
			f.loss.at(moved(step))
			forward := f.loss.gradient(moved(step))
			f.loss.at(moved(-step))
			back := f.loss.gradient(moved(-step))
			for k := range h {
				want := (forward[k] - back[k]) / (2 * step)
				near(t, fmt.Sprintf("%v %s: curvature %d", c, name, k), h[k], want, 1e-4*(1+math.Abs(want)))
			}
		}
	}
}

func TestReadCategories(t *testing.T) {
	want := []member{{"acacia", "tree"}, {"apple", "fruit"}}
	for name, content := range map[string]string{
		"pandas":     ",category,word\n0,tree,acacia\n1,fruit,apple\n",
		"tabs":       "\tcategory\tword\n0\ttree\tacacia\n1\tfruit\tapple\n",
		"class":      "concept,class\nacacia,tree\r\n\"apple\",fruit\r\n",
		"comments":   "\uFEFF# words\n\nWord,Category\n#x,y\nacacia,tree\napple,fruit\n",
		"twice":      "word,category\nacacia,tree\n,tree\napple,fruit\nacacia,tree\n",
		"BLESS":      "acacia-n\ttree\tattri\ttall-j\nacacia-n\ttree\tcoord\toak-n\napple-n\tfruit\trandom-v\tgo-v\n",
		"more words": "word,category,note\n acacia , tree ,\napple,fruit,\n",
	} {
		path := filepath.Join(folder(t, map[string]string{"set.csv": content}), "set.csv")
		got, err := readCategories(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if task, err := taskOf(path); err != nil || task != TaskCategorization {
			t.Errorf("%s: task %q, %v", name, task, err)
		}
	}
	for name, c := range map[string]struct{ content, want string }{
		"columns":  {"x,category,word\n1,tree,acacia\n2,tree\n", "set.csv:3: 2 columns, but 3 are needed"},
		"category": {"category,word\n,acacia\n", "set.csv:2: the category is missing"},
		"no words": {"category,word\n", "set.csv: no words"},
		"titles":   {"// x\ncategory,word\ntree,acacia\n", "no titles \"category\" and \"word\" in the first line"},
	} {
		dir := folder(t, map[string]string{"set.csv": c.content})
		if _, _, err := Run(t.Context(), animals(t), dir, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestCategorization(t *testing.T) {
	dir := folder(t, map[string]string{
		"ap.csv":      "category,word\nanimal,cat\nanimal,Dog\nthing,car\nthing,bus\n",
		"similar.txt": "cat dog 9\ndog car 1\n",
		"one.csv":     "category,word\nanimal,cat\nanimal,dog\nthing,bus\n",
	})
	for rule, want := range map[OOV]struct {
		score Score
		found int
	}{OOVSkip: {1, 3}, OOVZero: {1, 3}, OOVMean: {0.75, 3}, OOVCompose: {1, 3}} {
		o := Options{OOV: rule, Task: TaskCategorization, Compose: func([]string, []float32) error { return nil }}
		results, _, err := Run(t.Context(), animals(t), dir, o)
		if err != nil || len(results) != 2 {
			t.Fatalf("%v, %v", results, err)
		}
		r := find(t, results, "AP", MetricPurity)
		if r.Score != want.score || r.Found != want.found || r.Total != 4 {
			t.Errorf("%s: %+v, want %v", rule, r, want)
		}
		if one := find(t, results, "one", MetricPurity); rule == OOVSkip && (one.Score.Valid() || one.Found != 2) {
			t.Errorf("one category: %+v", one)
		}
	}
	if _, _, err := Run(t.Context(), animals(t), dir, Options{Task: TaskAnalogy}); err == nil || !strings.Contains(err.Error(), "no analogy set found") {
		t.Errorf("no analogy set: %v", err)
	}
	if _, _, err := Run(t.Context(), animals(t), dir, Options{Task: TaskNodes}); err == nil || !strings.Contains(err.Error(), `unknown task "nodes"`) {
		t.Errorf("task of graphs: %v", err)
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

func TestNodes(t *testing.T) {
	var lines strings.Builder
	for i := range 66 {
		fmt.Fprintf(&lines, "%d,c%d\n", i+1, i%3)
	}
	path := filepath.Join(folder(t, map[string]string{"labels.csv": lines.String()}), "labels.csv")
	l, err := ReadLabels(path, "")
	if err != nil {
		t.Fatal(err)
	}
	o := NodeOptions{Ratios: []float64{0.25, 0.5}, Repeats: 3, Folds: 4, Seed: 1}
	results, err := Nodes(t.Context(), clustered(t, 60, 3, 0.1), "set", l, o)
	if err != nil || len(results) != 2*4+2 {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if r.Score != 1 || r.Deviation != 0 || r.Found != 60 || r.Total != 66 || r.Task != TaskNodes {
			t.Errorf("%+v", r)
		}
	}
	find(t, results, "set/25%", "macro-f1-threshold")
	find(t, results, "set/4-fold", "pairs-micro-f1")

	// Vectors that say nothing: a third is right by chance.
	noise := clustered(t, 60, 3, 1000)
	results, err = Nodes(t.Context(), noise, "set", l, NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, results, "set/90%", "micro-f1")
	if r.Score < 0.1 || r.Score > 0.6 || r.Deviation == 0 {
		t.Errorf("noise: %+v", r)
	}
	again, err := Nodes(t.Context(), noise, "set", l, NodeOptions{})
	if err != nil || !slices.Equal(results, again) {
		t.Errorf("another result the second time (%v)", err)
	}
	// Vectors too long for float32 arithmetic are no reason to break down.
	if _, err := Nodes(t.Context(), clustered(t, 60, 3, 1e37), "set", l, o); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		table *embedding.Table
		o     NodeOptions
		want  string
	}{
		"ratio":   {noise, NodeOptions{Ratios: []float64{1}}, "the share 1"},
		"repeats": {noise, NodeOptions{Repeats: -1}, "-1 repeats"},
		"folds":   {noise, NodeOptions{Folds: 1}, "1 folds"},
		"many":    {noise, NodeOptions{Folds: 61}, "61 folds of 60 pairs"},
		"words":   {animals(t), NodeOptions{}, "0 of the 66 nodes with labels have vectors"},
	} {
		if _, err := Nodes(t.Context(), c.table, "set", l, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestReadLabels(t *testing.T) {
	want := Labels{Nodes: []string{"a", "b"}, Classes: []string{"x", "y"}, Of: [][]int{{0, 1}, {1}}, pairs: [][2]int{{0, 0}, {0, 1}, {1, 1}}}
	for name, content := range map[string]string{
		"commas": "a,x\na, y\nb,y\n", "spaces": "# labels\na x\na\ty\n\nb y\n", "twice": "a x\na y\nb y\na x\n",
	} {
		got, err := ReadLabels(filepath.Join(folder(t, map[string]string{"set": content}), "set"), "")
		if err != nil || fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	const mat = "../internal/matlab/testdata/compressed.mat"
	l, err := ReadLabels(mat, "")
	if err != nil || len(l.Classes) != 4 || len(l.Nodes) != 5 || l.Nodes[0] == "0" {
		t.Errorf("matrix: %v, %v", l, err)
	}
	for name, c := range map[string]struct{ path, matrix, want string }{
		"file":    {"none", "", "cannot read the labels"},
		"matrix":  {mat, "labels", `compressed.mat: no matrix "labels"`},
		"columns": {filepath.Join(folder(t, map[string]string{"set": "a x\n\nb\n"}), "set"), "", "set:3: 1 columns"},
		"missing": {filepath.Join(folder(t, map[string]string{"set": "a,x\nb,\n"}), "set"), "", "set:2: a node or a label is missing"},
		"empty":   {filepath.Join(folder(t, map[string]string{"set": "# none\n"}), "set"), "", "set: no labels"},
	} {
		if _, err := ReadLabels(c.path, c.matrix); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestLinks(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("# node node edge\n")
	for i := range 50 {
		fmt.Fprintf(&lines, "%d %d 1\n%d %d 0\n", i+1, i+4, i+1, i+2)
	}
	path := filepath.Join(folder(t, map[string]string{"links.txt": lines.String()}), "links.txt")
	links, err := ReadLinks(path)
	if err != nil || len(links) != 100 || links[0] != (Link{"1", "4", true}) || links[1].Edge {
		t.Fatalf("%v, %v", links, err)
	}
	results, err := Links(t.Context(), clustered(t, 45, 3, 0.1), "links", links, 1)
	if err != nil || len(results) != 3 {
		t.Fatalf("%v, %v", results, err)
	}
	for _, r := range results {
		if r.Score != 1 || r.Found != 42+44 || r.Total != 100 || r.Task != TaskLinks {
			t.Errorf("%+v", r)
		}
	}
	if _, err := Links(t.Context(), animals(t), "links", links, 1); err == nil || !strings.Contains(err.Error(), "of 100 pairs 0 with an edge and 0 without have vectors") {
		t.Errorf("words: %v", err)
	}
	for name, c := range map[string]struct{ content, want string }{
		"columns": {"a b 1\na b\n", `set:2: "a b" is not two nodes and 0 or 1`},
		"edge":    {"a b 2\n", `set:1: "a b 2" is not`},
	} {
		if _, err := ReadLinks(filepath.Join(folder(t, map[string]string{"set": c.content}), "set")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
