package compare

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/nodes"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// smallGraph makes the comparison one of walks over a graph of three groups, whose labels are the sets.
func smallGraph(t *testing.T, modes ...string) experiment.Options {
	t.Helper()
	o := smallComparison(t, modes...)
	random := rand.New(rand.NewPCG(2, 2))
	var edges, labels strings.Builder
	for i := range 60 {
		fmt.Fprintf(&labels, "n%d,group%d\n", i, i%3)
		for range 4 {
			j := random.IntN(60)
			if random.IntN(4) > 0 {
				j = j/3*3 + i%3
			}
			fmt.Fprintf(&edges, "n%d n%d\n", i, j)
		}
	}
	dir := filepath.Dir(o.Data)
	o.Data = filepath.Join(dir, "labels.csv")
	for path, content := range map[string]string{filepath.Join(dir, "graph.txt"): edges.String(), o.Data: labels.String()} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Settings = map[string]string{"graph": filepath.Join(dir, "graph.txt"), "walk-length": "20", "dim": "8", "threads": "1"}
	return o
}

// TestGraph: the scores are those of the nodes' labels, each seed has walks of its own, and a run of the comparison
// has the same bits as the same run alone.
func TestGraph(t *testing.T) {
	o := smallGraph(t, settings.ModeCL, "word2vec")
	o.Budget = experiment.Budget{Kind: experiment.BudgetRecipe}
	f, err := Execute(t.Context(), o, Means{})
	if err != nil {
		t.Fatal(err)
	}
	labels, err := nodes.ReadLabels(t.Context(), o.Data)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		table, err := runfolder.LoadTable(t.Context(), r.Config.Out)
		if err != nil {
			t.Fatal(err)
		}
		want, err := nodes.ScoreLabels(t.Context(), table, "labels", labels, nodes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Records[i].Scores; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: scores %v\nwant %v", r.Title(), got, want)
		}
		if n := len(f.Records[i].Points); n != o.Points || len(f.Records[i].Points[0].Scores) != 3 {
			t.Errorf("%s: %d points", r.Title(), n)
		}
	}
	if a, b := f.Records[0].Fingerprint, f.Records[2].Fingerprint; a == b {
		t.Errorf("both seeds of %s have the walks %s", runs[0].Name, a)
	}
	alone := runs[3] // of the second seed
	alone.Config.Out = filepath.Join(t.TempDir(), "alone")
	if _, err := train.Run(t.Context(), alone.Config, train.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	vectors := func(folder string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if !bytes.Equal(vectors(alone.Config.Out), vectors(runs[3].Config.Out)) {
		t.Errorf("%s is another one when it trains alone", alone.Title())
	}
	r, err := Summarize(f, "test", "w2vcl compare --graph "+o.Settings["graph"])
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(o.Out); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{PageFile, "report.json", "scores.csv"} {
		text := read(t, filepath.Join(o.Out, file))
		if strings.Contains(text, filepath.Dir(o.Data)) || !strings.Contains(text, "labels/50%") || !strings.Contains(text, evaluate.MetricMicroF1) {
			t.Errorf("%s names folders of this machine, or lacks the labels", file)
		}
	}
}
