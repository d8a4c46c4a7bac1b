package compare

import (
	"errors"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
)

func testOptions(modes ...string) Options {
	return Options{
		Modes: modes, Seeds: 1, Points: 2, Out: "out", Budget: Budget{Kind: BudgetRecipe},
		Settings: map[string]string{"corpus": "text"},
	}
}

// TestRunsShareSettings: the settings of the text and the task are the same for all
// modes, whatever their recipes say; seeds follow each other.
func TestRunsShareSettings(t *testing.T) {
	for _, preset := range []string{"tuned", "paper"} {
		o := testOptions(settings.ModeNames()...)
		o.Seeds = 2
		o.Settings["preset"], o.Settings["negative"], o.Settings["seed"] = preset, "7", "40"
		o.Settings["passes"] = "3" // of mode cl only
		runs, err := o.Runs()
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != 2*len(settings.ModeNames()) {
			t.Fatalf("%d runs", len(runs))
		}
		want := settings.Defaults(settings.ModeCL, preset, "")
		names := map[string]bool{}
		for i, r := range runs {
			c := r.Config
			if c.Dim != want.Dim || c.Window != want.Window || c.MinCount != want.MinCount || c.Sample != want.Sample || c.Negative != 7 {
				t.Errorf("%s, %s: dim %d, window %d, min-count %d, sample %v, negative %d", preset, r.Name, c.Dim, c.Window, c.MinCount, c.Sample, c.Negative)
			}
			if seed := uint64(40 + i/len(settings.ModeNames())); c.Seed != seed {
				t.Errorf("%s: seed %d, want %d", r.Name, c.Seed, seed)
			}
			if names[c.Out] {
				t.Errorf("two runs are in %s", c.Out)
			}
			names[c.Out] = true
		}
		if runs[0].Config.Passes != 3 {
			t.Errorf("passes %d, want 3", runs[0].Config.Passes)
		}
	}
}

func TestSweeps(t *testing.T) {
	o := testOptions(settings.ModeVanilla, settings.ModeCL, string(sequential.Word2Vec))
	o.Contexts, o.Batches = []int{64, 256}, []int{128}
	o.ModeSettings = map[string]map[string]string{settings.ModeVanilla: {"lr": "0.5"}}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, ", "); got != "vanilla, cl l=64, cl l=256, word2vec" {
		t.Errorf("variants %s", got)
	}
	if c := runs[0].Config; c.Batch != 128 || c.LR != 0.5 {
		t.Errorf("vanilla has batch %d, lr %v", c.Batch, c.LR)
	}
	if c := runs[2].Config; c.Contexts != 256 || c.LR == 0.5 {
		t.Errorf("cl has l %d, lr %v", c.Contexts, c.LR)
	}
	if name := runs[1].name(); name != "cl-l64-seed1" {
		t.Errorf("folder %s", name)
	}
}

// A mode is compared with itself under another name.
func TestNamedModes(t *testing.T) {
	o := testOptions(settings.ModeCL, "equal=cl", "paper=cl", "long=pword2vec")
	o.Contexts = []int{64, 256}
	o.ModeSettings = map[string]map[string]string{
		"cl": {"shared-negatives": "16"}, "equal": {"tempering": "0", "positives": "1"}, "paper": {"preset": "paper", "window": "2"}, "long": {"epochs": "15"},
	}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.name())
	}
	if got, want := strings.Join(names, " "), "cl-l64-seed1 cl-l256-seed1 equal-l64-seed1 equal-l256-seed1 paper-l64-seed1 paper-l256-seed1 long-seed1"; got != want {
		t.Errorf("runs %s, want %s", got, want)
	}
	tuned := settings.Defaults(settings.ModeCL, "", "")
	if c := runs[0].Config; c.SharedNegatives != 16 || c.Positives != tuned.Positives {
		t.Errorf("cl: %+v", c.Samples)
	}
	if c := runs[2].Config; c.Mode != settings.ModeCL || c.Contexts != 64 || c.Tempering != 0 || c.Positives != 1 || c.SharedNegatives != 0 || c.ContextWeight != 1 || c.Window != tuned.Window {
		t.Errorf("equal: %+v", c.Samples)
	}
	if c := runs[4].Config; c.Noise != settings.NoiseCounts || c.Positives != 1 || c.Window != 2 || c.Dim != tuned.Dim {
		t.Errorf("paper: %+v", c.Samples)
	}
	if c := runs[6].Config; c.Mode != string(sequential.PWord2Vec) || c.Epochs != 15 {
		t.Errorf("long: %+v", c.Training)
	}
}

