package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/bench"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A benchText is the text of a benchmark and how it is read.
type benchText struct {
	settings settingFlags
	config   settings.Config
	options  corpus.Options
	embedded bool // the text that comes along
}

// addTo defines the flags of the text and those that include accepts.
func (t *benchText) addTo(cmd *cobra.Command, include func(name string) bool) {
	t.settings.addTo(cmd, func(setting settings.Setting) bool {
		switch setting.Name {
		case "corpus", "threads":
			return true
		default:
			return setting.Group == settings.GroupText || include(setting.Name)
		}
	})
	cmd.Flags().Lookup("corpus").Usage = "text file or folder at `PATH` (default: the text that comes along)"
}

// resolve settles all settings. Without --corpus and --config it is the text
// that comes along, raw, with the settings of demo where none were given.
func (t *benchText) resolve() error {
	texts := map[string]string{"mode": settings.ModeCL} // the mode that has a matrix
	if t.embedded = t.settings.set["corpus"] == "" && t.settings.file == ""; t.embedded {
		texts = settings.Demo(settings.SubwordNone)
		texts["corpus"] = testdata.CorpusName
	}
	maps.Copy(texts, t.settings.set)
	var err error
	if t.config, err = settings.Resolve(t.settings.file, texts); err != nil {
		return err
	}
	c := &t.config
	if c.Corpus == "-" {
		return terminal.Usagef("--corpus -: standard input can be read only once; name a file or a folder")
	}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if t.options, err = c.TextOptions(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Corpus); !t.embedded && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--corpus %s: there is no such file or folder", c.Corpus)
	}
	return nil
}

func (t *benchText) read(ctx context.Context) (*corpus.Corpus, error) {
	if t.embedded {
		return corpus.ReadFrom(ctx, testdata.Corpus(), testdata.CorpusName, t.options)
	}
	return corpus.Read(ctx, t.config.Corpus, t.options)
}

// recorded returns the values of the command's settings for the JSON.
func (t *benchText) recorded(cmd *cobra.Command) map[string]string {
	values := map[string]string{}
	for _, setting := range t.config.Settings() {
		if cmd.Flags().Lookup(setting.Name) != nil {
			values[setting.Name] = setting.String()
		}
	}
	return values
}

// benchMatrixResult adds what only the process as a whole can tell.
type benchMatrixResult struct {
	bench.MatrixResult
	Estimate int64 `json:"estimated_build_bytes"` // beside the text, as plan does it
	PeakRSS  int64 `json:"peak_rss_bytes"`        // of the process, with the text
}

func newBenchMatrix(s streams) *cobra.Command {
	var (
		f    benchFlags
		text benchText
	)
	cmd := &cobra.Command{
		Use:   "matrix [flags]",
		Short: "Measure building M and reading its columns",
		Long: `Build the matrix M of a text several times, then read columns from its middle on,
in blocks as training does. Reading the text is not part of the times. Contexts
are those found in the windows of all passes, kept or not.`,
		Example: `  w2vcl bench matrix
  w2vcl bench matrix --corpus wiki.txt --window 2 --dynamic-window=false --sample 0 --contexts 65536 --min-count 50`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchMatrix(cmd, s, &f, &text)
		},
	}
	text.addTo(cmd, func(name string) bool {
		switch name {
		case "window", "dynamic-window", "sample", "passes", "contexts", "seed":
			return true
		default:
			return false
		}
	})
	f.addTo(cmd, 0.5, "reading")
	return cmd
}

func benchMatrix(cmd *cobra.Command, s streams, f *benchFlags, text *benchText) error {
	if err := errors.Join(f.check(), text.resolve()); err != nil {
		return err
	}
	ctx, restore := s.interruptible(cmd.Context())
	defer restore()
	report := f.begin(s, "matrix", text.recorded(cmd))
	p := s.progress(f.quiet)
	c, err := text.read(ctx)
	if err != nil {
		return f.finish(ctx, s, report, nil, 0, err, nil)
	}
	k := &text.config
	o := wordcontext.Options{
		Window: k.Window, Contexts: k.Contexts, Sample: k.Sample, Passes: k.Passes,
		DynamicWindow: k.DynamicWindow, Seed: k.Seed, Threads: k.Threads,
	}
	stage := p.Stage("building M", int64(f.repeat))
	defer stage.Stop()
	measured, err := bench.MeasureMatrix(ctx, c, o, f.effort(), func(build int) { stage.Update(int64(build), nil) })
	stage.Stop()
	r := benchMatrixResult{measured, wordcontext.EstimateBytes(c, o), machine.PeakRSS()}
	count := 0
	if err == nil {
		count = 1
	}
	return f.finish(ctx, s, report, []benchMatrixResult{r}, count, err, func() error { return r.print(s) })
}

