package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
)

// TestPaperFiles: the page links to every file for papers, and each of these is there.
func TestPaperFiles(t *testing.T) {
	r := smallResult()
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	links := map[string]bool{}
	for _, match := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(text(PageFile), -1) {
		links[match[1]] = true
		if strings.HasPrefix(match[1], "#") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, match[1])); err != nil {
			t.Error(err)
		}
	}
	for _, folder := range []string{figuresFolder, tablesFolder} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil || len(entries) < 4 {
			t.Fatalf("%s: %v %v", folder, entries, err)
		}
		for _, e := range entries {
			path := folder + "/" + e.Name()
			if !links[path] {
				t.Errorf("the page has no link to %s", path)
			}
			if strings.HasSuffix(path, ".tex") {
				checkTeX(t, path, text(path))
			}
		}
	}
	for _, path := range []string{PageFile, "tables/comparison.tex"} {
		if bad := regexp.MustCompile(`[>(|& ]-\.?[0-9]`).FindString(strings.ReplaceAll(text(path), "rotate(-90)", "")); bad != "" {
			t.Errorf("%s has a hyphen for a minus: %q", path, bad)
		}
	}
}

// checkTeX is a strict reader of the LaTeX that we write: characters that LaTeX knows,
// braces and environments that close, and rows of a tabular with as many cells as it has
// columns.
func checkTeX(t *testing.T, name, text string) {
	t.Helper()
	text = regexp.MustCompile(`(?m)(^|[^\\])%.*$`).ReplaceAllString(text, "$1")
	var open []string
	for _, match := range regexp.MustCompile(`\\(begin|end)\{(\w+\*?)\}`).FindAllStringSubmatch(text, -1) {
		switch {
		case match[1] == "begin":
			open = append(open, match[2])
		case len(open) == 0 || open[len(open)-1] != match[2]:
			t.Errorf("%s: \\end{%s} closes %v", name, match[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: %v stay open", name, open)
	}
	plain := regexp.MustCompile(`\\[\\{}&%$#_]`).ReplaceAllString(text, "")
	depth := 0
	for _, c := range plain {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c > 126 || c == '#' || c == '_' || c == '^' && !strings.Contains(plain, "$^") && !strings.Contains(plain, `\chi^`):
			t.Errorf("%s: character %q", name, c)
		}
		if depth < 0 {
			t.Fatalf("%s: a brace closes nothing", name)
		}
	}
	if depth != 0 || strings.Count(plain, "$")%2 != 0 {
		t.Errorf("%s: braces or mathematics stay open", name)
	}
	columns := regexp.MustCompile(`\\begin\{tabular\}\{([lr]+)\}`).FindStringSubmatch(text)
	if columns == nil {
		return
	}
	span := regexp.MustCompile(`\\multicolumn\{(\d+)\}`)
	for row := range strings.Lines(text) {
		if !strings.HasSuffix(row, " \\\\\n") {
			continue
		}
		cells := 1 + strings.Count(strings.ReplaceAll(row, `\&`, ""), "&")
		for _, match := range span.FindAllStringSubmatch(row, -1) {
			n := 0
			_, _ = fmt.Sscan(match[1], &n)
			cells += n - 1
		}
		if cells != len(columns[1]) {
			t.Errorf("%s: %d cells of %d: %s", name, cells, len(columns[1]), row)
		}
	}
}

// TestScoreTable: sets that count come first, then their mean, and then the others; the highest score of a row is bold.
func TestScoreTable(t *testing.T) {
	r := smallResult()
	r.Sets[0], r.Sets[1] = r.Sets[1], r.Sets[0]
	for v, mean := range []float64{0.5, 0.7, 0.69} {
		r.Variants[v].Scores[1] = spreadOf([]float64{mean})
	}
	table := page{r}.MainTable()
	var got []string
	for _, row := range table.Rows {
		got = append(got, fmt.Sprint(row[0].Text, []bool{row[1].Best, row[2].Best, row[3].Best}))
	}
	if want := "[pairs_100%[false true false] mean score[false false true] kinds[false false false]]"; fmt.Sprint(got) != want || table.Rule != 2 {
		t.Errorf("%v with a rule at %d, want %s", got, table.Rule, want)
	}
}

// TestAgenda: the estimate takes the last time of a variant, and the mean for one that has
// no run yet.
func TestAgenda(t *testing.T) {
	clock := time.Unix(0, 0)
	var runs []experiment.Run
	var records []*Record
	for _, name := range []string{"a", "a", "b", "c", "b"} {
		v := experiment.Variant{Name: name}
		runs, records = append(runs, experiment.Run{Variant: v}), append(records, &Record{Variant: v})
	}
	records[4].Finished = true
	a := newAgenda(&executor{runs: runs}, records)
	a.now = func() time.Time { return clock }
	for i, want := range []string{"  ETA of all 0 µs", "  ETA of all 15 s", "  ETA of all 5.0 s", "  ETA of all 5.0 s"} {
		if got := a.begin(i); got != want {
			t.Errorf("run %d: %q, want %q", i, got, want)
		}
		if i == 0 {
			clock = clock.Add(10 * time.Second)
			a.end(0)
		}
	}
	for _, r := range records {
		r.Finished = false
	}
	if got := newAgenda(&executor{runs: runs}, records).begin(0); got != "" {
		t.Errorf("an estimate of nothing: %q", got)
	}
}

// smallResult is a result of three variants with invented numbers.
func smallResult() *Result {
	r := &Result{
		Command: "w2vcl compare", Budget: experiment.BudgetRecipe, Seeds: 2, Points: 1,
		Sets: []Set{
			{Task: evaluate.TaskSimilarity, Dataset: "pairs_100%", Metric: evaluate.MetricSpearman, Found: 3, Fewest: 3, Total: 4, Main: true, Weight: 1},
			{Task: evaluate.TaskCategorization, Dataset: "kinds", Metric: "purity", Found: 4, Fewest: 4, Total: 4, Main: true},
			{Task: evaluate.TaskAnalogy, Dataset: "questions", Metric: "3cosmul", Found: 4, Fewest: 2, Total: 4},
			{Task: evaluate.TaskClassification, Dataset: "moods", Metric: "accuracy", Found: 4, Fewest: 4, Total: 4},
		},
	}
	for i, name := range []string{"cl", "vanilla", "word2vec"} {
		x := 0.1 * float64(i-1)
		v := VariantResult{Variant: experiment.Variant{Name: name, Mode: name}, Settings: map[string]string{"dim": fmt.Sprint(8 * i), "window": "3"}, Score: spreadOf([]float64{x, x + 0.01})}
		for range r.Sets {
			v.Scores = append(v.Scores, spreadOf([]float64{x, x - 0.02}))
		}
		v.Own = map[string]string{"lr": "0.1"}
		point := CurvePoint{Seconds: spreadOf([]float64{1}), Pairs: spreadOf([]float64{1000}), Score: v.Score, Scores: v.Scores[:2]}
		for b := range bands {
			band := BandOfSeeds{Means: spreadOf([]float64{1}), Variances: spreadOf([]float64{0.1})}
			band.MinCount, band.MaxCount, band.Words = uint64(10*b+1), uint64(10*b+10), 100
			point.Bands = append(point.Bands, band)
		}
		v.Curve = []CurvePoint{point}
		r.Variants = append(r.Variants, v)
		for s := range uint64(2) {
			r.Runs = append(r.Runs, &Record{Variant: v.Variant, Seed: 1 + s})
		}
	}
	for v := range r.Variants {
		for against := range v {
			d := Difference{
				Task: r.Sets[0].Task, Dataset: r.Sets[0].Dataset, Metric: r.Sets[0].Metric, Items: 3,
				Variant: r.Variants[v].Name, Against: r.Variants[against].Name, P: 0.2, Holm: 0.3,
			}
			d.Difference = evaluate.Interval{Value: -0.1, Low: -0.2, High: 0.1}
			r.Differences = append(r.Differences, d)
		}
	}
	return r
}

// TestCoverage: variants with other vocabularies know other parts of a set.
func TestCoverage(t *testing.T) {
	runs := []*Record{
		{Scores: []evaluate.Result{{Dataset: "pairs", Found: 3, Total: 4}, {Dataset: "kinds", Found: 4, Total: 4}}},
		{Scores: []evaluate.Result{{Dataset: "pairs", Found: 1, Total: 4}, {Dataset: "kinds", Found: 4, Total: 4}}},
		{Scores: []evaluate.Result{{Dataset: "pairs", Found: 4, Total: 4}, {Dataset: "kinds", Found: 4, Total: 4}}},
	}
	sets := setsOf(runs)
	if len(sets) != 2 || coverage(sets[0]) != "4 to 1 of 4" || coverage(sets[1]) != "4 of 4" {
		t.Errorf("%+v: %s, %s", sets, coverage(sets[0]), coverage(sets[1]))
	}
}