func TestOptionsRefuse(t *testing.T) {
	for name, test := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"no modes":         {func(o *Options) { o.Modes = nil }, "--modes is missing"},
		"unknown mode":     {func(o *Options) { o.Modes[1] = "lsa" }, `"lsa" is none of`},
		"a mode twice":     {func(o *Options) { o.Modes[1] = "cl" }, "cl is there twice"},
		"a name twice":     {func(o *Options) { o.Modes = []string{"a=cl", "a=vanilla"} }, "a is there twice"},
		"a mode as a name": {func(o *Options) { o.Modes[1] = "vanilla=cl" }, `"vanilla" cannot be the name`},
		"no name":          {func(o *Options) { o.Modes[1] = "=cl" }, `"" cannot be the name`},
		"a path as a name": {func(o *Options) { o.Modes[1] = "../x=cl" }, `"../x" cannot be the name`},
		"setting of a mode": {func(o *Options) {
			o.Modes[1], o.ModeSettings = "a=vanilla", map[string]map[string]string{"vanilla": {"lr": "1"}}
		}, "mode vanilla is not compared"},
		"no folder":           {func(o *Options) { o.Out = "" }, "--out is missing"},
		"no corpus":           {func(o *Options) { delete(o.Settings, "corpus") }, "--corpus is missing"},
		"no seeds":            {func(o *Options) { o.Seeds = 0 }, "--seeds 0"},
		"no points":           {func(o *Options) { o.Points = 0 }, "--points 0"},
		"contexts without cl": {func(o *Options) { o.Modes[0], o.Contexts = "fullw2v", []int{5} }, "--contexts is for mode cl"},
		"batch of others":     {func(o *Options) { o.Batches = []int{5} }, "--batch is for mode vanilla"},
		"contexts twice":      {func(o *Options) { o.Contexts = []int{5, 6, 5} }, "5 is there twice"},
		"own of another mode": {func(o *Options) { o.ModeSettings = map[string]map[string]string{"vanilla": {"lr": "1"}} }, "mode vanilla is not compared"},
		"own seed":            {func(o *Options) { o.ModeSettings = map[string]map[string]string{"cl": {"seed": "1"}} }, "--set cl.seed"},
		"own setting unknown": {func(o *Options) { o.ModeSettings = map[string]map[string]string{"cl": {"pace": "1"}} }, "pace"},
		"setting of no mode":  {func(o *Options) { o.Modes, o.Settings["passes"] = []string{"word2vec"}, "2" }, "--passes does not apply to any"},
		"impossible setting":  {func(o *Options) { o.Settings["dim"] = "0" }, "--dim 0"},
		"seeds at the end":    {func(o *Options) { o.Seeds, o.Settings["seed"] = 2, "9223372036854775807" }, "too large for 2 seeds"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(settings.ModeCL, string(sequential.Word2Vec))
			test.change(&o)
			_, err := o.Runs()
			if !errors.As(err, new(*terminal.UsageError)) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestBudget(t *testing.T) {
	for text, want := range map[string]Budget{
		"":                {BudgetRecipe, 0},
		"recipe":          {BudgetRecipe, 0},
		"epochs=3":        {BudgetEpochs, 3},
		"iterations=8192": {BudgetIterations, 8192},
		"seconds=0.5":     {BudgetSeconds, 0.5},
	} {
		b, err := ParseBudget(text)
		if err != nil || b != want {
			t.Errorf("%q is %+v (%v), want %+v", text, b, err, want)
		}
		if again, err := ParseBudget(b.String()); err != nil || again != b {
			t.Errorf("%q is written as %q, which is %+v (%v)", text, b, again, err)
		}
	}
	for _, text := range []string{"epochs", "epochs=0", "epochs=1.5", "seconds=-1", "seconds=NaN", "hours=1", "iterations=", "5", "seconds=1e10"} {
		if b, err := ParseBudget(text); err == nil {
			t.Errorf("%q is %+v without an error", text, b)
		}
	}
}

// TestBudgetOfModes: mode cl gets its iterations, the others as many pairs.
func TestBudgetOfModes(t *testing.T) {
	o := testOptions(settings.ModeCL, string(sequential.Word2Vec))
	o.Settings["negative"] = "5"
	o.Budget = Budget{BudgetIterations, 100}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	if got := runs[0].Config.Iterations; got != 100 {
		t.Errorf("cl trains %d iterations, want 100", got)
	}
	if got := o.Budget.limit(runs[0].Config, 1000, 8); got != (train.Limit{}) {
		t.Errorf("cl has the limit %+v", got)
	}
	if got, want := o.Budget.limit(runs[1].Config, 1000, 8), (train.Limit{Pairs: 100 * 2 * 8 * 1000 * 6}); got != want {
		t.Errorf("word2vec has the limit %+v, want %+v", got, want)
	}
	text, _ := corpustest.Read(t, corpustest.Zipf(1, 20_000, 700, 40))
	fitted := runs[0].Config
	fitted.FitText(text.Vocabulary)
	if positives, err := o.positives(runs, text.Vocabulary); err != nil || positives == 0 || positives != fitted.Positives {
		t.Errorf("%v positives, %v", positives, err)
	}
	if positives, err := o.positives(runs[1:2], text.Vocabulary); err != nil || positives == 0 {
		t.Errorf("without mode cl %v positives, %v", positives, err)
	}
	o.Budget = Budget{BudgetEpochs, 3}
	if runs, err = o.Runs(); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Config.Epochs != 3 || r.Config.Iterations != 0 {
			t.Errorf("%s trains %d epochs, %d iterations", r.Name, r.Config.Epochs, r.Config.Iterations)
		}
	}
}
