package compare

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
)

// A simulation is a comparison of variants whose scores are drawn: the items are the same for all; how well a seed knows them varies.
type simulation struct {
	seeds   int
	gains   []float64 // by variant: what it knows more of a set of pairs
	spread  float64   // between seeds
	shuffle float64   // of single items, by seed
}

// run returns the result of a comparison on two sets of pairs and one of questions.
func (s simulation) run(t *testing.T, random *rand.Rand) *Result {
	t.Helper()
	f, r := &Finished{}, &Result{Seeds: s.seeds, Budget: experiment.BudgetRecipe}
	truth := map[string][]float64{}
	sizes := map[string]int{"pairs": 150, "few pairs": 60, "questions": 100}
	for _, set := range []string{"pairs", "few pairs", "questions"} {
		for range 2 * sizes[set] { // what people say of the items, and what the text says otherwise
			truth[set] = append(truth[set], random.NormFloat64())
		}
	}
	for v, gain := range s.gains {
		variant := experiment.Variant{Name: "v" + strconv.Itoa(v), Mode: "cl"}
		f.Options.Variants = append(f.Options.Variants, variant)
		for range s.seeds {
			knows := 0.7 + gain + s.spread*random.NormFloat64()
			record := &Record{Variant: variant}
			var all []evaluate.Items
			for _, set := range []string{"pairs", "few pairs", "questions"} {
				n := sizes[set]
				items := evaluate.Items{Task: evaluate.TaskSimilarity, Dataset: set, Metric: evaluate.MetricSpearman, Human: truth[set][:n]}
				for i := range n {
					items.Values = append(items.Values, knows*truth[set][i]+truth[set][n+i]+s.shuffle*random.NormFloat64())
				}
				score := evaluate.Spearman(items.Values, items.Human)
				if set == "questions" {
					items.Task, items.Metric, items.Human = evaluate.TaskAnalogy, "3cosadd", nil
					for i, x := range items.Values {
						items.Values[i] = 0
						if x > 0 {
							items.Values[i] = 1
						}
					}
					score = stat.Mean(items.Values, nil)
				}
				all = append(all, items)
				record.Scores = append(record.Scores, evaluate.Result{
					Task: items.Task, Dataset: set, Metric: items.Metric, Score: evaluate.Score(score), Found: n, Total: n,
				})
			}
			f.Items, f.Records, r.Runs = append(f.Items, all), append(f.Records, record), append(r.Runs, record)
		}
	}
	return r.compared(t, f)
}

// compared fills in what a report says about the runs.
func (r *Result) compared(t *testing.T, f *Finished) *Result {
	t.Helper()
	r.Sets = setsOf(r.Runs)
	r.weigh(f)
	for _, v := range f.rows() {
		r.Variants = append(r.Variants, r.variant(v, r.runsOf(v)))
	}
	if err := r.compareAll(f, 100); err != nil {
		t.Fatal(err)
	}
	r.Verdict, r.Next = r.verdict()
	return r
}

// TestFalseAlarms: of 200 comparisons of a mode with itself under other seeds, the verdict names a difference in one of twenty at most.
func TestFalseAlarms(t *testing.T) {
	comparisons := 200
	if more, err := strconv.Atoi(os.Getenv("W2VCL_COMPARISONS")); err == nil {
		comparisons = more
	}
	for name, s := range map[string]simulation{
		"two seeds":     {2, []float64{0, 0}, 0.05, 0.3},
		"three seeds":   {3, []float64{0, 0}, 0.05, 0.3},
		"four variants": {2, []float64{0, 0, 0, 0}, 0.05, 0.3},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		alarms := 0
		for range comparisons {
			if slices.ContainsFunc(s.run(t, random).Differences, Difference.named) {
				alarms++
			}
		}
		t.Logf("%s: %d of %d", name, alarms, comparisons)
		if alarms > comparisons/20 {
			t.Errorf("%s: %d of %d comparisons of a mode with itself name a difference", name, alarms, comparisons)
		}
	}
}

// TestFalseAlarmsOfRuns is the same of three and three of the runs W2VCL_RUNS, which are of one mode, on the sets W2VCL_SETS.
func TestFalseAlarmsOfRuns(t *testing.T) {
	runs, _ := filepath.Glob(os.Getenv("W2VCL_RUNS"))
	sets := os.Getenv("W2VCL_SETS")
	if len(runs) < 6 || sets == "" {
		t.Skip("W2VCL_RUNS and W2VCL_SETS name no runs and sets")
	}
	known, err := words.ReadSets(t.Context(), sets, "")
	if err != nil {
		t.Fatal(err)
	}
	j := judge{known: known, data: sets}
	items, scores := make([][]evaluate.Items, len(runs)), make([][]evaluate.Result, len(runs))
	for i, run := range runs {
		if scores[i], items[i], err = j.all(t.Context(), run, 0); err != nil {
			t.Fatal(err)
		}
	}
	random, alarms := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		f, r := &Finished{contained: known.Contained(), Options: experiment.Options{Variants: experiment.Modes([]string{"cl", "vanilla"})}}, &Result{}
		for k, i := range random.Perm(len(runs))[:6] {
			record := &Record{Variant: f.Options.Variants[k/3], Scores: scores[i]}
			f.Items, f.Records, r.Runs = append(f.Items, items[i]), append(f.Records, record), append(r.Runs, record)
		}
		if slices.ContainsFunc(r.compared(t, f).Differences, Difference.named) {
			alarms++
		}
	}
	t.Logf("%d of 200 comparisons name a difference", alarms)
	if alarms > 10 {
		t.Error("these are more than 5%")
	}
}

