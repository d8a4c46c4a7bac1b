package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/benchmarks/experiments"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train/settings"
)

type compareOptions struct {
	settings        cli.SettingFlags
	modes           variantList
	variants        []experiment.Variant
	external        externalsValue
	seeds, points   int
	budget, equal   experiment.Budget
	out, data       string
	classify, quick bool
	list            bool
	json, quiet     bool
}

// comparedSettings are the settings that compare has as flags, because variants
// share them. --variant sets the others.
var comparedSettings = []string{
	"preset", "corpus", "cache", "min-count", "max-vocab", "vocab", "max-sentence", "join-lines", "lowercase", "tokenizer",
	"graph", "directed", "weighted", "walks", "walk-length", "p", "q",
	"model", "dim", "window", "dynamic-window", "negative", "sample", "contexts", "subword", "batch",
	"seed", "threads", "max-memory", "device", "precision",
}

const compareHelp = `Train several modes, or one mode with several settings, on one text under one
budget, score them several times during training, and write DIR/report.html (one page
for a browser), report.json and CSV files. For papers, figures/ has every
chart as SVG, and tables/ every table for LaTeX and as CSV.

The command compares variants: modes (--modes), and modes with their own settings,
  --variant 'NAME: SETTING=VALUE,SETTING=VALUE'
with any setting of 'w2vcl train', and mode=MODE unless NAME is a mode. A number, a
switch or a choice can be a list, here and in the flags below: then there is a variant
for each value (--window 2,5,10). --config reads the same from a file: settings and flags
of this command by their names, and a table [variants.NAME] for each variant. It also takes
the name of an experiment of --list: a figure of a paper, or an ablation.
Flags win over the file. All variants read the text in the same way and have the
dimensions of mode cl and the same encoder (none, if one cannot have it) unless they say
otherwise. Everything else comes from the recipe of each mode; with a paper's --preset all have the paper's window, negatives and
subsampling. A variant's own preset sets everything but how the text is read.

The comparison is fair by default: the first variant trains as long as its recipe says, and
every other run trains for as many seconds, building M included. The speed of each variant is
measured once, in processor time, so all its seeds train as much. Without GPUs, it is kept in the
user's cache folder, so a comparison that is repeated trains as much again. --equal pairs or
--equal epochs equalizes pairs or words of the text, which need no measurement.
--budget gives all runs the same length instead:
  60s, 10m      time of building M and training
  2e9pairs      pairs, positive and negative
  5e8words      running words
  epochs=N      passes over the text, or over M in mode cl with --model sg
  iterations=N  iterations of mode cl, and about as many pairs in the other modes
  recipe        no budget: each mode trains as long as its recipe says
A variant with its own epochs, iterations or budget keeps them. The time of scoring does not
count. The report begins with a verdict: what differs by more than seeds and items explain
(Welch's test, with Holm's correction for all tests), or what would decide it. --classify also scores each finished run on the sets of
sentences in --data (see 'w2vcl eval --help'), which takes minutes for each run.

The runs stay in DIR/runs. After an interrupt, a kill or a crash the same command
continues them. With more variants or seeds it adds runs to the existing ones.`

func newCompare(s cli.Streams) *cobra.Command {
	o := compareOptions{
		modes: variantList{
			settings.ModeCL, settings.ModeVanilla,
			string(sequential.Word2Vec), string(sequential.PWord2Vec),
		},
		equal: experiment.Budget{Kind: experiment.BudgetSeconds},
	}
	cmd := &cobra.Command{
		Use:   "compare --corpus PATH --out DIR [flags]",
		Short: "Train several modes on one text and report quality, time, memory and losses",
		Long:  compareHelp,
		Example: `  w2vcl compare --corpus wiki.txt --out reports/wiki --data sets/ --seeds 3
  w2vcl compare --corpus wiki.txt --out reports/minute --budget 60s --modes cl,word2vec,pword2vec
  w2vcl compare --corpus wiki.txt --out reports/windows --modes cl,pword2vec --window 2,5,10
  w2vcl compare --corpus wiki.txt --out reports/encoders --modes cl --subword none,ngram --device cuda
  w2vcl compare --corpus wiki.txt --out reports/papers --variant 'blazing: preset=blazingtext' --variant 'par: preset=parw2v'
  w2vcl compare --corpus wiki.txt --out reports/fig14 --config w2vcl/figure14 --device cuda
  w2vcl compare --graph blogcatalog.txt --data blogcatalog-labels.txt --out reports/blogs --modes cl,word2vec,parw2v --window 10`,
		Args: cli.OneCorpus,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, s) },
	}
	o.addFlags(cmd)
	return cmd
}

