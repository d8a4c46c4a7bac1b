package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/bench"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
)

func newBench(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast w2vcl works on this machine",
		Long: `Measure training steps on the CPU or a GPU, the matrix M, reading text, or evaluation. Every result
begins with the machine it was measured on, and names its repetitions' median
and spread. The inputs depend on --seed only.

Other programs at work spoil every number: measure on an idle machine. Code
changes are compared with 'make bench-compare', see CONTRIBUTING.md.`,
		Example: `  w2vcl bench step
  w2vcl bench step --words 18498,200000 --dim 100,500 --threads 1,2,4 --json > step.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return terminal.Usagef("bench %s: no such command; there are step, device, matrix, corpus and eval", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchStep(s), newBenchDevice(s), newBenchMatrix(s), newBenchCorpus(s), newBenchEval(s))
	return cmd
}

// benchFlags are the flags of all benchmarks.
type benchFlags struct {
	seconds     float64
	repeat      int
	json, quiet bool
}

// addTo defines the flags; timed says what --seconds is the time of.
func (f *benchFlags) addTo(cmd *cobra.Command, seconds float64, timed string) {
	flags := cmd.Flags()
	if timed != "" {
		flags.Float64Var(&f.seconds, "seconds", seconds, "measure "+timed+" for at least `S` seconds each time")
	}
	flags.IntVar(&f.repeat, "repeat", 5, "measure `N` times; the median counts")
	addJSON(cmd, &f.json, "print one line of JSON: an object with machine, settings and results")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress")
}

func (f *benchFlags) check() error {
	if f.repeat < 1 {
		return terminal.Usagef("--repeat %d: must be at least 1", f.repeat)
	}
	if !(f.seconds >= 0) || f.seconds > 1e6 {
		return terminal.Usagef("--seconds %g: must be from 0 to 1,000,000", f.seconds)
	}
	return nil
}

func (f *benchFlags) effort() bench.Effort {
	return bench.Effort{Time: time.Duration(f.seconds * float64(time.Second)), Repeat: f.repeat}
}

// A benchReport is what a benchmark prints. Its JSON is the contract: names
// and units stay.
type benchReport struct {
	Bench       string        `json:"bench"`
	Version     string        `json:"version"`
	Command     string        `json:"command"`
	Machine     bench.Machine `json:"machine"`
	Settings    any           `json:"settings"`
	Interrupted bool          `json:"interrupted"` // results are those until then
	Results     any           `json:"results"`
}

// begin makes the report before anything is measured, and warns of company.
func (f *benchFlags) begin(s streams, name string, settings any) *benchReport {
	r := &benchReport{
		Bench: name, Version: version(), Command: commandLine(),
		Machine: bench.ThisMachine(), Settings: settings,
	}
	if busy := r.Machine.Load; busy > 0.5 && !f.quiet {
		s.notef("Note: the machine was busy in the last minute (load average %.2f); other programs spoil the numbers", busy)
	}
	return r
}

// commandLine is what was called, to be called again.
func commandLine() string { return "w2vcl " + strings.Join(os.Args[1:], " ") }

// finish prints the results, of which there are count, unless measuring ended
// with an error. An interrupt is none if there are results to show.
func (f *benchFlags) finish(ctx context.Context, s streams, r *benchReport, results any, count int, err error, show func() error) error {
	var interrupted error
	if err != nil && ctx.Err() != nil {
		if count == 0 {
			return errors.New("stopped before anything was measured")
		}
		r.Interrupted = true
		interrupted = fmt.Errorf("%w: the results are those until then", train.ErrInterrupted)
	} else if err != nil {
		return err
	}
	r.Results = results
	if f.json {
		return errors.Join(writeJSON(s.out, r), interrupted)
	}
	return errors.Join(r.printHeader(s), show(), interrupted)
}

func (r *benchReport) printHeader(s streams) error {
	known := func(bytes int64) string {
		if bytes == 0 {
			return "unknown"
		}
		return binaryBytes(bytes)
	}
	m := r.Machine
	load := "unknown"
	if m.Load >= 0 {
		load = fmt.Sprintf("%.2f", m.Load)
	}
	var out table
	out.rowf("command\t%s", r.Command)
	out.rowf("processor\t%s", orUnknown(m.Processor))
	out.rowf("processors\t%d (Go uses %d)", m.Processors, m.Threads)
	out.rowf("caches\tL2 %s each, last level %s in all", known(m.L2), known(m.Cache))
	out.rowf("kernels\t%s at best", m.Kernels)
	out.rowf("software\tw2vcl %s, %s, %s", r.Version, m.Go, m.System)
	out.rowf("load before\t%s", load)
	out.rowf("date\t%s", m.Date)
	out.rowf("")
	return out.writeTo(s.out)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// binaryBytes writes the size of a cache as its makers do: 32 KiB, 35.8 MiB.
func binaryBytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.3f ms", 1e3*seconds) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// gigabytes writes bytes a second in GB/s.
func gigabytes(perSecond float64) string { return fmt.Sprintf("%.2f", perSecond/1e9) }

// An intList is the value of a flag: whole numbers from 1 up with commas
// between them.
type intList []int

func (l *intList) Set(text string) error {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%q is not a whole number from 1 up (lists have commas: 1,2,4)", part)
		}
		list = append(list, n)
	}
	*l = list
	return nil
}

func (l *intList) String() string {
	return strings.Join(texts(*l, strconv.Itoa), ",")
}

// Type names the kind of value in help.
func (l *intList) Type() string { return "list" }

// A nameList is the value of a flag: some of a few names, with commas between
// them.
type nameList[T ~string] struct {
	names   []T
	choices []T
}

func (l *nameList[T]) Set(text string) error {
	var names []T
	for part := range strings.SplitSeq(text, ",") {
		name := T(strings.TrimSpace(part))
		if !slices.Contains(l.choices, name) {
			return fmt.Errorf("%q is none of %s", part, strings.Join(texts(l.choices, func(c T) string { return string(c) }), ", "))
		}
		names = append(names, name)
	}
	l.names = names
	return nil
}

func (l *nameList[T]) String() string {
	return strings.Join(texts(l.names, func(c T) string { return string(c) }), ",")
}

// Type names the kind of value in help.
func (l *nameList[T]) Type() string { return "list" }

// listed lists the choices: "a, b and c".
func (l *nameList[T]) listed() string {
	names := texts(l.choices, func(c T) string { return string(c) })
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func texts[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return out
}
