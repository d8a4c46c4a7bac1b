package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A matrixResult includes the memory of the process.
type matrixResult struct {
	bench.MatrixResult
	Estimate int64 `json:"estimated_build_bytes"` // without the text, as in plan
	PeakRSS  int64 `json:"peak_rss_bytes"`        // of the process, with the text
}

func newMatrix(s cli.Streams) *cobra.Command {
	var (
		f    benchFlags
		text benchText
	)
	cmd := &cobra.Command{
		Use:   "matrix [flags]",
		Short: "Measure building M and reading samples from it",
		Long: `Build the matrix M of a text several times, then read the samples of iterations
from the middle of an epoch on, several iterations at a time as in training. Reading the
text is not part of the times. All contexts in the windows of all passes count, kept
or not.`,
		Example: `  w2vcl-bench matrix
  w2vcl-bench matrix --corpus wiki.txt --window 2 --dynamic-window=false --sample 0 --contexts 65536 --min-count 50`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return measureMatrix(cmd, s, &f, &text)
		},
	}
	text.addTo(cmd, func(name string) bool {
		switch name {
		case "window", "dynamic-window", "sample", "passes", "contexts", "tempering", "positives", "max-positives", "seed":
			return true
		default:
			return false
		}
	})
	f.addTo(cmd, 0.5, "reading")
	return cmd
}

func measureMatrix(cmd *cobra.Command, s cli.Streams, f *benchFlags, text *benchText) error {
	if err := errors.Join(f.check(), text.resolve()); err != nil {
		return err
	}
	ctx := cmd.Context()
	report := f.begin(s, "matrix", text.recorded(cmd))
	p := s.Progress(f.quiet)
	c, err := text.read(ctx)
	if err != nil {
		return f.finish(ctx, s, report, nil, 0, err, nil)
	}
	text.config.FitText(c.Vocabulary)
	o := text.config.MatrixOptions()
	stage := p.Stage("building M", int64(f.repeat))
	defer stage.Stop()
	measured, err := bench.MeasureMatrix(ctx, c, o, f.effort(), func(build int) { stage.Update(int64(build), nil) })
	stage.Stop()
	estimate, _ := wordcontext.EstimateBytes(c, o)
	r := matrixResult{measured, estimate, machine.PeakRSS()}
	count := 0
	if err == nil {
		count = 1
	}
	return f.finish(ctx, s, report, []matrixResult{r}, count, err, func() error { return r.print(s) })
}

func (r matrixResult) print(s cli.Streams) error {
	var out cli.Table
	out.Rowf("text\t%s words used, %s different", terminal.Number(r.Tokens), terminal.Number(r.Vocabulary))
	out.Rowf("M\t%s; %s found, %s stored in %s",
		r.Samples.Shape(r.Vocabulary, r.Contexts), terminal.Number(r.Found), terminal.Number(r.Stored), terminal.Bytes(r.Bytes))
	out.Rowf("built in\t%s (spread %s), %d threads", milliseconds(r.Build.Median), cli.Percent(r.Build.Spread()), r.Threads)
	out.Rowf("\t%.1f million contexts/s, %.1f million words/s", r.ContextsPerSecond/1e6, r.TokensPerSecond/1e6)
	for _, b := range r.Read {
		out.Rowf("%d iterations at a time\t%.2f ns a sample (spread %s), %s a step",
			b.Columns, 1e9*b.Entry.Median, cli.Percent(b.Entry.Spread()), milliseconds(b.Column))
	}
	out.Rowf("memory\t%s at the peak, with the text (estimated for M alone: %s)", terminal.Bytes(r.PeakRSS), terminal.Bytes(r.Estimate))
	return out.Print(s.Out)
}