func (o *compareOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&o.modes, "modes",
		"modes to compare, the first one with each of the others: `LIST` of "+cli.Enumerate(settings.ModeNames()))
	flags.Func("variant", "a mode with its own settings, as in 'k20: mode=cl,negative=20': `VARIANT` is NAME: "+
		"SETTING=VALUE,SETTING=VALUE; may be given again", func(text string) error {
		variant, err := experiment.ParseVariant(text)
		o.variants = append(o.variants, variant)
		return err
	})
	flags.Var(&o.external, "external",
		"score vectors of another program beside ours: "+
			"`FILE` is NAME=VECTORS,seconds=S,epochs=N,memory=SIZE, "+
			"of which only NAME=VECTORS is required; a repeated NAME is another seed")
	flags.StringVar(&o.settings.File, "config", "", "read variants and settings from a TOML `FILE`, or take the experiment of that name; flags win over it")
	flags.BoolVar(&o.list, "list", false, "list the experiments that come with w2vcl, for --config")
	flags.StringVar(&o.out, "out", "", "`DIR` for the report and the runs; an existing comparison is continued")
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl); with --graph the file of the nodes' labels")
	flags.BoolVar(&o.classify, "classify", false,
		"also score the finished runs on classes of sentences; takes minutes for each run")
	flags.Func("budget", "train each run for this long: `BUDGET` is 60s, 2e9pairs, 5e8words, epochs=N, iterations=N or recipe (default: see --equal)",
		func(text string) (err error) {
			o.budget, err = experiment.ParseBudget(text)
			return err
		})
	flags.Func("equal", "without --budget, what all runs have as much of as the first run: `NAME` is seconds, pairs or epochs",
		func(text string) (err error) {
			o.equal, err = experiment.ParseEqual(text)
			return err
		})
	flags.Lookup("equal").DefValue = o.equal.Kind
	flags.IntVar(&o.seeds, "seeds", 1, "`N` runs of each variant, with seeds from --seed on")
	flags.IntVar(&o.points, "points", 8, "score each run `N` times during training")
	flags.BoolVar(&o.quick, "quick", false,
		"a short version, to check that everything works: one seed, one second of training, scored once, "+
			"unless --config or other flags say otherwise")
	for _, name := range []string{
		"modes", "variant", "external", "config", "out", "data", "classify",
		"budget", "equal", "seeds", "points", "quick", "list",
	} {
		cli.Annotate(flags.Lookup(name), settings.SectionRun)
	}
	o.settings.AddSettings(cmd,
		func(setting settings.Setting) bool { return slices.Contains(comparedSettings, setting.Name) })
	showOwnDefaults(cmd)
	cli.CompleteValues(cmd, "modes", settings.ModeNames()...)
	cli.CompleteValues(cmd, "budget", experiment.BudgetRecipe, experiment.BudgetEpochs+"=", experiment.BudgetIterations+"=", "60s")
	cli.CompleteValues(cmd, "equal", experiment.Equals...)
	cli.AddJSON(cmd, &o.json, "print the report as one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
}

// showOwnDefaults makes help show, beside the defaults of mode cl, those that other modes have of their own.
func showOwnDefaults(cmd *cobra.Command) {
	for _, name := range []string{"window", "negative", "sample", "batch"} {
		flag, modes := cmd.Flags().Lookup(name), map[string][]string{}
		for _, mode := range settings.ModeNames() {
			c := settings.Defaults(mode, "", "", "")
			for _, s := range c.Settings() {
				if s.Name == name && s.AppliesWith(c.Mode, c.Model) && s.String() != flag.DefValue {
					modes[s.String()] = append(modes[s.String()], mode)
				}
			}
		}
		for _, value := range slices.Sorted(maps.Keys(modes)) {
			flag.DefValue += fmt.Sprintf("; %s in %s", value, strings.Join(modes[value], ", "))
		}
	}
}

