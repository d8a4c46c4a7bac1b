package compare

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestCommandLine: only the last names of paths are left, and a shell reads the words again.
func TestCommandLine(t *testing.T) {
	words := []string{
		"--corpus", "/home/jane doe's/a b.txt", "--out", "../x/y/", "--data=my sets/", "--modes", "cl,word2vec", "--variant", "v: mode=cl,init=/a b/c",
		"g=/a/b.bin,seconds=3", `C:\texts\wiki.txt`, "-", "", "it's.txt",
	}
	want := `--corpus 'a b.txt' --out y '--data=my sets' --modes cl,word2vec --variant 'v: mode=cl,init=c' g=b.bin,seconds=3 C:wiki.txt - '' 'it'\''s.txt'`
	if got := commandLine(words); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestNoPathInAnyFile: no file of a report has a path of this machine. It names the text as the user did.
func TestNoPathInAnyFile(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec), settings.ModePPMI)
	o.Seeds, o.Corpus = 1, "the text"
	dir := filepath.Dir(o.Out)
	o.Settings["cache"] = filepath.Join(dir, "encoded")
	o.Variants[0].Own = map[string]string{"vocab": filepath.Join(dir, "words")}
	o.External = []experiment.External{{Name: "elsewhere", Vectors: filepath.Join(o.Out, experiment.RunsFolder, "ppmi-seed1")}}
	f, err := Execute(t.Context(), o, Means{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Summarize(f, "test", "w2vcl compare --corpus "+o.Settings["corpus"]+" --out "+o.Out)
	if err != nil {
		t.Fatal(err)
	}
	r.Data = o.Data
	if err := r.Write(o.Out); err != nil {
		t.Fatal(err)
	}
	text := read(t, o.Settings["corpus"])
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); r.Text.SHA256 != want || r.Text.Corpus != "the text" || r.Text.Bytes != int64(len(text)) {
		t.Errorf("text %+v, want SHA-256 %s", r.Text, want)
	}
	if !strings.Contains(read(t, filepath.Join(o.Out, experiment.RunsFolder, "pword2vec-seed1.json")), o.Settings["corpus"]) {
		t.Error("the record of the run has lost the path, which resuming needs")
	}
	files := 0
	if err := filepath.WalkDir(o.Out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == experiment.RunsFolder {
			return cmp.Or(err, fs.SkipDir)
		}
		if !e.IsDir() {
			files++
			if strings.Contains(read(t, path), dir) {
				t.Errorf("%s has the path %s", path, dir)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if files < 16 {
		t.Errorf("only %d files", files)
	}
}

func TestLimitedBudgets(t *testing.T) {
	o := smallComparison(t, settings.ModeCL, string(sequential.PWord2Vec))
	o.Seeds, o.Settings["contexts"] = 1, "12"
	o.Budget = experiment.Budget{Kind: experiment.BudgetIterations, Amount: 60} // five epochs
	r := summarized(t, o, nil)
	cl, other := float64(r.Variants[0].Pairs.Mean), float64(r.Variants[1].Pairs.Mean)
	if other < 0.7*cl || other > 1.3*cl { // a block of this text is all of it
		t.Errorf("%v pairs, cl trained %v", other, cl)
	}
}

// TestEqualBudgets: runs have as many pairs or words as the first, and a finished comparison stays as it is.
func TestEqualBudgets(t *testing.T) {
	for kind, of := range map[string]func(r *Record) float64{
		experiment.BudgetPairs:  func(r *Record) float64 { return r.Summary.PairsPerSecond * r.Summary.SecondsTrain },
		experiment.BudgetEpochs: func(r *Record) float64 { return r.Summary.Epochs },
	} {
		o := smallComparison(t, string(sequential.PWord2Vec), settings.ModeCL)
		o.Seeds, o.Settings["contexts"], o.Budget = 2, "12", experiment.Budget{Kind: kind}
		o.Variants[0].Own = map[string]string{"sample": "0"}
		r := summarized(t, o, nil)
		if first, cl := of(r.Runs[0]), of(r.Runs[1]); cl < 0.9*first || cl > 1.1*first { // an iteration of this text is a large part
			t.Errorf("equal %s: cl has %v, the first variant %v", kind, cl, first)
		}
		if epochs := r.Runs[2].Summary.Epochs; epochs != 5 {
			t.Errorf("equal %s: the second seed of the first variant trained %v epochs", kind, epochs)
		}
		if said := r.Runs[1].Settings["budget"]; said != "equal "+kind {
			t.Errorf("equal %s: the budget of cl is %q", kind, said)
		}
		var shown bytes.Buffer
		summarized(t, o, progress.New(&shown))
		if done := strings.Count(shown.String(), "done before"); done != 4 {
			t.Errorf("equal %s, once more:\n%s", kind, &shown)
		}
	}
}

// TestMeasuredLength: a budget in seconds is measured once for each variant, also by a command that goes on or begins anew; all of its seeds
// train as much, and the report counts the seconds that were measured.
func TestMeasuredLength(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec), settings.ModeCL, string(sequential.Word2Vec))
	o.Settings["contexts"], o.Budget = "12", experiment.Budget{Kind: experiment.BudgetSeconds}
	summarized(t, o, nil)
	o.Seeds = 3
	r := summarized(t, o, nil)
	o.Out += "2"
	for i, v := range summarized(t, o, nil).Variants {
		if *v.Length != *r.Variants[i].Length {
			t.Errorf("%s: %+v in another folder, %+v before", v.Name, *v.Length, *r.Variants[i].Length)
		}
	}
	for _, v := range r.Variants {
		runs := r.runsOf(v.Variant)
		for _, run := range runs {
			if run.Summary.Iterations != runs[0].Summary.Iterations || run.Length == nil || *run.Length != *v.Length {
				t.Errorf("%s: %d iterations of %+v, seed 1 has %d of %+v", run.Name, run.Summary.Iterations, run.Length, runs[0].Summary.Iterations, v.Length)
			}
		}
		if v.Seconds() != v.Length.Seconds || !(v.Length.Seconds > 0) {
			t.Errorf("%s: %v seconds of %+v", v.Name, v.Seconds(), v.Length)
		}
	}
	first, cl := r.Runs[0], r.Runs[1]
	if first.Summary.Epochs != 5 || cl.Summary.Iterations != cl.Length.Iterations {
		t.Errorf("%v epochs; %d iterations of %+v", first.Summary.Epochs, cl.Summary.Iterations, cl.Length)
	}
	if other := r.Runs[2]; other.Length.Seconds != first.Length.Seconds || other.Length.Words == 0 {
		t.Errorf("%s is to train %+v, the first variant %+v", other.Name, other.Length, first.Length)
	}
}

// TestDiverged: a variant that diverges is said and left out, also by a command that goes on, and the others are compared.
func TestDiverged(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec))
	o.Budget = experiment.Budget{Kind: experiment.BudgetRecipe}
	o.Variants = append(o.Variants, experiment.Variant{Name: "wild", Mode: string(sequential.Word2Vec), Own: map[string]string{"lr": "100"}})
	for range 2 {
		r := reported(t, o, nil)
		if len(r.Diverged) != 2 || !strings.HasPrefix(r.Diverged[0], "wild, seed 1: training diverged: ") || len(r.Variants) != 1 || len(r.Runs) != 2 {
			t.Fatalf("%d runs, diverged %q", len(r.Runs), r.Diverged)
		}
		if !strings.Contains(read(t, filepath.Join(o.Out, PageFile)), "Left out: wild, seed 1: training diverged: ") {
			t.Error("the page does not say it")
		}
	}
	o.Variants, o.Out = o.Variants[1:], o.Out+"2"
	if _, err := Execute(t.Context(), o, Means{}); err == nil || !strings.Contains(err.Error(), "nothing is left to compare: wild, seed 1: ") {
		t.Errorf("error %v", err)
	}
}

