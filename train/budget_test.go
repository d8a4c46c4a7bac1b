package train

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// budgetConfig is a run of a mode on a text of 25,000 words.
func budgetConfig(t *testing.T, mode, model, budget string) settings.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(corpustest.Zipf(1, 25_000, 900, 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := map[string]string{"corpus": path, "out": filepath.Join(t.TempDir(), "out"), "mode": mode, "dim": "8", "threads": "1"}
	if budget != "" {
		flags["budget"] = budget
	}
	if model != "" {
		flags["model"] = model
	}
	switch model {
	case settings.ModelPositional:
		flags["subword"] = settings.SubwordNone
	case settings.ModelSkipGram:
		flags["contexts"] = "128" // an epoch has so many iterations
	}
	c, err := settings.Resolve("", flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBudgets: every mode keeps its budget of pairs and words within 3%, and says so before. An epoch of glove is one unit.
func TestBudgets(t *testing.T) {
	for _, m := range settings.Modes() {
		models := []string{""}
		switch m.Name {
		case settings.ModePPMI: // without a length
			continue
		case settings.ModeCL:
			models = []string{settings.ModelPositional, settings.ModelSkipGram}
		}
		for _, model := range models {
			t.Run(m.Name+model, func(t *testing.T) {
				t.Parallel()
				for budget, amount := range map[string]float64{"1e6pairs": 1e6, "62500words": 62_500} {
					checkBudget(t, budgetConfig(t, m.Name, model, budget), amount)
				}
			})
		}
	}
}

func checkBudget(t *testing.T, c settings.Config, amount float64) {
	t.Helper()
	plan, err := MakePlan(t.Context(), c, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := Run(t.Context(), c, Options{NoPlan: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done, planned := float64(summary.TrainWords)*summary.Epochs, float64(plan.TrainWords)*plan.Epochs
	unit := float64(summary.TrainWords) // of glove
	if c.Budget.Kind == trainer.BudgetPairs {
		done, planned = summary.PairsPerSecond*summary.SecondsTrain, plan.PairsPerIteration*float64(plan.Iterations)
		unit = plan.PairsPerIteration
	}
	if c.Mode == settings.ModeGloVe {
		if math.Abs(done-amount) > 0.51*unit {
			t.Errorf("%s: %g", c.Budget, done)
		}
		return
	}
	if math.Abs(done/amount-1) > 0.03 {
		t.Errorf("%s: %g, %+.1f%%", c.Budget, done, 100*(done/amount-1))
	}
	if math.Abs(planned/amount-1) > 0.1 { // it measured a few units
		t.Errorf("%s: the plan says %g, %+.1f%%", c.Budget, planned, 100*(planned/amount-1))
	}
}

// TestSteadySpeed: in every mode the speed can be measured for longer than a run takes, with the pairs that the run has.
func TestSteadySpeed(t *testing.T) {
	for _, name := range allModes() {
		mode, model := withModel(name)
		c := budgetConfig(t, mode, model, "")
		plan, err := MakePlan(t.Context(), c, Options{Steady: true}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plain, err := MakePlan(t.Context(), c, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := plan.PairsPerIteration / plain.PairsPerIteration; !(plan.SecondsTrain > 0) || mode != settings.ModePPMI && math.Abs(ratio-1) > 0.2 {
			t.Errorf("%s: %v s, %v times the pairs", name, plan.SecondsTrain, ratio)
		}
	}
}

// TestBudgetOfTime: a run ends when its time is over, with the time of building M.
func TestBudgetOfTime(t *testing.T) {
	for _, mode := range []string{settings.ModeCL, "pword2vec"} {
		c := budgetConfig(t, mode, "", "0.5s")
		plan, err := MakePlan(t.Context(), c, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		summary, err := Run(t.Context(), c, Options{NoPlan: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The end of a unit is nearest. Where the machine is busy, some units take long, and a run may end late.
		unit := summary.SecondsTrain / float64(summary.Iterations)
		if parts := summary.SecondsRead + summary.SecondsMatrix + summary.SecondsTrain + summary.SecondsSave; summary.SecondsSave <= 0 || parts > summary.SecondsTotal {
			t.Errorf("%s: %v s of reading, M, training and saving (%v) in %v s", mode, parts, summary.SecondsSave, summary.SecondsTotal)
		}
		if s := summary.SecondsMatrix + summary.SecondsTrain; s < 0.499-unit/2 || s > 4 {
			t.Errorf("%s: %g s of 0.5, units of %g", mode, s, unit)
		}
		unit = plan.SecondsTrain / float64(plan.Iterations)
		if s := plan.SecondsMatrix + plan.SecondsTrain; math.Abs(s-0.5) > 0.001+unit/2 && plan.SecondsMatrix < 0.499 {
			t.Errorf("%s: the plan says %g s of 0.5, units of %g", mode, s, unit)
		}
		if plan.Iterations > 1e6 {
			t.Errorf("%s: the plan says %d units", mode, plan.Iterations)
		}
	}
}

// TestBudgetResumes: a run with a budget of pairs goes on to the same bits.
func TestBudgetResumes(t *testing.T) {
	for _, mode := range []string{settings.ModeCL, "pword2vec"} {
		c := budgetConfig(t, mode, "", "1500000pairs")
		if _, err := Run(t.Context(), c, Options{NoPlan: true}, nil); err != nil {
			t.Fatal(err)
		}
		want := hashOf(t, c.Out)
		c.Out = filepath.Join(t.TempDir(), "again")
		failure := errors.New("stop")
		stop := Options{NoPlan: true, Observations: 3, Observe: func(Observation) error { return failure }}
		c.Checkpoint = interval(t, "1")
		if _, err := Run(t.Context(), c, stop, nil); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if _, err := Resume(t.Context(), nil, c.Out, map[string]string{"checkpoint": "0"}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if hashOf(t, c.Out) != want {
			t.Errorf("%s: other vectors after a resume", mode)
		}
	}
}