// TestCaveats: the verdict says on which set the lead of the best variant hangs, and that others are less tuned.
func TestCaveats(t *testing.T) {
	r := Result{Sets: []Set{{Dataset: "x", Weight: .5}, {Dataset: "y", Weight: .5}, {Dataset: "part"}}}
	for name, scores := range map[string][]float64{"a": {.1, .9, .1}, "b": {.2, .3, .1}, "c": {.05, .3, .9}} {
		v := VariantResult{Variant: experiment.Variant{Name: name}, Score: spreadOf([]float64{(scores[0] + scores[1]) / 2}), Searched: &search{Runs: 10}}
		for _, score := range scores {
			v.Scores = append(v.Scores, spreadOf([]float64{score}))
		}
		r.Variants = append(r.Variants, v)
	}
	best := r.ranked()[0]
	if got, want := r.hangsOn(best), "Without y, b would lead, 0.200 to 0.100."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.hangsOn(VariantResult{Score: spreadOf([]float64{.6}), Scores: []Spread{spreadOf([]float64{.9}), spreadOf([]float64{.2}), {}}}), "Without x, a would lead, 0.900 to 0.300."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if said := r.tunedMore(best); said != "" {
		t.Errorf("equal tuning: %q", said)
	}
	r.Variants[slices.IndexFunc(r.Variants, func(v VariantResult) bool { return v.Name == "a" })].Searched = &search{Runs: 40}
	best = r.ranked()[0]
	if got, want := r.tunedMore(best), "But a was tuned with 40 runs, the others with 10."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range r.Variants {
		v := &r.Variants[i]
		v.Mode, v.Settings = v.Name, map[string]string{"lr": "0.1"}
		if v.Name == "c" { // what it has of its own would be lost
			v.Own = map[string]string{"window": "3"}
		}
	}
	want := "More tuning might: repeat with --modes a --variant 'b: lr=0.05,0.1,0.2' and a new --out."
	if got := r.further(r.ranked()[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVerdict: the verdict names what differs by more than chance, and what else would decide it.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		value, items, seeds float64
		want                string
	}{
		{0.02, 1e-5, 1e-4, "4 more seeds would tell a from b, if the difference stays."},
		{0.02, 1e-4, 1e-4, "More seeds would not tell a from b, but sets of about 2 times as many items would, if the difference stays."},
		{0.001, 1e-4, 1e-4, "Neither 100 more seeds nor 100 times as many items would tell a from b."},
	} {
		r := Result{Testable: true, SeveralSeeds: true, Tests: 6}
		d := Difference{Variant: "a", Against: "b"}
		d.value, d.items = test.value, test.items
		d.pair = [2]sample{{2, test.seeds, 1}, {2, test.seeds, 1}}
		if got := r.decider(d); got != test.want {
			t.Errorf("%+v: %q, want %q", d.effect, got, test.want)
		}
	}
	for _, test := range []struct {
		s    simulation
		want []string
	}{
		{simulation{3, []float64{0, 0.6}, 0.02, 0.3}, []string{"v1 scores higher than v0. The mean scores are ", ", more than chance explains.", "On pairs and few pairs, v1 is significantly higher than v0."}},
		{simulation{3, []float64{0, 0.6, 0.6}, 0.02, 0.3}, []string{"v1 and v2 have the highest mean scores, up to ", " is higher than v0 by ", " cannot be told apart from v"}},
		{simulation{3, []float64{0, 0, 0, 0, 0.9}, 0.02, 0.3}, []string{" has the highest mean score, ", "It is higher than all 4 others, by ", ") or more, more than chance", "v4 is significantly higher than all 4 others"}},
		{simulation{2, []float64{0, 0.1}, 0.1, 0.1}, []string{" cannot be told apart. ", "No single set tells them apart."}},
		{simulation{1, []float64{0, 0.6}, 0, 0.3}, []string{"One seed cannot tell v1 and v0 apart. ", "Add seeds with --seeds 3"}},
		{simulation{1, []float64{0}, 0, 0.3}, []string{"The mean score of v0 is ", "There is nothing to compare it with."}},
	} {
		r := test.s.run(t, rand.New(rand.NewPCG(3, 4)))
		for _, want := range test.want {
			if said := strings.Join(append(r.Verdict, r.Next), " "); !strings.Contains(said, want) {
				t.Errorf("%+v: %q, want %q", test.s, said, want)
			}
		}
	}
}
