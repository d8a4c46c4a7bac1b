package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train"
)

// benchFlags are the flags of all benchmarks.
type benchFlags struct {
	seconds     float64
	repeat      int
	json, quiet bool
}

// addTo defines the flags. timed names the work that --seconds times; without it there
// is no --seconds.
func (f *benchFlags) addTo(cmd *cobra.Command, seconds float64, timed string) {
	flags := cmd.Flags()
	if timed != "" {
		flags.Float64Var(&f.seconds, "seconds", seconds, "measure "+timed+" for at least `S` seconds each time")
	}
	flags.IntVar(&f.repeat, "repeat", 5, "measure `N` times; the median counts")
	cli.AddJSON(cmd, &f.json, "print one line of JSON: an object with machine, settings and results")
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

// A benchReport is the output of a benchmark. Names and units in its JSON never change.
type benchReport struct {
	Bench       string          `json:"bench"`
	Version     string          `json:"version"`
	Command     string          `json:"command"`
	Machine     compare.Machine `json:"machine"`
	Settings    any             `json:"settings"`
	Interrupted bool            `json:"interrupted"` // there are the results until then
	Results     any             `json:"results"`
}

// begin makes the report before anything is measured. It warns of other programs at
// work.
func (f *benchFlags) begin(s cli.Streams, name string, settings any) *benchReport {
	r := &benchReport{
		Bench: name, Version: cli.Version(), Command: "w2vcl-bench " + strings.Join(os.Args[1:], " "),
		Machine: compare.ThisMachine(), Settings: settings,
	}
	if busy := r.Machine.Load; busy > 0.5 && !f.quiet {
		s.Notef("Note: the machine was busy in the last minute (load average %.2f); other programs spoil the numbers", busy)
	}
	return r
}

// finish prints the results, count of them, unless measuring ended with an error. An
// interrupt is no error if there are results.
func (f *benchFlags) finish(ctx context.Context, s cli.Streams, r *benchReport, results any, count int, err error, show func() error) error {
	var interrupted error
	if err != nil && ctx.Err() != nil {
		if count == 0 {
			return fmt.Errorf("%w before anything was measured", train.ErrInterrupted)
		}
		r.Interrupted = true
		interrupted = fmt.Errorf("%w: these are the results until then", train.ErrInterrupted)
	} else if err != nil {
		return err
	}
	r.Results = results
	if f.json {
		return errors.Join(cli.WriteJSON(s.Out, r), interrupted)
	}
	return errors.Join(r.printHeader(s), show(), interrupted)
}

func (r *benchReport) printHeader(s cli.Streams) error {
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
	var out cli.Table
	out.Rowf("command\t%s", r.Command)
	out.Rowf("processor\t%s", orUnknown(m.Processor))
	out.Rowf("processors\t%d (Go uses %d)", m.Processors, m.Threads)
	out.Rowf("caches\tL2 %s each, last level %s in all", known(m.L2), known(m.Cache))
	out.Rowf("kernels\t%s at best", m.Kernels)
	out.Rowf("software\tw2vcl %s, %s, %s", r.Version, m.Go, m.System)
	out.Rowf("load before\t%s", load)
	out.Rowf("date\t%s", m.Date)
	out.Rowf("")
	return out.Print(s.Out)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// binaryBytes writes the size of a cache as makers of processors do: 32 KiB, 35.8
// MiB.
func binaryBytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.3f ms", 1e3*seconds) }

// gigabytes writes bytes a second in GB/s.
func gigabytes(perSecond float64) string { return fmt.Sprintf("%.2f", perSecond/1e9) }

// passes says with each optimizer how many passes over V x N x 4 bytes a count of
// bytes makes: "12 with adam, 10 with adam-row, 8 with sgd".
func passes(methods []optim.Method, count func(vocabulary, dim int, m optim.Method) (int64, error)) string {
	const vocabulary, dim = 1, 1 << 20 // one value a row is no pass
	return strings.Join(cli.Texts(methods, func(m optim.Method) string {
		bytes, err := count(vocabulary, dim, m)
		if err != nil { // all methods are known
			return err.Error()
		}
		return fmt.Sprintf("%d with %s", bytes/(4*vocabulary*dim), m)
	}), ", ")
}
