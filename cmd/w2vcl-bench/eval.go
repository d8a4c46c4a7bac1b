package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type evalOptions struct {
	benchFlags
	vectors, data string
	words, dim    int
	seed          uint64
}

func newEval(s cli.Streams) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [flags]",
		Short: "Measure scoring on similarity and analogy sets",
		Long: `Score vectors on each evaluation set several times: every pair of a similarity
set, and every question of an analogy set by each method (lrcos: every pair of a
section). Reading the file of the set is part of the time. Without --vectors there
are random vectors for all words of the sets.

GB/s counts two rows for a pair, and the whole table once for each section of an
analogy set, because one pass over the table answers all questions of a section.
The figure shows that arithmetic limits the speed, not memory. All processors are used.`,
		Example: `  w2vcl-bench eval --dim 300 --words 70000
  w2vcl-bench eval --vectors runs/wiki --data evaluation-sets/`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.vectors, "vectors", "", "run folder or vectors file at `PATH` (default: random vectors)")
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	flags.IntVar(&o.words, "words", 20000, "fill the vocabulary of random vectors up to `N` words")
	flags.IntVar(&o.dim, "dim", 100, "dimensions `N` of random vectors")
	flags.Uint64Var(&o.seed, "seed", 1, "`N` from which random vectors come")
	o.benchFlags.addTo(cmd, 0.5, "a set")
	return cmd
}

// evalSettings are the settings in the JSON.
type evalSettings struct {
	Vectors string  `json:"vectors"` // "": random
	Data    string  `json:"data"`    // "": the sets that come with w2vcl
	Words   int     `json:"words"`
	Dim     int     `json:"dim"`
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	Repeat  int     `json:"repeat"`
}

func (o *evalOptions) check() error {
	if o.words < 0 || o.words > 1e8 {
		return terminal.Usagef("--words %d: must be from 0 to 100,000,000", o.words)
	}
	if o.dim < 1 || o.dim > 65536 {
		return terminal.Usagef("--dim %d: must be from 1 to 65536", o.dim)
	}
	return o.benchFlags.check()
}

func (o *evalOptions) run(ctx context.Context, s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	data, remove, err := cli.EvalData(o.data)
	if err != nil {
		return err
	}
	defer remove()
	t, err := o.table(ctx, data)
	if err != nil {
		return err
	}
	report := o.begin(s, "eval", evalSettings{o.vectors, o.data, t.Len(), t.Dim, o.seed, o.seconds, o.repeat})
	p := s.Progress(o.quiet)
	results, err := bench.MeasureEval(ctx, t, data, o.effort(), func(r bench.EvalResult) {
		p.Notef("%s: %s", strings.TrimSpace(r.Dataset+" "+r.Method), milliseconds(r.Seconds.Median))
	})
	return o.finish(ctx, s, report, results, len(results), err, func() error { return printEvals(s, t, results) })
}

// table returns the vectors to score.
func (o *evalOptions) table(ctx context.Context, data string) (*embedding.Table, error) {
	if o.vectors != "" {
		return runfolder.LoadTable(ctx, o.vectors)
	}
	return bench.RandomTable(ctx, data, o.words, o.dim, o.seed)
}

func printEvals(s cli.Streams, t *embedding.Table, results []bench.EvalResult) error {
	var out cli.Table
	out.Rowf("%s words, N = %d", terminal.Number(t.Len()), t.Dim)
	if err := out.Print(s.Out); err != nil {
		return err
	}
	out = cli.Table{}
	out.Rowf("  task\tdataset\tmethod\t%9s\t%12s\t%7s\t%12s\t%6s", "items", "time", "spread", "items/s", "GB/s")
	for _, r := range results {
		out.Rowf("  %s\t%s\t%s\t%9s\t%12s\t%7s\t%12s\t%6s", r.Task, r.Dataset, r.Method, terminal.Number(r.Items),
			milliseconds(r.Seconds.Median), cli.Percent(r.Seconds.Spread()),
			terminal.Number(int64(r.ItemsPerSecond)), gigabytes(r.BytesPerSecond))
	}
	return out.Print(s.Out)
}
