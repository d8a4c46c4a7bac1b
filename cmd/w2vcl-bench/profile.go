package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

type profileOptions struct {
	benchFlags
	words, dim, negative, threads int
	batches                       intList
	seed                          uint64
}

func newProfile(s cli.Streams) *cobra.Command {
	o := profileOptions{batches: intList{64, 256, 1024, 4096, 16384, 65536}}
	cmd := &cobra.Command{
		Use:   "profile [flags]",
		Short: "Measure speed by batch size, and which part of a training step takes how long",
		Long: `Measure the parts of a minibatch of mode vanilla, as in figure 3 of the W2V-CL
paper. For each batch size, show words a second of the dot products alone, of the
loss alone, of the forward pass (drawing negatives, dot products, loss) and of
training with everything; and the fraction of a minibatch's time that each phase takes.

Parts are measured one by one on the same random pairs, which are as frequent as in
a subsampled text of that vocabulary. A word is a positive pair with its negatives.
"rest" is the time of training minus its parts: reading pairs, sorting entries by
row, and the machine that runs the Gorgonia graph. A part alone may find more in
the caches than in training. Training also ends a minibatch after each 65,536 words
of text, so very large minibatches are smaller on average.`,
		Example: `  w2vcl-bench profile
  w2vcl-bench profile --words 18498 --dim 500 --batch 1024,65536 --threads 1 --json`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.Var(&o.batches, "batch", "pairs in a minibatch: `LIST`")
	flags.IntVar(&o.words, "words", 18498, "words `V` of the vocabulary")
	flags.IntVar(&o.dim, "dim", 100, "dimensions `N` of a vector")
	flags.IntVar(&o.negative, "negative", 5, "negatives `K` for each positive pair")
	flags.IntVar(&o.threads, "threads", runtime.GOMAXPROCS(0), "`N` threads")
	flags.Uint64Var(&o.seed, "seed", 1, "`N` from which all randomness comes")
	o.benchFlags.addTo(cmd, 0.3, "each part")
	cli.UseAliases(flags, map[string]string{"size": "dim", "neg": "negative"})
	return cmd
}

// profileSettings are the settings in the JSON; the rest is in every result.
type profileSettings struct {
	Seconds float64 `json:"seconds"`
	Repeat  int     `json:"repeat"`
	Seed    uint64  `json:"seed"`
}

func (o *profileOptions) check() error {
	switch {
	case o.words < 2 || o.words > 1e7:
		return terminal.Usagef("--words %d: must be from 2 to 10,000,000", o.words)
	case o.dim < 1 || o.dim > 65536:
		return terminal.Usagef("--dim %d: must be from 1 to 65536", o.dim)
	case o.negative < 1 || o.negative > 1000:
		return terminal.Usagef("--negative %d: must be from 1 to 1000", o.negative)
	case o.threads < 1 || o.threads > 4096:
		return terminal.Usagef("--threads %d: must be from 1 to 4096", o.threads)
	}
	for _, batch := range o.batches {
		if batch > 1<<22 {
			return terminal.Usagef("--batch %d: must be at most %d", batch, 1<<22)
		}
	}
	return o.benchFlags.check()
}

func (o *profileOptions) run(ctx context.Context, s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	report := o.begin(s, "profile", &profileSettings{o.seconds, o.repeat, o.seed})
	progress := s.Progress(o.quiet)
	var results []bench.ProfileResult
	var err error
	for _, batch := range o.batches {
		c := bench.ProfileCase{Vocabulary: o.words, Dim: o.dim, Negatives: o.negative, Batch: batch, Threads: o.threads}
		var r bench.ProfileResult
		if r, err = bench.MeasureProfile(ctx, c, o.seed, o.effort()); err != nil {
			break
		}
		progress.Notef("batch %s: %s words/s", terminal.Number(batch), thousands(r.WordsPerSecond))
		results = append(results, r)
	}
	return o.finish(ctx, s, report, results, len(results), err, func() error { return o.print(s, results) })
}

// thousands writes a speed in thousands of words a second.
func thousands(perSecond float64) string { return terminal.Number(int64(perSecond/1e3)) + "k" }

func (o *profileOptions) print(s cli.Streams, results []bench.ProfileResult) error {
	threads := "threads"
	if o.threads == 1 {
		threads = "thread"
	}
	var out cli.Table
	out.Rowf("V = %s, N = %d, K = %d, %s, %d %s; words a second", terminal.Number(o.words), o.dim, o.negative, bench.ProfileOptimizer, o.threads, threads)
	if err := out.Print(s.Out); err != nil {
		return err
	}
	out = cli.Table{}
	out.Rowf("  %9s\t%9s\t%9s\t%9s\t%9s\t%6s", "batch", "dot", "loss", "forward", "all", "spread")
	for _, r := range results {
		out.Rowf("  %9s\t%9s\t%9s\t%9s\t%9s\t%6s", terminal.Number(r.Batch), thousands(r.Phase(bench.PhaseDot).WordsPerSecond), thousands(r.Phase(bench.PhaseLoss).WordsPerSecond),
			thousands(r.Forward), thousands(r.WordsPerSecond), cli.Percent(r.All.Spread()))
	}
	out.Rowf("\nShare of a minibatch's time")
	line := fmt.Sprintf("  %9s\t%12s", "batch", "minibatch")
	for _, p := range results[0].Phases {
		line += fmt.Sprintf("\t%9s", p.Name)
	}
	out.Rowf("%s", line)
	for _, r := range results {
		line := fmt.Sprintf("  %9s\t%12s", terminal.Number(r.Batch), milliseconds(r.All.Median))
		for _, p := range r.Phases {
			line += fmt.Sprintf("\t%9s", cli.Percent(p.Fraction))
		}
		out.Rowf("%s", line)
	}
	return out.Print(s.Out)
}
