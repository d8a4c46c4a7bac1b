package main

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// againstResamples gives p-values down to 0.0002.
const againstResamples = 10000

// A scoreDifference is a line of eval --against. The scores are those on the items that
// both tables know.
type scoreDifference struct {
	Task       string            `json:"task"`
	Dataset    string            `json:"dataset"`
	Metric     string            `json:"metric"`
	Score      evaluate.Interval `json:"score"`
	Against    evaluate.Interval `json:"against"`
	Difference evaluate.Interval `json:"difference"`
	P          evaluate.Score    `json:"p"`
	Items      int               `json:"items"`
	Total      int               `json:"total"`
}

// compare prints the differences between the scores of t and those of the vectors of
// --against.
func (o *evalOptions) compare(ctx context.Context, s cli.Streams, t *embedding.Table) error {
	if o.sections {
		return terminal.Usagef("--against compares whole sets on the items that both know: leave out --sections")
	}
	other, err := runfolder.LoadTable(ctx, o.against)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	noteUnfinished(s, o.against)
	data, remove, err := cli.EvalData(o.data)
	if err != nil {
		return err
	}
	defer remove()
	options := words.Options{Restrict: o.restrict, Task: o.task}
	items, notes, err := words.Items(ctx, t, data, options)
	if err != nil {
		return err
	}
	others, _, err := words.Items(ctx, other, data, options) // with the same notes
	if err != nil {
		return err
	}
	for _, note := range notes {
		s.Notef("%s", note)
	}
	differences, err := differencesOf(items, others)
	switch {
	case err != nil:
		return err
	case o.json:
		return cli.WriteJSON(s.Out, differences)
	}
	return printDifferences(s, differences)
}

// differencesOf compares the items of two tables, set by set.
func differencesOf(items, others []evaluate.Items) ([]scoreDifference, error) {
	var differences []scoreDifference
	for i := range items {
		b, err := evaluate.NewBootstrap([][]evaluate.Items{{items[i]}, {others[i]}}, againstResamples, uint64(i))
		if err != nil {
			return nil, err
		}
		d := scoreDifference{
			Task: b.Task, Dataset: b.Dataset, Metric: b.Metric, Score: b.Score(0), Against: b.Score(1),
			Items: b.Items, Total: len(items[i].Values),
		}
		d.Difference, d.P = b.Difference(0, 1)
		differences = append(differences, d)
	}
	return differences, nil
}

func printDifferences(s cli.Streams, differences []scoreDifference) error {
	var out cli.Table
	out.Rowf("task\tdataset\tmetric\t score\tagainst\tdifference\t95%% of samples\t%6s\titems of both", "p")
	for _, d := range differences {
		bounds, p := evaluate.NoScore.String(), evaluate.NoScore.String()
		if d.P.Valid() {
			bounds = fmt.Sprintf("%s to %s", plus(d.Difference.Low), plus(d.Difference.High))
			p = fmt.Sprintf("%.4f", float64(d.P))
		}
		out.Rowf("%s\t%s\t%s\t%6s\t%7s\t%10s\t%s\t%6s\t%d of %d", d.Task, d.Dataset, d.Metric,
			d.Score.Value, d.Against.Value, plus(d.Difference.Value), bounds, p, d.Items, d.Total)
	}
	return out.Print(s.Out)
}

// plus writes a difference with its sign.
func plus(x evaluate.Score) string {
	if !x.Valid() {
		return x.String()
	}
	return terminal.Minus(fmt.Sprintf("%+.3f", float64(x)))
}