func (r benchMatrixResult) print(s streams) error {
	var out table
	out.rowf("text\t%s words used, %s different", terminal.Number(r.Tokens), terminal.Number(r.Words))
	out.rowf("M\t%s rows of %s contexts; %s found, %s stored in %s",
		terminal.Number(r.Words), terminal.Number(r.Contexts), terminal.Number(r.Found), terminal.Number(r.Stored), terminal.Bytes(r.Bytes))
	out.rowf("built in\t%s (spread %s), %d threads", milliseconds(r.Build.Median), percent(r.Build.Spread()), r.Threads)
	out.rowf("\t%.1f million contexts/s, %.1f million words/s", r.ContextsPerSecond/1e6, r.TokensPerSecond/1e6)
	for _, b := range r.Read {
		out.rowf("%d columns at a time\t%.2f ns an entry (spread %s), %s a column",
			b.Columns, 1e9*b.Entry.Median, percent(b.Entry.Spread()), milliseconds(b.Column))
	}
	out.rowf("memory\t%s at the peak, the text with it (estimated for M: %s)", terminal.Bytes(r.PeakRSS), terminal.Bytes(r.Estimate))
	return out.writeTo(s.out)
}

// benchCorpusResult adds what only the process as a whole can tell.
type benchCorpusResult struct {
	bench.CorpusResult
	PeakRSS int64 `json:"peak_rss_bytes"` // of the process after it read the text once
}

func newBenchCorpus(s streams) *cobra.Command {
	var (
		f    benchFlags
		text benchText
	)
	cmd := &cobra.Command{
		Use:   "corpus [flags]",
		Short: "Measure reading, counting and encoding of text",
		Long: `Read a text several times, from file to word ids: decompressing, splitting into
words, counting, numbering. It is read once before, which is not measured: files
come from the system's cache then, not from the disk. MB are millions of bytes
of text after decompression; words are all in the text, rare ones too.`,
		Example: `  w2vcl bench corpus
  w2vcl bench corpus --corpus wiki.txt --threads 1`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchCorpus(cmd, s, &f, &text)
		},
	}
	text.addTo(cmd, func(string) bool { return false })
	f.addTo(cmd, 0, "")
	return cmd
}

func benchCorpus(cmd *cobra.Command, s streams, f *benchFlags, text *benchText) error {
	if err := errors.Join(f.check(), text.resolve()); err != nil {
		return err
	}
	ctx, restore := s.interruptible(cmd.Context())
	defer restore()
	report := f.begin(s, "corpus", text.recorded(cmd))
	stage := s.progress(f.quiet).Stage("reading text", int64(f.repeat)+1)
	defer stage.Stop()
	var r benchCorpusResult
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
	return f.finish(ctx, s, report, []benchCorpusResult{r}, count, err, func() error { return r.print(s) })
}

func (r benchCorpusResult) print(s streams) error {
	var out table
	out.rowf("text\t%s, %s words, %s of them used, %s different", terminal.Bytes(r.Bytes),
		terminal.Number(r.Tokens), terminal.Number(r.TokensUsed), terminal.Number(r.Words))
	out.rowf("read in\t%s (spread %s), %d threads", milliseconds(r.Read.Median), percent(r.Read.Spread()), r.Threads)
	out.rowf("\t%.1f MB/s, %.2f million words/s", r.BytesPerSecond/1e6, r.WordsPerSecond/1e6)
	out.rowf("memory\t%s at the peak of one reading", terminal.Bytes(r.PeakRSS))
	return out.writeTo(s.out)
}