func (o *compareOptions) run(cmd *cobra.Command, s cli.Streams) error {
	if err := alone("compare"); err != nil {
		return err
	}
	if o.list {
		return listExperiments(s)
	}
	options, err := o.options(cmd)
	if err != nil {
		return err
	}
	with := compare.Means{Source: o.source(), Progress: s.Progress(o.quiet)}
	if err := o.check(options); err != nil { // before any work
		return err
	}
	data, remove, err := cli.EvalData(o.data)
	if err != nil {
		return err
	}
	defer remove()
	options.Data = data
	finished, stopped := compare.Execute(cmd.Context(), options, with)
	if finished == nil || stopped != nil && len(finished.Missing) == 0 {
		return stopped
	}
	result, err := compare.Summarize(finished, cli.Version(), append([]string{"w2vcl"}, os.Args[1:]...)...)
	if err != nil {
		return err
	}
	if result.Data = o.data; o.data == "" {
		result.Data = "those that come with w2vcl"
	}
	if err := result.Write(o.out); err != nil {
		return err
	}
	with.Progress.Notef("Report:  %s; raw figures: %s", filepath.Join(o.out, compare.PageFile), filepath.Join(o.out, compare.ReportFile))
	if stopped != nil {
		with.Progress.Notef("Not finished, and left out of the report: %s", strings.Join(result.Missing, "; "))
		return stopped
	}
	if o.json {
		return cli.WriteJSON(s.Out, result)
	}
	return printComparison(s, result, filepath.Join(o.out, compare.PageFile))
}

// listExperiments prints the names and titles of the experiments.
func listExperiments(s cli.Streams) error {
	var out cli.Table
	for _, name := range experiments.Names() {
		file, err := experiment.ReadFile(name)
		if err != nil {
			return err
		}
		out.Rowf("%s\t%s", name, file.Title)
	}
	return out.Print(s.Out)
}

// check refuses what cannot be compared.
func (o *compareOptions) check(options experiment.Options) error {
	runs, err := options.Runs()
	if err != nil {
		return err
	}
	graph := options.Settings["graph"]
	if graph != "" && o.data == "" {
		return terminal.Usagef("--graph needs --data: name the file with the labels of the nodes")
	}
	if graph != "" && o.classify {
		return terminal.Usagef("--classify does not apply to --graph: the nodes of a graph are in no sentences")
	}
	if o.classify && o.data == "" {
		return terminal.Usagef("--classify needs --data: no sets of sentences come with w2vcl")
	}
	input := "corpus"
	if graph != "" {
		input = "graph"
	}
	if options.Settings[input] != "-" {
		return nil
	}
	for _, r := range runs {
		if r.TextKey() != runs[0].TextKey() {
			return terminal.Usagef("--%s -: %s reads the text differently from %s: name a file", input, r.Title(), runs[0].Title())
		}
	}
	return nil
}

// source opens the text that comes with w2vcl, if that is the corpus; nil for all
// others. It makes the path of the corpus hold from any folder.
func (o *compareOptions) source() func() io.Reader {
	path := o.settings.Set["corpus"]
	if _, err := os.Stat(path); err != nil && path == testdata.CorpusName {
		return func() io.Reader { return builtinText(path).Source }
	}
	for _, name := range []string{"corpus", "graph"} {
		path := o.settings.Set[name]
		if absolute, err := filepath.Abs(path); err == nil && path != "" && path != "-" {
			o.settings.Set[name] = absolute
		}
	}
	return nil
}

// printComparison prints the verdict, a short form of the first table of the page, without metrics and coverage on a narrow terminal, and what
// a reader asks then.
func printComparison(s cli.Streams, r *compare.Result, page string) error {
	said := []string{r.Verdict[0], strings.Join(r.Verdict[1:], " ")}
	for _, text := range said[:min(len(r.Verdict), 2)] {
		if err := s.Paragraph("", text); err != nil {
			return err
		}
	}
	table := r.LeadTable(true)
	var out cli.Table
	details := false
	for _, row := range table.Rows {
		details = details || row[0].Small != "" && !s.Narrow()
	}
	line := func(name, detail string, cells []string) {
		if details {
			name += "\t" + detail
		}
		out.Rowf("%s", strings.Join(append([]string{name}, cells...), "\t"))
	}
	line(table.Head[0], "", table.Head[1:])
	for _, row := range table.Rows {
		var cells []string
		for _, c := range row[1:] {
			cells = append(cells, c.Text)
		}
		line(row[0].Text, row[0].Small, cells)
	}
	if err := out.Print(s.Out); err != nil {
		return err
	}
	for _, f := range append(r.Facts(), compare.Fact{Name: "Text", Text: r.Subject()}, compare.Fact{Name: "Page", Text: page + " (charts, all settings, the command)"}) {
		if err := s.Paragraph(fmt.Sprintf("%-10s", f.Name), f.Text); err != nil {
			return err
		}
	}
	return nil
}
