package experiment

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func testOptions(modes ...string) Options {
	return Options{
		Variants: Modes(modes), Seeds: 1, Points: 2, Out: "out", Budget: Budget{Kind: BudgetRecipe},
		Settings: map[string]string{"corpus": "text"},
	}
}

// TestRunsShareSettings: the settings of the text are the same for all modes, whatever their recipes say, and so is the
// dimension. Under a paper's preset the task is the same as well. Otherwise each mode has the windows and negatives of its own recipe, unless all are
// told. Seeds follow each other.
func TestRunsShareSettings(t *testing.T) {
	for _, preset := range []string{"tuned", "paper"} {
		o := testOptions(settings.ModeNames()...)
		o.Seeds = 2
		o.Settings["preset"], o.Settings["negative"], o.Settings["seed"] = preset, "7", "40"
		o.Settings["model"], o.Settings["contexts"] = settings.ModelSkipGram, "3" // of model sg of mode cl only
		runs, err := o.Runs()
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != 2*len(settings.ModeNames()) {
			t.Fatalf("%d runs", len(runs))
		}
		first := settings.Defaults(settings.ModeCL, preset, "", settings.ModelSkipGram)
		names := map[string]bool{}
		for i, r := range runs {
			c := r.Config
			m, _ := settings.FindMode(r.Mode)
			whole := m.Family == settings.WholeMatrix // without negatives
			want := first
			if preset == "tuned" {
				want = settings.Defaults(r.Mode, preset, "", c.Model)
				want.Dim, want.MinCount = first.Dim, first.MinCount
			}
			if r.Mode == settings.ModeCL {
				want.Window, want.Sample = c.Window, c.Sample // they follow from other settings
			}
			if c.Dim != want.Dim || c.Window != want.Window || c.MinCount != want.MinCount || c.Sample != want.Sample || c.Negative != 7 && !whole {
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
	}
}

// A mode is compared with itself under another name.
func TestNamedModes(t *testing.T) {
	o := testOptions()
	o.Settings["model"], o.Settings["contexts"] = settings.ModelSkipGram, "64, 256"
	o.Variants = []Variant{
		{"cl", "cl", map[string]string{"shared-negatives": "16"}},
		{"equal", "cl", map[string]string{"tempering": "0", "positives": "1"}},
		{"paper", "cl", map[string]string{"preset": "paper", "window": "3"}},
		{"long", "pword2vec", map[string]string{"epochs": "15"}},
	}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.ID())
	}
	if got, want := strings.Join(names, " "), "cl-contexts64-seed1 cl-contexts256-seed1 equal-contexts64-seed1 equal-contexts256-seed1 paper-contexts64-seed1 paper-contexts256-seed1 long-seed1"; got != want {
		t.Errorf("runs %s, want %s", got, want)
	}
	tuned := settings.Defaults(settings.ModeCL, "", "", settings.ModelSkipGram)
	if c := runs[0].Config; c.SharedNegatives != 16 || c.Positives != tuned.Positives {
		t.Errorf("cl: %+v", c.Samples)
	}
	if c := runs[2].Config; c.Mode != settings.ModeCL || c.Contexts != 64 || c.Tempering != 0 || c.Positives != 1 || c.SharedNegatives != 0 || c.ContextWeight != 1 || c.Window != 2 {
		t.Errorf("equal: %+v", c.Samples)
	}
	if c := runs[4].Config; c.Noise != "counts" || c.Positives != 1 || c.Window != 3 || c.Dim != 500 || c.MinCount != tuned.MinCount {
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
		"no modes":         {func(o *Options) { o.Variants = nil }, "--modes is missing"},
		"unknown mode":     {func(o *Options) { o.Variants[1] = Variant{Name: "lsa", Mode: "lsa"} }, `"lsa" is none of`},
		"a mode twice":     {func(o *Options) { o.Variants[1] = o.Variants[0] }, "cl is there twice"},
		"a name twice":     {func(o *Options) { o.Variants = []Variant{{Name: "a", Mode: "cl"}, {Name: "a", Mode: "vanilla"}} }, "a is there twice"},
		"a mode as a name": {func(o *Options) { o.Variants[1] = Variant{Name: "vanilla", Mode: "cl"} }, `"vanilla" cannot be the name`},
		"no name":          {func(o *Options) { o.Variants[1].Name = "" }, `"" cannot be the name`},
		"a path as a name": {func(o *Options) { o.Variants[1].Name = "../x" }, `"../x" cannot be the name`},
		"one folder": {func(o *Options) {
			o.Variants = append([]Variant{{Name: "x-contexts5", Mode: "cl"}}, Variant{Name: "x", Mode: "cl", Own: map[string]string{"contexts": "5,6"}})
		}, "x-contexts5 and x contexts=5 would have the same folder"},
		"no folder":           {func(o *Options) { o.Out = "" }, "--out is missing"},
		"no corpus":           {func(o *Options) { delete(o.Settings, "corpus") }, "--corpus is missing"},
		"no seeds":            {func(o *Options) { o.Seeds = 0 }, "--seeds 0"},
		"no points":           {func(o *Options) { o.Points = 0 }, "--points 0"},
		"contexts without cl": {func(o *Options) { o.Variants, o.Settings["contexts"] = Modes([]string{"fullw2v"}), "5,6" }, "--contexts does not apply to any"},
		"contexts of cbow":    {func(o *Options) { o.Settings["contexts"] = "5,6" }, "--contexts does not apply to --model positional of mode cl: leave it out, or give --model sg"},
		"contexts twice":      {func(o *Options) { o.Settings["model"], o.Settings["contexts"] = "sg", "5,6,5" }, "5 is there twice"},
		"own twice":           {func(o *Options) { o.Variants[0].Own = map[string]string{"window": "2,2"} }, "2 is there twice"},
		"bad value of a list": {func(o *Options) { o.Settings["model"], o.Settings["contexts"] = "sg", "5,x" }, `"x" is not a whole number`},
		"own seed":            {func(o *Options) { o.Variants[0].Own = map[string]string{"seed": "1"} }, "a comparison sets seed itself"},
		"own setting unknown": {func(o *Options) { o.Variants[0].Own = map[string]string{"pace": "1"} }, `unknown setting "pace"`},
		"own of another mode": {func(o *Options) { o.Variants[1].Own = map[string]string{"batch": "1"} }, "--batch does not apply to mode word2vec"},
		"impossible setting":  {func(o *Options) { o.Settings["dim"] = "0" }, "--dim 0"},
		"the same twice":      {func(o *Options) { o.Variants[1] = Variant{"again", settings.ModeCL, map[string]string{"dim": "100"}} }, "variants cl and again have the same settings"},
		"seeds at the end":    {func(o *Options) { o.Seeds, o.Settings["seed"] = 2, "9223372036854775807" }, "too large for 2 seeds"},
		"too many": {func(o *Options) {
			o.Variants[0].Own = map[string]string{"window": "1,2,3,4,5,6,7,8,9,10", "negative": "1,2,3,4,5,6,7,8,9,10", "dim": "1,2,3,4,5,6,7,8,9,10"}
		}, "1001 variants are too many"},
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

// TestVariants: what a variant says goes before what all share, and lists stand for several.
func TestVariants(t *testing.T) {
	o := testOptions(settings.ModeCL)
	o.Settings["window"], o.Settings["min-ngram"] = "3, 5", "4"
	for _, text := range []string{
		"k10: mode=cl, negative=10,window=2", "sub: mode=cl,negative=9,subword=none,ngram", "cnn:mode=cl,subword=cnn,widths=2,3,window=4", "blazing: preset=blazingtext,window=6",
		"fullw2v", "rare: mode=pword2vec,min-count=9,threads=1",
	} {
		v, err := ParseVariant(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		o.Variants = append(o.Variants, v)
	}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		c := r.Config
		got = append(got, fmt.Sprintf("%s: %s %d %d %s", r.ID(), c.Mode, c.Window, c.Negative, c.Subword))
		if want := 5; r.Name != "rare window=3" && r.Name != "rare window=5" && c.MinCount != want {
			t.Errorf("%s has --min-count %d", r.Name, c.MinCount)
		}
		if (r.TextKey() != runs[0].TextKey()) != (c.MinCount == 9) {
			t.Errorf("%s reads the text as %s", r.Name, r.TextKey())
		}
	}
	want := []string{
		"cl-window3-seed1: cl 3 8 none", "cl-window5-seed1: cl 5 8 none", "k10-seed1: cl 2 10 none",
		"sub-window3-subwordnone-seed1: cl 3 9 none", "sub-window3-subwordngram-seed1: cl 3 9 ngram",
		"sub-window5-subwordnone-seed1: cl 5 9 none", "sub-window5-subwordngram-seed1: cl 5 9 ngram",
		"cnn-seed1: cl 4 8 cnn", "blazing-seed1: word2vec 6 5 none",
		"fullw2v-window3-seed1: fullw2v 3 5 none", "fullw2v-window5-seed1: fullw2v 5 5 none",
		"rare-window3-seed1: pword2vec 3 5 none", "rare-window5-seed1: pword2vec 5 5 none",
	}
	if !slices.Equal(got, want) {
		t.Errorf("runs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := runs[7].Config; fmt.Sprint(c.Widths) != "2,3" {
		t.Errorf("widths %v", c.Widths)
	}
	if c := runs[8].Config; c.Dim != 100 || c.Epochs != 20 || c.LR != 0.05 {
		t.Errorf("preset blazingtext: %+v %+v", c.Samples, c.Training)
	}
	for text, want := range map[string]string{
		"x: lr=2":            "variant x says no mode",
		"x: mode=cl,":        "is not of the form",
		"x: mode=cl,=3":      "is not of the form",
		"x: cl":              "is not of the form",
		"x: mode=cl,mode=cl": "sets mode twice",
		"x y: mode=cl":       `"x y" cannot be the name`,
		"mode=cl":            "cannot be the name",
		"x: mode=lsa":        `mode "lsa" is none of`,
		"x: mode=cl,windw=1": `unknown setting "windw"; did you mean "window"?`,
		"x: mode=cl,out=y":   "a comparison sets out itself",
	} {
		if v, err := ParseVariant(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want an error with %q", text, v, err, want)
		}
	}
}

// TestFile: a file says what flags say.
func TestFile(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "experiment.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := ReadFile(write(`
title = "Two windows"
modes = ["vanilla", "word2vec"]
seeds = 3
points = 4
budget = "5s"
dim = 50
window = [2, 5]
tokenizer = "words"
[variants.z]
mode = "cl"
negative = 10
[variants.a]
preset = "parw2v"
window = 8
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{
		Title: "Two windows", Modes: []string{"vanilla", "word2vec"}, Seeds: 3, Points: 4, Budget: "5s",
		Settings: map[string]string{"dim": "50", "window": "2,5", "tokenizer": "words"},
		Variants: []Variant{{"z", "cl", map[string]string{"negative": "10"}}, {"a", "parw2v", map[string]string{"preset": "parw2v", "window": "8"}}},
		Quick:    NewFile().Quick,
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, want %+v", f, want)
	}
	for text, want := range map[string]string{
		"dim = \"many\"":                    "experiment.toml: dim: \"many\" is not a whole number",
		"dimm = 5":                          "unknown setting \"dimm\"; did you mean \"dim\"?",
		"seeds = 0":                         "seeds: 0: must be at least 1",
		"seeds = \"3\"":                     "seeds: 3 has the wrong type",
		"modes = [1]":                       "modes: [1] has the wrong type",
		"mode = \"cl\"":                     "say modes = [...]",
		"[variants.x]\nnegative = 3":        "variants.x: variant x says no mode",
		"[variants.cl]\nnegativ = 3":        "did you mean \"negative\"?",
		"[variants]\ncl = 3":                "it is not a table",
		"[variants.cl]\nwidths = [\"2\"]":   "widths",
		"dim = ":                            "experiment.toml:1: ",
		"[variants.cl]\ncorpus = \"other\"": "a comparison sets corpus itself",
	} {
		if f, err := ReadFile(write(text)); !errors.As(err, new(*terminal.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, error %v, want one with %q", text, f, err, want)
		}
	}
	if _, err := ReadFile("nowhere.toml"); err == nil || !strings.Contains(err.Error(), "--config nowhere.toml: there is no such file") {
		t.Errorf("no file: %v", err)
	}
}

func TestBudget(t *testing.T) {
	for text, want := range map[string]Budget{
		"":                {BudgetRecipe, 0},
		"recipe":          {BudgetRecipe, 0},
		"epochs=3":        {BudgetEpochs, 3},
		"iterations=8192": {BudgetIterations, 8192},
		"0.5s":            {BudgetSeconds, 0.5},
		"90s":             {BudgetSeconds, 90},
		"10m":             {BudgetSeconds, 600},
		"2e9pairs":        {BudgetPairs, 2e9},
		"5e8words":        {BudgetWords, 5e8},
	} {
		b, err := ParseBudget(text)
		if err != nil || b != want {
			t.Errorf("%q is %+v (%v), want %+v", text, b, err, want)
		}
		if again, err := ParseBudget(b.String()); err != nil || again != b {
			t.Errorf("%q is written as %q, which is %+v (%v)", text, b, again, err)
		}
	}
	for _, text := range []string{"epochs", "epochs=0", "epochs=1.5", "seconds=-1", "seconds=NaN", "hours=1", "iterations=", "5", "seconds=Inf", "-3s", "0pairs", "words"} {
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
	text, _ := corpustest.Read(t, corpustest.Zipf(1, 20_000, 700, 40))
	if o.Follows(runs[0]) || !o.Follows(runs[1]) {
		t.Error("not only word2vec follows the iterations of cl")
	}
	pairs, err := o.IterationPairs(runs, text.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.BudgetOf(runfolder.Summary{}, pairs), (trainer.Budget{Kind: trainer.BudgetPairs, Amount: 100 * pairs}); got != want {
		t.Errorf("word2vec has the budget %+v, want %+v", got, want)
	}
	fitted := runs[0].Config
	fitted.FitText(text.Vocabulary)
	if want := 2 * float64(fitted.Batch) * 6; math.Abs(pairs/want-1) > 0.1 { // blocks of a stretch are whole
		t.Errorf("%v pairs an iteration, want about %v", pairs, want)
	}
	if pairs, err := o.IterationPairs(runs[1:2], text.Vocabulary); err != nil || pairs == 0 {
		t.Errorf("without mode cl %v pairs an iteration, %v", pairs, err)
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
	o.Settings["model"], o.Budget = settings.ModelSkipGram, Budget{BudgetEpochs, 2}
	if runs, err = o.Runs(); err != nil {
		t.Fatal(err)
	}
	if c := runs[0].Config; c.Model != settings.ModelSkipGram || c.Epochs != 2 {
		t.Errorf("--model %s trains %d epochs", c.Model, c.Epochs)
	}
	fitted = runs[0].Config
	fitted.FitText(text.Vocabulary)
	if pairs, err := o.IterationPairs(runs, text.Vocabulary); err != nil || pairs != 12*fitted.Positives*float64(text.Vocabulary.Len()) {
		t.Errorf("%v pairs of M, %v", pairs, err)
	}
}

// TestEqualBudgets: all but the first variant, and those that say how long they train, train as long as the first.
func TestEqualBudgets(t *testing.T) {
	o := testOptions(settings.ModePPMI, settings.ModeCL, string(sequential.Word2Vec))
	o.Seeds = 2
	o.Variants = append(o.Variants, Variant{"own", "word2vec", map[string]string{"epochs": "7"}}, Variant{"ppmi2", settings.ModePPMI, map[string]string{"window": "7"}})
	summary := runfolder.Summary{SecondsTrain: 8, PairsPerSecond: 1e6, TrainWords: 500, Epochs: 3.5}
	for kind, want := range map[string]trainer.Budget{
		BudgetPairs: {Kind: trainer.BudgetPairs, Amount: 8e6}, BudgetEpochs: {Kind: trainer.BudgetWords, Amount: 1750},
	} {
		var err error
		if o.Budget, err = ParseEqual(kind); err != nil {
			t.Fatal(err)
		}
		runs, err := o.Runs()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			follows := r.Name == settings.ModeCL || r.Name == string(sequential.Word2Vec)
			if o.Follows(r) != follows {
				t.Errorf("equal %s: %s follows: %t", kind, r.Name, !follows)
			}
			if got := o.BudgetOf(summary, 0); got != want {
				t.Errorf("equal %s: %+v, want %+v", kind, got, want)
			}
		}
		if c := runs[3].Config; c.Epochs != 7 {
			t.Errorf("own trains %d epochs", c.Epochs)
		}
	}
	if b, err := ParseBudget("equal pairs"); err != nil || b != (Budget{Kind: BudgetPairs}) || b.String() != "equal pairs" {
		t.Errorf("equal pairs: %+v, %v", b, err)
	}
	if _, err := ParseEqual("pears"); err == nil {
		t.Error("equal pears")
	}
	o.Budget = Budget{BudgetSeconds, 60}
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "60s", "60s", "", ""} {
		if got := runs[i].Config.Budget.String(); got != want {
			t.Errorf("%s has the budget %q, want %q", runs[i].Name, got, want)
		}
	}
}

// A variant without negatives has no use for those that the others share.
func TestHierarchicalVariant(t *testing.T) {
	o := testOptions(string(sequential.Word2Vec))
	o.Settings["negative"] = "3"
	tree, err := ParseVariant("tree: mode=word2vec,hierarchical-softmax=true")
	if err != nil {
		t.Fatal(err)
	}
	o.Variants = append(o.Variants, tree)
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := runs[0].Config, runs[len(runs)-1].Config; a.HierarchicalSoftmax || a.Negative != 3 || !b.HierarchicalSoftmax || b.ContextWeight != 0 || b.Negative != 0 {
		t.Errorf("%+v and %+v", a.Samples, b.Samples)
	}
}

// TestEqualEncoder: variants that do not choose an encoder have the same one, or none if one of them cannot have it.
func TestEqualEncoder(t *testing.T) {
	for _, test := range []struct {
		modes, subword string
		own            map[string]map[string]string // of more variants
		want, why      string
	}{
		{"cl", "", nil, "ngram", ""},
		{"cl,word2vec,pword2vec", "", nil, "ngram ngram ngram", ""},
		{"vanilla,word2vec", "", nil, "none none", ""},
		{"cl,vanilla,word2vec", "", nil, "none none none", "because vanilla cannot: --subword ngram: mode vanilla has no rows"},
		{"cl,ppmi", "", nil, "none ", "because ppmi cannot: mode ppmi has no encoders."},
		{"cl,word2vec", "none", nil, "none none", ""},
		{"cl", "", map[string]map[string]string{"skip": {"mode": "cl", "model": "sg"}}, "ngram ngram", ""},
		{"cl", "", map[string]map[string]string{"plain": {"mode": "vanilla", "subword": "none"}}, "ngram none", ""},
		{"cl", "", map[string]map[string]string{"long": {"preset": "blazingtext"}}, "none none", "because long cannot: preset blazingtext has no encoder."},
		{"cl", "none,ngram", nil, "none ngram", ""},
	} {
		o := testOptions(strings.Split(test.modes, ",")...)
		for name, own := range test.own {
			v, err := NewVariant(name, own)
			if err != nil {
				t.Fatal(err)
			}
			o.Variants = append(o.Variants, v)
		}
		if test.subword != "" {
			o.Settings["subword"] = test.subword
		}
		runs, err := o.Runs()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range runs {
			got = append(got, r.Config.Subword)
		}
		_, why, err := o.EqualEncoder()
		if err != nil || strings.Join(got, " ") != test.want || !strings.Contains(why, test.why) || test.why == "" && why != "" {
			t.Errorf("%s %v: %q, %q, %v", test.modes, test.own, got, why, err)
		}
	}
}
