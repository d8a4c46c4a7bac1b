package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/seeds"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type stabilityOptions struct {
	data string
	json bool
}

// A stabilityReport is what stability --json prints.
type stabilityReport struct {
	*seeds.Stability
	Scores []scoreSpread `json:"scores"`
}

// A scoreSpread is the score of the runs on a data set by its main metric.
type scoreSpread struct {
	Task    string           `json:"task"`
	Dataset string           `json:"dataset"`
	Metric  string           `json:"metric"`
	Runs    []evaluate.Score `json:"runs"`
	seeds.Spread
}

func newStability(s cli.Streams) *cobra.Command {
	var o stabilityOptions
	cmd := &cobra.Command{
		Use:   "stability RUN... [flags]",
		Short: "Show how far runs with different seeds agree",
		Long: `Show how far runs that differ only in --seed agree: how many of a word's ten nearest
neighbours two runs have in common, by frequency of the word, and how far the scores of
the runs differ. Each RUN is a run folder or a file of vectors; give two or more.

The overlap of a band of words is a mean over its words and over all pairs of runs.
Its interval holds 95% of what other words of the same frequency would give. The
interval of a mean score is by Student's t, the interval of a standard deviation by χ²
from five runs on.`,
		Example: `  w2vcl stability runs/seed1 runs/seed2 runs/seed3
  w2vcl stability runs/seed* --data sets/ --json`,
		Args: severalRuns,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	cmd.Flags().StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	cli.AddJSON(cmd, &o.json, "print the result as one line of JSON")
	return cmd
}

func severalRuns(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return terminal.Usagef("%s needs two runs or more: name run folders or files of vectors", cmd.CommandPath())
	}
	return nil
}

// loadRuns reads the vectors of several runs.
func loadRuns(ctx context.Context, s cli.Streams, paths []string) ([]*embedding.Table, error) {
	var tables []*embedding.Table
	for _, path := range paths {
		t, err := runfolder.LoadTable(ctx, path)
		if err != nil {
			return nil, err
		}
		noteUnfinished(s, path)
		tables = append(tables, t)
	}
	return tables, nil
}

func (o *stabilityOptions) run(ctx context.Context, s cli.Streams, paths []string) error {
	tables, err := loadRuns(ctx, s, paths)
	if err != nil {
		return err
	}
	report := stabilityReport{}
	table := func(i int) (*embedding.Table, error) { return tables[i], nil }
	if report.Stability, err = seeds.Compare(ctx, len(tables), table); err != nil {
		return err
	}
	if report.Scores, err = o.scores(ctx, s, tables); err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, report)
	}
	return report.print(s)
}

// scores scores all runs on the sets.
func (o *stabilityOptions) scores(ctx context.Context, s cli.Streams, tables []*embedding.Table) ([]scoreSpread, error) {
	data, remove, err := cli.EvalData(o.data)
	if err != nil {
		return nil, err
	}
	defer remove()
	var spreads []scoreSpread
	var values [][]float64 // by set and run
	for run, t := range tables {
		results, notes, err := words.Score(ctx, t, data, words.Options{Methods: []words.Method{words.CosAdd}})
		if err != nil {
			return nil, err
		}
		results = slices.DeleteFunc(results, func(r evaluate.Result) bool { return !words.IsMain(r) })
		for i, r := range results {
			if run == 0 {
				spreads = append(spreads, scoreSpread{Task: r.Task, Dataset: r.Dataset, Metric: r.Metric})
				values = append(values, nil)
			}
			spreads[i].Runs = append(spreads[i].Runs, r.Score)
			values[i] = append(values[i], float64(r.Score))
		}
		for _, note := range notes {
			if run == 0 { // the others have the same
				s.Notef("%s", note)
			}
		}
	}
	for i := range spreads {
		spreads[i].Spread = seeds.SpreadOf(values[i])
	}
	return spreads, nil
}

func (r stabilityReport) print(s cli.Streams) error {
	var out cli.Table
	out.Rowf("words by frequency\tcompared\t%d neighbours in common\t95%% interval", r.Neighbors)
	row := func(name string, o seeds.Overlap) {
		out.Rowf("%s\t%8s\t%s\t%s", name, terminal.Number(o.Compared), o.Overlap.Value.Percent(), limits(o.Overlap, evaluate.Score.Percent))
	}
	for _, b := range r.Bands {
		row(fmt.Sprintf("%s to %s", terminal.Number(b.First), terminal.Number(b.Last)), b)
	}
	row("all", r.All)
	out.Rowf("")
	if err := out.Print(s.Out); err != nil {
		return err
	}
	if r.Runs > 2 {
		if _, err := fmt.Fprintf(s.Out, "Pairs of the %d runs have from %s to %s in common.\n\n",
			r.Runs, r.LeastOfRuns.Percent(), r.MostOfRuns.Percent()); err != nil {
			return err
		}
	}
	var scores cli.Table
	scores.Rowf("dataset\tmetric\t  mean\t95%% interval\tdeviation\t95%% interval")
	for _, x := range r.Scores {
		scores.Rowf("%s\t%s\t%6s\t%s\t%9s\t%s", x.Dataset, x.Metric,
			x.Mean.Value, limits(x.Mean, evaluate.Score.String), x.Deviation.Value, limits(x.Deviation, evaluate.Score.String))
	}
	return scores.Print(s.Out)
}

// limits writes an interval.
func limits(i evaluate.Interval, text func(evaluate.Score) string) string {
	if !i.Low.Valid() {
		return evaluate.NoScore.String()
	}
	return text(i.Low) + " to " + text(i.High)
}
