package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/testdata"
)

type compareOptions struct {
	settings          settingFlags
	modes             variantList
	contexts, batches intList
	seeds, points     int
	budget            budgetValue
	modeSettings      modeSettings
	out, data         string
	classify          bool
	json, quiet       bool
}

// comparedSettings are the settings that compare has as flags, because all modes
// share them. --set sets the others.
var comparedSettings = []string{
	"preset", "corpus", "cache", "min-count", "max-vocab", "vocab", "max-sentence", "lowercase", "tokenizer",
	"dim", "window", "dynamic-window", "negative", "sample", "passes", "seed", "threads", "max-memory",
}

func newCompare(s streams) *cobra.Command {
	o := compareOptions{
		modes:        variantList{settings.ModeCL, settings.ModeVanilla, string(sequential.Word2Vec), string(sequential.PWord2Vec)},
		modeSettings: modeSettings{},
	}
	cmd := &cobra.Command{
		Use:   "compare --corpus PATH --out DIR [flags]",
		Short: "Train several modes on one text and report quality, time, memory and losses",
		Long: `Train several modes on one text under one budget, score them several times on the
way, and write DIR/report.html, which needs nothing but a browser, report.json and
CSV files. For papers, figures/ has every chart as SVG and PDF, tables/ every table
for LaTeX, as Markdown and as CSV, and report.tex shows them all. Text, dimensions, window, negatives and subsampling are the same for
all modes. The other settings come from the recipe of each mode, or from --set.

The budget is each recipe's own length, or
  epochs=N      passes over the text, or over M in mode cl
  iterations=N  iterations of mode cl, and about as many pairs in the other modes
  seconds=N     seconds of training
Scoring does not count. Several values of --contexts or --batch compare lengths of
mode cl or batch sizes of mode vanilla. NAME=MODE in --modes is a mode under another
name, for --set to give it other settings. --classify also scores each
finished run on the sets of sentences in --data (see 'w2vcl eval --help'), which
takes minutes for each.

The runs stay in DIR/runs. After an interrupt, a kill or a crash the same command
continues. With more modes or seeds it adds to the runs that are there.`,
		Example: `  w2vcl compare --corpus wiki.txt --out reports/wiki --data sets/ --seeds 3
  w2vcl compare --corpus wiki.txt --out reports/minute --budget seconds=60 --modes cl,word2vec,pword2vec
  w2vcl compare --corpus wiki.txt --out reports/contexts --modes cl --contexts 1024,4096,16384
  w2vcl compare --corpus wiki.txt --out reports/rates --modes vanilla,cl --set vanilla.lr=0.02
  w2vcl compare --corpus wiki.txt --out reports/samples --modes cl,equal=cl --set equal.tempering=0 --set equal.positives=1`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.Var(&o.modes, "modes", "modes to compare, the first one with each of the others: `LIST` of MODE or NAME=MODE, where modes are "+enumerate(settings.ModeNames()))
	flags.StringVar(&o.out, "out", "", "`DIR` for the report and the runs; a comparison that is there is continued")
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	flags.BoolVar(&o.classify, "classify", false, "also score the finished runs on classes of sentences; takes minutes for each run")
	flags.Var(&o.budget, "budget", "how long to train: `BUDGET` is recipe, epochs=N, iterations=N or seconds=N")
	flags.IntVar(&o.seeds, "seeds", 1, "`N` runs of each mode, with seeds from --seed on")
	flags.IntVar(&o.points, "points", 8, "score each run `N` times on its way")
	flags.Var(&o.contexts, "contexts", "iterations of an epoch of mode cl: `LIST` to compare (default: the recipe's)")
	flags.Var(&o.batches, "batch", "pairs in a minibatch of mode vanilla: `LIST` to compare (default: the recipe's)")
	flags.Var(o.modeSettings, "set", "a setting of one mode: `MODE.NAME=VALUE`, as in vanilla.lr=0.02; MODE is its name in --modes; may be given again")
	for _, name := range []string{"modes", "out", "data", "classify", "budget", "seeds", "points", "contexts", "batch", "set"} {
		annotate(flags.Lookup(name), settings.GroupRun)
	}
	o.settings.addSettings(cmd, func(setting settings.Setting) bool { return slices.Contains(comparedSettings, setting.Name) })
	completeValues(cmd, "modes", settings.ModeNames()...)
	completeValues(cmd, "budget", compare.BudgetRecipe, compare.BudgetEpochs+"=", compare.BudgetIterations+"=", compare.BudgetSeconds+"=")
	addJSON(cmd, &o.json, "print the report as one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *compareOptions) run(ctx context.Context, s streams) error {
	options := compare.Options{
		Modes: o.modes, Seeds: o.seeds, Points: o.points, Contexts: o.contexts, Batches: o.batches,
		Settings: o.settings.set, ModeSettings: o.modeSettings, Budget: o.budget.Budget, Out: o.out, Classify: o.classify, Corpus: o.settings.set["corpus"],
	}
	source := o.source()
	if _, err := options.Runs(); err != nil { // before any work
		return err
	}
	if o.classify && o.data == "" {
		return terminal.Usagef("--classify needs --data: no sets of sentences come with w2vcl")
	}
	data, remove, err := evalData(o.data)
	if err != nil {
		return err
	}
	defer remove()
	options.Data = data
	finished, err := compare.Execute(ctx, options, source, s.progress(o.quiet))
	if err != nil {
		return err
	}
	result, err := compare.Summarize(finished, version(), commandLine())
	if err != nil {
		return err
	}
	if result.Data = o.data; o.data == "" {
		result.Data = "those that come with w2vcl"
	}
	if err := result.Write(o.out); err != nil {
		return err
	}
	s.progress(o.quiet).Notef("Report:  %s", filepath.Join(o.out, compare.PageFile))
	if o.json {
		return writeJSON(s.out, result)
	}
	return printComparison(s, result)
}

// source returns the text that comes with w2vcl, if that is the corpus; nil for all
// others. It makes the path of the corpus hold from any folder.
func (o *compareOptions) source() io.Reader {
	path := o.settings.set["corpus"]
	if _, err := os.Stat(path); err != nil && path == testdata.CorpusName {
		return builtinText(path).Source
	}
	if absolute, err := filepath.Abs(path); err == nil && path != "" && path != "-" {
		o.settings.set["corpus"] = absolute
	}
	return nil
}

// printComparison prints a table with a row for each set and a column for each
// variant; on a narrow terminal without metrics and coverage.
func printComparison(s streams, r *compare.Result) error {
	var out table
	narrow := s.narrow()
	row := func(heading string, cell func(v compare.VariantResult) string) {
		if narrow {
			heading, _, _ = strings.Cut(heading, "\t")
		}
		for _, v := range r.Variants {
			heading += "\t" + cell(v)
		}
		out.rowf("%s", heading)
	}
	scores := func(show func(compare.Set) bool) {
		for i, set := range r.Sets {
			if show(set) {
				row(fmt.Sprintf("%s\t%s\t%d of %d", set.Dataset, set.Metric, set.Found, set.Total),
					func(v compare.VariantResult) string { return v.Scores[i].Mean.String() })
			}
		}
	}
	row("dataset\tmetric\tfound", func(v compare.VariantResult) string { return v.Name })
	scores(func(s compare.Set) bool { return s.Main })
	mean := fmt.Sprintf("mean over %d sets", r.ScoredSets())
	if r.ScoredSets() == 1 {
		mean = "mean over 1 set"
	}
	row(mean+"\t\t", func(v compare.VariantResult) string { return v.Score.Mean.String() })
	scores(func(s compare.Set) bool { return s.Task == evaluate.TaskClassification })
	row("seconds of training\t\t", func(v compare.VariantResult) string { return fmt.Sprintf("%.1f", float64(v.SecondsTrain.Mean)) })
	return out.writeTo(s.out)
}

// A variantList is the value of --modes.
type variantList []string

// Set reads the list.
func (l *variantList) Set(text string) error {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if _, mode := compare.NameOf(part); !slices.Contains(settings.ModeNames(), mode) {
			return fmt.Errorf("%q is none of %s", part, strings.Join(settings.ModeNames(), ", "))
		}
		list = append(list, part)
	}
	*l = list
	return nil
}

func (l *variantList) String() string { return strings.Join(*l, ",") }

// Type names the kind of value in help.
func (l *variantList) Type() string { return "list" }

// A budgetValue is the value of --budget.
type budgetValue struct{ compare.Budget }

// Set reads the budget.
func (v *budgetValue) Set(text string) (err error) {
	v.Budget, err = compare.ParseBudget(text)
	return err
}

// Type names the kind of value in help.
func (v *budgetValue) Type() string { return "budget" }

// modeSettings is the value of --set: settings of single modes, by mode and name.
type modeSettings map[string]map[string]string

// Set reads MODE.NAME=VALUE.
func (v modeSettings) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	mode, name, dotted := strings.Cut(key, ".")
	if !ok || !dotted || mode == "" || name == "" {
		return fmt.Errorf("%q is not of the form MODE.NAME=VALUE", text)
	}
	if v[mode] == nil {
		v[mode] = map[string]string{}
	}
	v[mode][name] = value
	return nil
}

func (v modeSettings) String() string { return "" }

// Type names the kind of value in help.
func (v modeSettings) Type() string { return "setting" }