// TestFairness: the report says what the variants had the same of.
func TestFairness(t *testing.T) {
	of := func(name string, seconds, pairs, epochs float64) VariantResult {
		one := func(x float64) Spread { return spreadOf([]float64{x}) }
		return VariantResult{
			Variant: experiment.Variant{Name: name, Mode: settings.ModeCL}, SecondsMatrix: one(seconds / 2), SecondsTrain: one(seconds / 2),
			Pairs: one(pairs), Epochs: one(epochs), Searched: &search{Runs: 100},
		}
	}
	barely := of("b", 10, 1e6, 5)
	barely.Searched = &search{Runs: 40}
	never := of("c", 10, 1e6, 5)
	never.Searched = nil
	spelt := of("d", 10, 1e6, 5)
	spelt.Settings = map[string]string{"subword": settings.SubwordNGram}
	external := of("elsewhere", 1, 1, 1)
	external.Mode = experiment.ModeExternal
	for _, test := range []struct {
		variants []VariantResult
		fair     bool
		said     string
	}{
		{[]VariantResult{of("a", 10, 1e6, 5), of("b", 10, 1e6, 5), external}, true, "Same time: yes, 10 seconds each. Same pairs: yes, 1M pairs each. Same epochs: yes, 5 epochs each. Same tuning: yes, 100 runs each. elsewhere trained elsewhere."},
		{[]VariantResult{of("a", 10, 6e6, 5), of("b", 11, 1e6, 6)}, true, "Same time: nearly, from 10 seconds (a) to 11 (b). Same epochs: nearly, from 5 epochs (a) to 6 (b). Same tuning: yes"},
		{[]VariantResult{of("a", 10, 6e6, 5), of("b", 20, 1e6, 60)}, false, "Same time: no, from 10 seconds (a) to 20 (b). Same pairs: no, from 1M pairs (b) to 6M (a). Same epochs: no, from 5 epochs (a) to 60 (b)."},
		{[]VariantResult{of("a", 10, 0, 5), of("b", 20, 1e6, 10)}, false, "Same pairs: no, from 0 pairs (a) to 1M (b)."},
		{[]VariantResult{of("a", 10, 1e6, 5), external}, true, "elsewhere trained elsewhere."},
		{[]VariantResult{of("a", 10, 1e6, 5), barely, never}, true, "Same tuning: no, up to 100 runs."},
		{[]VariantResult{of("a", 10, 1e6, 5), spelt}, true, "Only d (--subword ngram) composes words from their spelling"},
		{[]VariantResult{spelt, spelt, external}, true, "Same epochs: yes, 5 epochs each."},
	} {
		p := page{&Result{Variants: test.variants}}
		if p.Fair() != test.fair || !strings.Contains(p.fairness(), test.said) {
			t.Errorf("fair %t, %q, want %t, %q", p.Fair(), p.fairness(), test.fair, test.said)
		}
	}
}

