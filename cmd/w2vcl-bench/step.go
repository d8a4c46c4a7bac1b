package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/progress"
)

type stepOptions struct {
	benchFlags
	benchSamples
	words, dims, threads intList
	negative             int
	frequencies          nameList[bench.Frequencies]
	optimizers           nameList[optim.Method]
	forms                nameList[graph.Form]
	kernels              nameList[simd.Level]
	copyMB               int
	seed                 uint64
}

func newStep(s cli.Streams) *cobra.Command {
	o := stepOptions{
		words: intList{18498}, dims: intList{500}, threads: intList{runtime.GOMAXPROCS(0)},
		frequencies: newNameList(bench.AllFrequencies()),
		optimizers:  newNameList(optim.Names()),
		forms:       newNameList(choicesOf[graph.Form]("form")),
		kernels:     nameList[simd.Level]{[]simd.Level{simd.Current()}, simd.Levels()},
	}
	cmd := &cobra.Command{
		Use:   "step [flags]",
		Short: "Measure one training step of mode cl beside the speed of memory",
		Long:  benchStepHelp(o.optimizers.choices),
		Example: `  w2vcl-bench step --dim 100,128,300,500
  w2vcl-bench step --words 18498,67869,200000 --threads 1,2
  w2vcl-bench step --form fused,stock --repeat 3
  w2vcl-bench step --tempering 0.75 --positives 8 --shared-negatives 64
  w2vcl-bench step --simd go,avx2,avx512 --optimizer adam,adam-row,sgd --json`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.Var(&o.words, "words", "words V of the vocabulary: `LIST`")
	flags.Var(&o.dims, "dim", "dimensions N of a vector: `LIST`")
	flags.IntVar(&o.negative, "negative", 5, "negatives `K` for each positive pair")
	flags.Var(&o.threads, "threads", "threads: `LIST`")
	o.benchSamples.addTo(cmd)
	flags.Var(&o.frequencies, "frequencies", "how often words occur: "+o.frequencies.usage())
	flags.Var(&o.optimizers, "optimizer", o.optimizers.usage())
	flags.Var(&o.forms, "form", "form of the Gorgonia graph: "+o.forms.usage())
	flags.Var(&o.kernels, "simd", "instructions of the kernels; this machine has "+o.kernels.usage())
	flags.IntVar(&o.copyMB, "copy-mb", 0, "size `MB` of the buffers to copy; 0: see above")
	flags.Uint64Var(&o.seed, "seed", 1, "`N` from which all randomness comes")
	o.benchFlags.addTo(cmd, 2, "a step")
	cli.UseAliases(flags, map[string]string{"size": "dim", "neg": "negative", "kernels": "simd"})
	return cmd
}

// benchStepHelp explains the measurement.
func benchStepHelp(methods []optim.Method) string {
	counted := passes(methods, func(vocabulary, dim int, m optim.Method) (int64, error) {
		return bench.StepBytes(vocabulary, dim, 5, m)
	})
	return `Measure one training step of mode cl, and beside it how fast the same threads copy
memory. A step takes half the time of an iteration, on average over many.

The time of a step includes everything that training does in every step: drawing
negatives, gathering rows, loss, gradient, update of every row, and the overhead of
the machine that runs the Gorgonia graph. The time to read M ("M") is measured
alone, for 32 iterations at a time as in training, and added. Reading text,
building M, progress and checkpoints are not part of it.

GB/s counts V x N x 4 bytes for each of the 1+K gathered rows, and twice (read and
written) for the row and the state of its optimizer. Bytes of M are not counted. For
K = 5 these are passes over V x N x 4 bytes:
  ` + counted + `
If a word has several samples, each sample counts as a gathered row. Rows of shared
negatives count once, and words without a sample do not count.

Copying counts bytes read and bytes written. Its buffers are four times as large as
the last-level cache, and at least 512 MiB. Each thread copies its part with Go's
copy, in the faster of two ways, before and after every measurement.

The text is made up. With --frequencies zipf words are as frequent as in a text,
subsampled, and negatives are drawn as in training. Rows of frequent words stay in
the caches, so memory delivers fewer bytes than are counted. With uniform, all
words are equally frequent. If the tables are larger than the caches, nearly every
gathered row comes from memory, and the count is true. M is for 8,192 iterations,
and most rows are repeated many times. The output says when the tables
fit the last-level cache; with --words 200000 they usually do not.`
}

// stepSettings are the settings in the JSON; the rest is in every result.
type stepSettings struct {
	Seconds   float64 `json:"seconds"`
	Repeat    int     `json:"repeat"`
	Seed      uint64  `json:"seed"`
	CopyBytes int64   `json:"copy_bytes"`
}

func (o *stepOptions) check() error {
	if o.negative < 1 || o.negative > 1000 {
		return terminal.Usagef("--negative %d: must be from 1 to 1000", o.negative)
	}
	if o.copyMB < 0 {
		return terminal.Usagef("--copy-mb %d: must be 0 or more", o.copyMB)
	}
	for _, words := range o.words {
		if words < 2 {
			return terminal.Usagef("--words %d: must be at least 2", words)
		}
	}
	return errors.Join(o.benchSamples.check(), o.benchFlags.check())
}

func (o *stepOptions) run(ctx context.Context, s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	settings := &stepSettings{o.seconds, o.repeat, o.seed, int64(o.copyMB) << 20}
	report := o.begin(s, "step", settings)
	if settings.CopyBytes == 0 {
		settings.CopyBytes = bench.CopyBytes(report.Machine.Cache)
	}
	if err := o.checkMemory(settings.CopyBytes); err != nil {
		return err
	}
	if most := slices.Max(o.threads); most > report.Machine.Threads && !o.quiet {
		s.Notef("Note: %d threads share %d processors", most, report.Machine.Threads)
	}
	results, err := o.measure(ctx, s.Progress(o.quiet), settings.CopyBytes)
	bench.Relate(results, report.Machine.Cache)
	return o.finish(ctx, s, report, results, len(results), err, func() error { return printSteps(s, results) })
}

// cases lists all combinations for one text.
func (o *stepOptions) cases(words int, f bench.Frequencies) []bench.StepCase {
	var cases []bench.StepCase
	for _, dim := range o.dims {
		for _, optimizer := range o.optimizers.names {
			for _, form := range o.forms.names {
				for _, kernels := range o.kernels.names {
					for _, threads := range o.threads {
						cases = append(cases, bench.StepCase{
							Vocabulary: words, Dim: dim, Negatives: o.negative, Frequencies: f, Samples: o.samples(),
							Optimizer: optimizer, Form: form, Kernels: kernels, Threads: threads,
						})
					}
				}
			}
		}
	}
	return cases
}

// checkMemory refuses cases that do not fit the machine's memory, before any work.
func (o *stepOptions) checkMemory(copyBytes int64) error {
	_, available := machine.Memory()
	for _, words := range o.words {
		for _, c := range o.cases(words, bench.Zipf) {
			need := copyBytes + bench.TextMemory(words) + c.Memory()
			if available > 0 && need > available {
				return fmt.Errorf("%s words of %d dimensions, form %s, need %s of memory, and the machine has %s available; ask for fewer --words or --dim, or a smaller --copy-mb",
					terminal.Number(words), c.Dim, c.Form, terminal.Bytes(need), terminal.Bytes(available))
			}
		}
	}
	return nil
}

// measure measures all cases. With an error it returns the results until then.
func (o *stepOptions) measure(ctx context.Context, p *progress.Progress, copyBytes int64) ([]bench.StepResult, error) {
	level := simd.Current()
	defer func() { _ = simd.Use(level) }() // no error: it was in use before
	var results []bench.StepResult
	copier := bench.NewCopier(copyBytes, runtime.GOMAXPROCS(0))
	for _, words := range o.words {
		for _, f := range o.frequencies.names {
			text, err := bench.NewText(ctx, words, f, o.samples(), o.seed, 0)
			if err != nil {
				return results, err
			}
			for _, c := range o.cases(words, f) {
				r, err := o.measureCase(ctx, c, text, copier)
				if err != nil {
					return results, err
				}
				p.Notef("%s: %s, %s GB/s, %s of copying", c, milliseconds(r.Seconds), gigabytes(r.BytesPerSecond), cli.Percent(r.OfCopy))
				results = append(results, r)
			}
			if err := text.Matrix.Close(); err != nil {
				return results, err
			}
		}
	}
	return results, nil
}

func (o *stepOptions) measureCase(ctx context.Context, c bench.StepCase, text *bench.Text, copier *bench.Copier) (bench.StepResult, error) {
	if err := simd.Use(c.Kernels); err != nil {
		return bench.StepResult{}, err
	}
	r, err := bench.MeasureStep(ctx, c, text, copier, o.seed, o.effort())
	if err != nil {
		return r, fmt.Errorf("%s: %w", c, err)
	}
	return r, nil
}

// printSteps prints a table for all results of the same tables and optimizer.
func printSteps(s cli.Streams, results []bench.StepResult) error {
	var errs []error
	for len(results) > 0 {
		n := 1
		for n < len(results) && sameTables(&results[0], &results[n]) {
			n++
		}
		errs = append(errs, printStepGroup(s, results[:n]))
		results = results[n:]
	}
	return errors.Join(errs...)
}

func sameTables(a, b *bench.StepResult) bool {
	return a.Vocabulary == b.Vocabulary && a.Dim == b.Dim && a.Negatives == b.Negatives && a.Samples == b.Samples &&
		a.Frequencies == b.Frequencies && a.Optimizer == b.Optimizer
}

func printStepGroup(s cli.Streams, results []bench.StepResult) error {
	r := results[0]
	cache := "the last-level cache is unknown"
	switch {
	case r.FitsCache:
		cache = fmt.Sprintf("it FITS the last-level cache (%.2f of it): memory is not the bound here", r.OfCache)
	case r.OfCache > 0:
		cache = fmt.Sprintf("%.1f times the last-level cache", r.OfCache)
	}
	var out cli.Table
	out.Rowf("V = %s, N = %d, K = %d, %s, %s%s: %s a step; working set %s, %s",
		terminal.Number(r.Vocabulary), r.Dim, r.Negatives, r.Optimizer, r.Frequencies, r.Samples, terminal.Bytes(r.Bytes), terminal.Bytes(r.WorkingSet), cache)
	if err := out.Print(s.Out); err != nil {
		return err
	}
	out = cli.Table{}
	out.Rowf("  form\tkernels\tthreads\t%12s\t%6s\t%9s\t%6s\t%9s\t%7s\t%8s\t%8s", "step", "spread", "M", "GB/s", "copy GB/s", "of copy", "speed-up", "x stock")
	for _, r := range results {
		out.Rowf("  %s\t%s\t%7d\t%12s\t%6s\t%9s\t%6s\t%9s\t%7s\t%8s\t%8s", r.Form, r.Kernels, r.Threads,
			milliseconds(r.Seconds), cli.Percent(r.Step.Spread()), milliseconds(r.Column.Median),
			gigabytes(r.BytesPerSecond), gigabytes(r.Copy.Median), cli.Percent(r.OfCopy), times(r.SpeedUp), times(r.OverStock))
	}
	out.Rowf("")
	return out.Print(s.Out)
}

// times writes a ratio, and nothing if there is none.
func times(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}
