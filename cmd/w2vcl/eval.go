package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/nodes"
	"github.com/w2vcl/w2vcl/evaluate/sentences"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type evalOptions struct {
	data     string
	task     string
	restrict int
	sections bool
	graph    string
	nodes    nodes.Options
	against  string
	all      bool
	json     bool
	quiet    bool
}

func newEval(s cli.Streams) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:        "eval DIR|VECTORS [--data DIR] [flags]",
		Short:      "Score vectors on sets of similarity, analogies, categories; on a graph's labels and links",
		SuggestFor: []string{"test", "evaluate", "compute-accuracy", "score"},
		Long: `Score the vectors of a run folder or file on every similarity, analogy and
categorization set in a folder, or on the sets that come with w2vcl. Every score
stands beside its coverage: how many of the set's items have all their words in
the vocabulary. Only the main metrics are shown: Spearman's correlation, 3CosAdd and
purity. --all shows all metrics; --json always has all. A run trained with --subword
composes the vectors of other words. The score then also covers their pairs, unless
no part of a word is known; pairs with and without a composed word are also scored apart.

Sets of sentences (MR, Subj, SST-2) take minutes, so they are scored only with
--task classification. It trains a small convolutional network for each set; the
vectors stay as they are.

Vectors of a graph's nodes (see 'w2vcl walk') have tasks of their own. nodes: find
the labels of nodes by logistic regression; --data is a file of lines "node,label"
or "node label". links: tell edges from pairs without an edge, and rank each node of an
edge, as seen from the other, among all nodes and among 1,000 random ones (MRR, Hits@K);
--data is a file of lines "node node 1" and "node node 0", as 'w2vcl walk --holdout-out'
writes.

These are the formats of sets. The lines of a file decide whether it is a set, not
its name; other files are skipped.
` + formatsHelp() + `
The score of a pair is the first column of numbers, or the column whose title says
so, as in SimLex-999. Lines that begin with # are comments, except in sets
of sentences.`,
		Example: `  w2vcl eval runs/wiki
  w2vcl eval runs/wiki --data evaluation-sets/ --json
  w2vcl eval runs/wiki --data evaluation-sets/ --task categorization
  w2vcl eval runs/wiki --data sentences/ --task classification
  w2vcl eval runs/wiki --against runs/older
  w2vcl eval GoogleNews.bin --data questions-words.txt --restrict-vocab 30000
  w2vcl eval runs/blogs --task nodes --data blogcatalog-labels.txt
  w2vcl eval runs/friends --task links --data links.txt --graph rest.txt`,
		Args: cli.Exactly("DIR|VECTORS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context(), s, args[0])
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *evalOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	flags.StringVar(&o.task, "task", "",
		"only the task `NAME`: "+strings.Join(evalTasks, ", ")+" (default: the first three)")
	flags.BoolVar(&o.all, "all", false, "show all metrics, the main ones first")
	flags.IntVar(&o.restrict, "restrict-vocab", 0, "use only the `N` most frequent words; 0 uses all")
	flags.BoolVar(&o.sections, "sections", false, "show every section of an analogy set")
	flags.Float64SliceVar(&o.nodes.Ratios, "ratios", []float64{0.1, 0.5, 0.9},
		"nodes: `FRACTIONS` of the nodes to learn from")
	flags.Lookup("ratios").DefValue = "0.1,0.5,0.9"
	flags.IntVar(&o.nodes.Repeats, "repeats", 10, "nodes: `N` random splits for each fraction")
	flags.IntVar(&o.nodes.Folds, "folds", 0,
		"nodes: also cross-validate with `N` folds of pairs of node and label, as PAR-Word2Vec does; 0 does not")
	flags.StringVar(&o.graph, "graph", "", "links: leave the edges of the graph in `FILE`, which were trained on, out of the ranking")
	flags.Uint64Var(&o.nodes.Seed, "seed", 1, "nodes and links: `N` from which the splits come")
	flags.StringVar(&o.against, "against", "",
		"compare with the vectors of `DIR|VECTORS`: differences, with intervals and p-values by bootstrap")
	cli.CompleteValues(cmd, "task", evalTasks...)
	cli.AddJSON(cmd, &o.json, "print the scores, by all metrics, as one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
}

// formatsHelp lists the formats of data sets by their tasks.
func formatsHelp() string {
	var b strings.Builder
	for _, task := range evalTasks {
		title := "\n  " + task + "\n"
		for _, f := range dataset.Formats() {
			if f.Task == task {
				b.WriteString(title + "    " + f.Name + "\n")
				title = ""
			}
		}
	}
	return b.String()
}

// evalTasks are the values of --task.
var evalTasks = []string{
	evaluate.TaskSimilarity, evaluate.TaskAnalogy, evaluate.TaskCategorization,
	evaluate.TaskClassification, evaluate.TaskNodes, evaluate.TaskLinks,
}

// graphTask reports whether the vectors are those of a graph's nodes.
func (o *evalOptions) graphTask() bool {
	return o.task == evaluate.TaskNodes || o.task == evaluate.TaskLinks
}

// taskFlags are the flags that are only for some tasks, with these tasks; "" stands
// for all sets of words.
var taskFlags = map[string][]string{
	"restrict-vocab": {"", evaluate.TaskSimilarity, evaluate.TaskAnalogy, evaluate.TaskCategorization, evaluate.TaskClassification},
	"sections":       {"", evaluate.TaskAnalogy},
	"against":        {"", evaluate.TaskSimilarity, evaluate.TaskAnalogy},
	"ratios":         {evaluate.TaskNodes},
	"repeats":        {evaluate.TaskNodes},
	"folds":          {evaluate.TaskNodes},
	"graph":          {evaluate.TaskLinks},
	"seed":           {evaluate.TaskNodes, evaluate.TaskLinks},
}

// check refuses flags that are wrong whatever the data.
func (o *evalOptions) check(flags *pflag.FlagSet) error {
	if err := o.checkValues(); err != nil {
		return err
	}
	var useless error
	flags.Visit(func(flag *pflag.Flag) { // of those that were given
		if tasks, ok := taskFlags[flag.Name]; ok && !slices.Contains(tasks, o.task) {
			useless = terminal.Usagef("--%s: applies only to --task %s", flag.Name, strings.TrimPrefix(strings.Join(tasks, ", "), ", "))
		}
	})
	if useless != nil {
		return useless
	}
	if info, err := os.Stat(o.data); o.data != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data %s: there is no such file or folder", o.data)
	} else if o.graphTask() && err == nil && info.IsDir() {
		return fmt.Errorf("--data %s: --task %s needs a file, not a folder", o.data, o.task)
	}
	return nil
}

