package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A corpusResult includes the memory of the process.
type corpusResult struct {
	bench.CorpusResult
	PeakRSS int64 `json:"peak_rss_bytes"` // of the process after the first reading
}

func newCorpus(s cli.Streams) *cobra.Command {
	var (
		f    benchFlags
		text benchText
	)
	cmd := &cobra.Command{
		Use:   "corpus [flags]",
		Short: "Measure reading, counting and encoding of text",
		Long: `Read a text several times, from file to word ids: decompressing, splitting into
words, counting, numbering. A first reading is not measured, so that files come
from the system's cache and not from the disk. MB are millions of bytes of text
after decompression. All words of the text count, rare ones too.`,
		Example: `  w2vcl-bench corpus
  w2vcl-bench corpus --corpus wiki.txt --threads 1`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return measureCorpus(cmd, s, &f, &text)
		},
	}
	text.addTo(cmd, func(string) bool { return false })
	f.addTo(cmd, 0, "")
	return cmd
}

func measureCorpus(cmd *cobra.Command, s cli.Streams, f *benchFlags, text *benchText) error {
	if err := errors.Join(f.check(), text.resolve()); err != nil {
		return err
	}
	ctx := cmd.Context()
	report := f.begin(s, "corpus", text.recorded(cmd))
	stage := s.Progress(f.quiet).Stage("reading text", int64(f.repeat)+1)
	defer stage.Stop()
	var r corpusResult
	var err error
	r.CorpusResult, err = bench.MeasureCorpus(ctx, text.read, text.config.Threads, f.repeat, func(i int) {
		if i == 0 {
			r.PeakRSS = machine.PeakRSS()
		}
		stage.Update(int64(i)+1, nil)
	})
	stage.Stop()
	count := 0
	if err == nil {
		count = 1
	}
	return f.finish(ctx, s, report, []corpusResult{r}, count, err, func() error { return r.print(s) })
}

func (r corpusResult) print(s cli.Streams) error {
	var out cli.Table
	out.Rowf("text\t%s, %s words, %s of them used, %s different", terminal.Bytes(r.Bytes),
		terminal.Number(r.Tokens), terminal.Number(r.TokensUsed), terminal.Number(r.Vocabulary))
	out.Rowf("read in\t%s (spread %s), %d threads", milliseconds(r.Read.Median), cli.Percent(r.Read.Spread()), r.Threads)
	out.Rowf("\t%.1f MB/s, %.2f million words/s", r.BytesPerSecond/1e6, r.WordsPerSecond/1e6)
	out.Rowf("memory\t%s at the peak of one reading", terminal.Bytes(r.PeakRSS))
	return out.Print(s.Out)
}