// TestOverTrained: a curve that falls is said, and none that falls by less than seeds differ.
func TestOverTrained(t *testing.T) {
	point := func(seconds, low, high evaluate.Score) CurvePoint {
		return CurvePoint{Seconds: Spread{Mean: seconds}, Score: Spread{Mean: (low + high) / 2, Low: low, High: high}}
	}
	for _, test := range []struct {
		last CurvePoint
		want int
	}{{point(3, .4, .42), 1}, {point(3, .42, .44), 0}, {point(3, .431, .449), 0}, {point(3, evaluate.NoScore, evaluate.NoScore), 0}} {
		curve := []CurvePoint{point(1, .3, .31), point(2, .43, .45), test.last}
		p := page{&Result{Variants: []VariantResult{{Variant: experiment.Variant{Name: "a"}, Curve: curve}}}}
		said := p.overTrained()
		if marked := strings.Contains(string(p.MainCharts()[0].SVG()), "best here"); marked != (test.want == 1) {
			t.Errorf("at last %v: marked %t", test.last.Score, marked)
		}
		if len(said) != test.want {
			t.Errorf("at last %v: %q", test.last.Score, said)
		}
		if want := "a is over-trained: its mean score was 0.440 after 2 of 3 s, and is 0.410."; test.want == 1 && said[0] != want {
			t.Errorf("%s, want %s", said[0], want)
		}
	}
}

