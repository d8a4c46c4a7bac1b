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
	modes             nameList[string]
	contexts, batches intList
	seeds, points     int
	budget            budgetValue
	own               ownValue
	out, data         string
	classify          bool
	json, quiet       bool
}

// comparedSettings are the settings that compare has as flags: those that all
// modes share. The rest is --set's.
var comparedSettings = []string{
	"preset", "corpus", "min-count", "max-sentence", "lowercase", "tokenizer",
	"dim", "window", "dynamic-window", "negative", "sample", "passes", "seed", "threads", "max-memory",
}

func newCompare(s streams) *cobra.Command {
	o := compareOptions{
		modes: nameList[string]{names: []string{settings.ModeCL, settings.ModeVanilla, string(sequential.Word2Vec), string(sequential.PWord2Vec)}, choices: settings.ModeNames()},
		own:   ownValue{},
	}
	cmd := &cobra.Command{
		Use:   "compare --corpus PATH --out DIR [flags]",
		Short: "Train several modes on one text and report quality, time, memory and losses",
		Long: `Train several modes on one text under one budget, score them along the way, and
write DIR/report.html, which needs nothing but a browser, report.json and CSV
files. Text, dimensions, window, negatives and subsampling are the same for all;
the rest comes from the recipe of each mode, or --set.

The budget is each recipe's own length, or
  epochs=N      passes over the text; in mode cl over the columns of M
  iterations=N  iterations of mode cl, and as many pairs in the other modes
  seconds=N     seconds of training
Scoring takes no time of it. --contexts and --batch with several values compare
context sizes of mode cl and batch sizes of mode vanilla. --classify also scores
each finished run on the sets of sentences in --data (see 'w2vcl eval --help'),
which takes minutes for each.

The runs are kept in DIR/runs. After an interrupt, a kill or a crash the same
command goes on where it was; with more modes or seeds it adds to what is there.`,
		Example: `  w2vcl compare --corpus wiki.txt --out reports/wiki --data sets/ --seeds 3
  w2vcl compare --corpus wiki.txt --out reports/minute --budget seconds=60 --modes cl,word2vec,pword2vec
  w2vcl compare --corpus wiki.txt --out reports/contexts --modes cl --contexts 1024,4096,16384
  w2vcl compare --corpus wiki.txt --out reports/rates --modes vanilla,cl --set vanilla.lr=0.02`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.Var(&o.modes, "modes", "modes to compare, the first one with the others: `LIST` of "+strings.Join(settings.ModeNames(), ", "))
	flags.StringVar(&o.out, "out", "", "`DIR` for the report and the runs; one that holds the same comparison is gone on with")
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	flags.BoolVar(&o.classify, "classify", false, "score the finished runs on the classes of sentences, too; takes minutes for each run")
	flags.Var(&o.budget, "budget", "how long to train: `BUDGET` is recipe, epochs=N, iterations=N or seconds=N")
	flags.IntVar(&o.seeds, "seeds", 1, "`N` runs of each mode, with seeds from --seed on")
	flags.IntVar(&o.points, "points", 8, "score each run `N` times along the way")
	flags.Var(&o.contexts, "contexts", "columns l of M in mode cl: `LIST` to compare (default: the recipe's)")
	flags.Var(&o.batches, "batch", "pairs in a minibatch of mode vanilla: `LIST` to compare (default: the recipe's)")
	flags.Var(o.own, "set", "a setting of one mode: `MODE.NAME=VALUE`, as in vanilla.lr=0.02; may be given again")
	for _, name := range []string{"modes", "out", "data", "classify", "budget", "seeds", "points", "contexts", "batch", "set"} {
		annotate(flags.Lookup(name), settings.GroupRun)
	}
	o.settings.addSettings(cmd, func(setting settings.Setting) bool { return slices.Contains(comparedSettings, setting.Name) })
	addJSON(cmd, &o.json, "print the report as one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *compareOptions) run(ctx context.Context, s streams) error {
	options := compare.Options{
		Modes: o.modes.names, Seeds: o.seeds, Points: o.points, Contexts: o.contexts, Batches: o.batches,
		Settings: o.settings.set, ModeSettings: o.own, Budget: o.budget.Budget, Out: o.out, Classify: o.classify, Corpus: o.settings.set["corpus"],
	}
	source := o.corpus()
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
	ctx, restore := s.interruptible(ctx)
	defer restore()
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

// corpus makes the path of the corpus hold from any folder. The text that comes
// along is known by its name, as resume does it.
func (o *compareOptions) corpus() io.Reader {
	path := o.settings.set["corpus"]
	if _, err := os.Stat(path); err != nil && path == testdata.CorpusName {
		return testdata.Corpus()
	}
	if absolute, err := filepath.Abs(path); err == nil && path != "" && path != "-" {
		o.settings.set["corpus"] = absolute
	}
	return nil
}

func printComparison(s streams, r *compare.Result) error {
	var out table
	line := "dataset\tmetric\tfound"
	for _, v := range r.Variants {
		line += "\t" + v.Name
	}
	out.rowf("%s", line)
	scores := func(show func(compare.Set) bool) {
		for i, set := range r.Sets {
			if !show(set) {
				continue
			}
			line := fmt.Sprintf("%s\t%s\t%d of %d", set.Dataset, set.Metric, set.Found, set.Total)
			for _, v := range r.Variants {
				line += "\t" + v.Scores[i].Mean.String()
			}
			out.rowf("%s", line)
		}
	}
	scores(func(s compare.Set) bool { return s.Main })
	line = "mean\t\t"
	for _, v := range r.Variants {
		line += "\t" + v.Score.Mean.String()
	}
	out.rowf("%s", line)
	scores(func(s compare.Set) bool { return s.Task == evaluate.TaskClassification })
	line = "seconds of training\t\t"
	for _, v := range r.Variants {
		line += fmt.Sprintf("\t%.1f", float64(v.SecondsTrain.Mean))
	}
	out.rowf("%s", line)
	return out.writeTo(s.out)
}

// A budgetValue is the value of --budget.
type budgetValue struct{ compare.Budget }

func (v *budgetValue) Set(text string) (err error) {
	v.Budget, err = compare.ParseBudget(text)
	return err
}

// Type names the kind of value in help.
func (v *budgetValue) Type() string { return "budget" }

// An ownValue is the value of --set: settings by mode and name.
type ownValue map[string]map[string]string

func (v ownValue) Set(text string) error {
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

func (v ownValue) String() string { return "" }

// Type names the kind of value in help.
func (v ownValue) Type() string { return "setting" }
