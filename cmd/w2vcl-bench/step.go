package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
)

type stepOptions struct {
	words, dims, threads []int
	negatives            int
	optimizers           []string
	seconds              float64
	repeat               int
	copyMB               int
	seed                 uint64
}

func newStep(s cli.Streams) *cobra.Command {
	var o stepOptions
	names := cli.Plain(optim.Names())
	cmd := &cobra.Command{
		Use:   "step [flags]",
		Short: "Measure one training step of mode cl beside the speed of memory",
		Long:  stepHelp,
		Example: `  w2vcl-bench step --dim 100,128,300,500
  w2vcl-bench step --words 18498,67869,200000 --threads 1,2`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&o.words, "words", []int{18498}, "words V of the vocabulary: `LIST`")
	flags.IntSliceVar(&o.dims, "dim", []int{500}, "dimensions N of a vector: `LIST`")
	flags.IntSliceVar(&o.threads, "threads", []int{runtime.GOMAXPROCS(0)}, "threads: `LIST`")
	flags.IntVar(&o.negatives, "negative", 5, "negatives `K` for each positive pair")
	flags.StringSliceVar(&o.optimizers, "optimizer", names[:1], "`LIST` of "+cli.Enumerate(names))
	flags.Float64Var(&o.seconds, "seconds", 2, "measure for at least `S` seconds each time")
	flags.IntVar(&o.repeat, "repeat", 5, "measure `N` times; the median counts")
	flags.IntVar(&o.copyMB, "copy-mb", 0, "size `MB` of the buffers to copy; 0: see above")
	flags.Uint64Var(&o.seed, "seed", 1, "`N` from which all randomness comes")
	cli.UseAliases(flags, map[string]string{"size": "dim", "neg": "negative"})
	return cmd
}

const stepHelp = `Measure one training step of 'w2vcl train --preset paper', and beside it how fast
the same threads copy memory. A step takes half the time of an iteration. Reading
text, building M, progress and checkpoints are not part of it.

GB/s counts V x N x 4 bytes for each of the 1+K gathered rows, and twice (read and
written) for the row and the state of its optimizer: with K = 5 and adam 12 passes
over V x N x 4 bytes. M is not counted. Copying counts bytes read and bytes written.
Its buffers are four times as large as the last-level cache, and at least 512 MiB.

The text is made up; its words are as frequent as in a text, and subsampled. Rows of
frequent words stay in the caches, so memory delivers fewer bytes than are counted.
If the tables fit the last-level cache, a step can be faster than copying.`

func (o *stepOptions) check() error {
	known := cli.Plain(optim.Names())
	for _, name := range o.optimizers {
		if !slices.Contains(known, name) {
			return terminal.Usagef("--optimizer: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	switch {
	case slices.Min(o.words) < 2:
		return terminal.Usagef("--words %d: must be at least 2", slices.Min(o.words))
	case slices.Min(o.dims) < 1:
		return terminal.Usagef("--dim %d: must be at least 1", slices.Min(o.dims))
	case slices.Min(o.threads) < 1:
		return terminal.Usagef("--threads %d: must be at least 1", slices.Min(o.threads))
	case o.negatives < 1 || o.negatives > 1000:
		return terminal.Usagef("--negative %d: must be from 1 to 1000", o.negatives)
	case o.repeat < 1:
		return terminal.Usagef("--repeat %d: must be at least 1", o.repeat)
	case !(o.seconds >= 0 && o.seconds <= 1e6):
		return terminal.Usagef("--seconds %g: must be from 0 to 1,000,000", o.seconds)
	case o.copyMB < 0:
		return terminal.Usagef("--copy-mb %d: must be 0 or more", o.copyMB)
	}
	return nil
}

func (o *stepOptions) run(ctx context.Context, s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	m := compare.ThisMachine()
	size := int64(o.copyMB) << 20
	if size == 0 {
		size = copyBytes(m.Cache)
	}
	if err := o.checkMemory(size); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.Out, "%s, %d processors, last-level cache %s, %s\nw2vcl %s, %s, load %.2f, %s\n\n%s\n",
		m.Processor, m.Processors, terminal.Bytes(m.Cache), m.Kernels, cli.Version(), m.Go, m.Load, m.Date, stepHeading); err != nil {
		return err
	}
	copier := newCopier(size, runtime.GOMAXPROCS(0))
	for _, words := range o.words {
		if err := o.measure(ctx, s, words, copier, m.Cache); err != nil {
			return err
		}
	}
	return nil
}

// checkMemory refuses cases that do not fit the machine's memory, before any work.
func (o *stepOptions) checkMemory(copyBytes int64) error {
	_, available := machine.Memory()
	for _, words := range o.words {
		for _, c := range o.cases(words) {
			if need := copyBytes + c.memory(); available > 0 && need > available {
				return fmt.Errorf("%s words of %d dimensions need %s of memory, and the machine has %s available; ask for fewer --words or --dim, or a smaller --copy-mb",
					terminal.Number(words), c.dim, terminal.Bytes(need), terminal.Bytes(available))
			}
		}
	}
	return nil
}

// measure measures all cases of one vocabulary, and prints each as soon as it is measured.
func (o *stepOptions) measure(ctx context.Context, s cli.Streams, words int, copier *copier, cache int64) error {
	text, err := newText(ctx, words, o.seed)
	if err != nil {
		return err
	}
	for _, c := range o.cases(words) {
		r, err := measureStep(ctx, c, text, copier, o.repeat, time.Duration(o.seconds*float64(time.Second)))
		if err != nil {
			return err
		}
		if err := r.print(s, cache); err != nil {
			return err
		}
	}
	return text.matrix.Close()
}

// cases lists all combinations for one vocabulary.
func (o *stepOptions) cases(words int) []stepCase {
	var cases []stepCase
	for _, dim := range o.dims {
		for _, optimizer := range o.optimizers {
			for _, threads := range o.threads {
				cases = append(cases, stepCase{words, dim, o.negatives, optim.Method(optimizer), threads})
			}
		}
	}
	return cases
}

const stepHeading = "         V     N    K  optimizer  threads          step  spread     GB/s  copy GB/s  of copy  working set"

// print prints a result in a line.
func (r stepResult) print(s cli.Streams, cache int64) error {
	note := ""
	if r.workingSet <= cache {
		note = ", fits the cache"
	}
	perSecond := float64(r.bytes) / r.seconds.median
	_, err := fmt.Fprintf(s.Out, "%10s %5d %4d  %-9s  %7d  %9.3f ms  %6s  %7.2f  %9.2f  %7s  %s%s\n",
		terminal.Number(r.vocabulary), r.dim, r.negatives, r.optimizer, r.threads,
		1e3*r.seconds.median, cli.Percent(r.seconds.spread()), perSecond/1e9, r.copied.median/1e9, cli.Percent(perSecond/r.copied.median),
		terminal.Bytes(r.workingSet), note)
	return err
}