func TestSpread(t *testing.T) {
	s := spreadOf([]float64{1, math.NaN(), 2, 6})
	if s.Mean != 3 || math.Abs(float64(s.Deviation)-math.Sqrt(7)) > 1e-12 || s.Low != 1 || s.High != 6 {
		t.Errorf("%+v", s)
	}
	if one := spreadOf([]float64{4}); one.Mean != 4 || one.Deviation.Valid() {
		t.Errorf("of one value %+v", one)
	}
	if none := spreadOf(nil); none.Mean.Valid() {
		t.Errorf("of nothing %+v", none)
	}
}

// TestHolm compares with R's p.adjust(c(.01, .04, .03, .005), "holm").
func TestHolm(t *testing.T) {
	var family []*Difference
	for _, p := range []float64{.01, .04, .03, .005} {
		family = append(family, &Difference{P: evaluate.Score(p)})
	}
	holm(slices.Clone(family))
	for i, want := range []float64{.03, .06, .06, .02} {
		if got := float64(family[i].Holm); math.Abs(got-want) > 1e-12 {
			t.Errorf("p %v becomes %v, want %v", family[i].P, got, want)
		}
	}
}

// TestSetsOfFewItems: sets of few items that all know count for no mean and are not tested.
func TestSetsOfFewItems(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec), settings.ModeCL)
	o.Settings["contexts"] = "12"
	var many, part strings.Builder
	for i := range 60 {
		line := fmt.Sprintf("w%d w%d %d\n", i, (7*i+3)%60, i*i%10)
		many.WriteString(line)
		if i < 55 {
			part.WriteString(line)
		}
	}
	for name, content := range map[string]string{
		"many.txt": many.String(), "part.txt": part.String(),
		"none.txt": "no1 no2 3\nno3 no4 5\n", "two.txt": "w0 w3 3\nw1 w5 1\n", "one-question.txt": ": a\nw0 w3 w1 w4\n",
	} {
		if err := os.WriteFile(filepath.Join(o.Data, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := reported(t, o, nil)
	if want := "many, weighted in the mean score by known items, at most 1,000 each. " +
		"Left out: none, one-question, pairs, questions and two (fewer than 50 known items); part (part of many)."; r.MeanNote() != want {
		t.Errorf("%q, want %q", r.MeanNote(), want)
	}
	if r.Tests != 2 { // in the mean and on the only set of it
		t.Errorf("%d tests", r.Tests)
	}
	for i, set := range r.Sets {
		if counts := set.Dataset == "many" && set.Main; counts && math.Abs(float64(r.Variants[0].Score.Mean-r.Variants[0].Scores[i].Mean)) > 1e-12 || counts != (set.Weight == 1) {
			t.Errorf("%+v, score %v, mean %v", set, r.Variants[0].Scores[i].Mean, r.Variants[0].Score.Mean)
		}
	}
	for _, d := range r.Differences {
		if d.P.Valid() != (d.Dataset == "many" || d.Task == taskMean) || d.Items < evaluate.MinItems && d.Difference.Low.Valid() {
			t.Errorf("%+v", d)
		}
	}
	if text := read(t, filepath.Join(o.Out, PageFile)); !strings.Contains(text, "Left out: none, <span>one-question") || strings.Contains(text, "NaN") {
		t.Error("the page does not say which sets are left out")
	}
}

// TestMeanScore: the mean score is of all sets that count, and of no others.
func TestMeanScore(t *testing.T) {
	r := &Result{Sets: []Set{{Main: true, Weight: 0.5}, {}, {Main: true, Weight: 0.5}, {Main: true}}}
	for last, want := range map[evaluate.Score]float64{0.2: 0.3, evaluate.NoScore: math.NaN()} {
		got := r.meanScore([]evaluate.Result{{Score: 0.4}, {Score: last}, {Score: evaluate.NoScore}})
		if math.Abs(got-want) > 1e-9 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("the mean of 0.4 and %v is %v, want %v", last, got, want)
		}
	}
}