// checkValues refuses impossible values.
func (o *evalOptions) checkValues() error {
	switch {
	case o.restrict < 0:
		return terminal.Usagef("--restrict-vocab %d: must be 0 or more", o.restrict)
	case o.task != "" && !slices.Contains(evalTasks, o.task):
		return terminal.Usagef("--task %s: choose %s", o.task, strings.Join(evalTasks, ", "))
	case o.graphTask() && o.data == "":
		return terminal.Usagef("--data is missing: --task %s needs a file", o.task)
	case o.task == evaluate.TaskClassification && o.data == "":
		return terminal.Usagef("--data is missing: no sets of --task %s come with w2vcl", o.task)
	case o.nodes.Repeats < 1:
		return terminal.Usagef("--repeats %d: must be 1 or more", o.nodes.Repeats)
	case o.nodes.Folds < 0 || o.nodes.Folds == 1:
		return terminal.Usagef("--folds %d: must be 0, or 2 or more", o.nodes.Folds)
	}
	for _, fraction := range o.nodes.Ratios {
		if !(fraction > 0 && fraction < 1) {
			return terminal.Usagef("--ratios: %g must be between 0 and 1", fraction)
		}
	}
	return nil
}

func (o *evalOptions) run(ctx context.Context, s cli.Streams, path string) error {
	t, err := runfolder.LoadVectors(ctx, path)
	if err != nil {
		return err
	}
	noteUnfinished(s, path)
	if o.against != "" {
		return o.compare(ctx, s, t.Table)
	}
	results, err := o.score(ctx, s, t)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, results)
	}
	return o.print(s, results)
}

// print shows the results by main metrics, and with --all the others after them.
func (o *evalOptions) print(s cli.Streams, results []evaluate.Result) error {
	isOther := func(r evaluate.Result) bool { return !words.IsMain(r) }
	main := slices.DeleteFunc(slices.Clone(results), isOther)
	others := slices.DeleteFunc(slices.Clone(results), words.IsMain)
	if !o.all {
		if len(others) > 0 && !o.quiet {
			s.Notef("%s by other metrics: --all shows them", terminal.Quantity(terminal.Number(len(others)), "score"))
		}
		others = nil
	}
	return printScores(s, append(main, others...))
}

// score scores vectors on --data, or on the sets that come with w2vcl.
func (o *evalOptions) score(ctx context.Context, s cli.Streams, t *runfolder.Vectors) ([]evaluate.Result, error) {
	if o.graphTask() {
		return o.scoreGraph(ctx, t.Table)
	}
	if o.task == evaluate.TaskClassification {
		return o.classify(ctx, s, t.Table)
	}
	data, remove, err := cli.EvalData(o.data)
	if err != nil {
		return nil, err
	}
	defer remove()
	options := words.Options{Restrict: o.restrict, Sections: o.sections, Task: o.task}
	if t.Encoder != nil {
		options.Compose, options.Parts, options.Source = t.Encoder.Encode, t.Encoder.Parts, string(t.Encoder.Source())
	}
	stage := s.Progress(o.quiet).Stage("scoring", 0)
	options.Progress = func(dataset string, done, total int) {
		stage.SetTotal(int64(total))
		stage.Update(int64(done), func() string { return dataset })
	}
	results, notes, err := words.Score(ctx, t.Table, data, options)
	stage.Stop()
	for _, note := range notes {
		s.Notef("%s", note)
	}
	return results, err
}

// printScores prints a table; on a narrow terminal without the task, which the metric tells,
// and without the number of items.
func printScores(s cli.Streams, results []evaluate.Result) error {
	var out cli.Table
	narrow := s.Narrow()
	if narrow {
		out.Rowf("dataset\tmetric\t score\tfound")
	} else {
		out.Rowf("task\tdataset\tmetric\t score\tfound")
	}
	for _, r := range results {
		coverage := 100.0
		if r.Total > 0 {
			coverage = 100 * float64(r.Found) / float64(r.Total)
		}
		score := fmt.Sprintf("%6s", r.Score)
		if r.Deviation > 0 {
			score += " ±" + r.Deviation.String()
		}
		found, composed := "", ""
		if r.Composed > 0 {
			composed = fmt.Sprintf(", %d more %s", r.Composed, subword.Origin{Source: subword.Source(r.Source)})
		}
		if r.FoundScore != 0 {
			found, composed = ": "+r.FoundScore.String(), composed+": "+r.ComposedScore.String()
		}
		if narrow {
			out.Rowf("%s\t%s\t%s\t%3.0f%%", r.Dataset, r.Metric, score, coverage)
			continue
		}
		out.Rowf("%s\t%s\t%s\t%s\t%d of %d (%.0f%%)%s%s",
			r.Task, r.Dataset, r.Metric, score, r.Found, r.Total, coverage, found, composed)
	}
	return out.Print(s.Out)
}

// classify scores vectors on the sentence classification sets of --data.
func (o *evalOptions) classify(ctx context.Context, s cli.Streams, t *embedding.Table) ([]evaluate.Result, error) {
	shown := s.Progress(o.quiet)
	var stage *progress.Stage // of a set
	progress := func(dataset string, done, total int) {
		if done == 0 {
			stage.Stop()
			stage = shown.Stage(dataset, int64(total))
		}
		stage.Update(int64(done), nil)
		if done == total {
			stage.Done("%s: %d of %d networks", dataset, done, total)
		}
	}
	options := sentences.Options{Restrict: o.restrict, Threads: runtime.GOMAXPROCS(0), Progress: progress}
	defer func() { stage.Stop() }()
	results, notes, err := sentences.Score(ctx, t, o.data, options)
	for _, note := range notes {
		s.Notef("%s", note)
	}
	return results, err
}
