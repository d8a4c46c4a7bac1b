package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

type corpusStatsOptions struct {
	settings    cli.SettingFlags
	window      int
	json, quiet bool
}

// listedWords is how many words and pairs are listed.
const listedWords = 10

func newCorpusStats(s cli.Streams) *cobra.Command {
	var o corpusStatsOptions
	cmd := &cobra.Command{
		Use:   "stats PATH [flags]",
		Short: "Show frequent words and pairs, and what --min-count removes",
		Long: `Read a text, or an encoded text, and show its most frequent words, what each minimum count
would leave, how the vocabulary grows with the text (Heaps' law), and which pairs of words are
frequent. All words count, unless --min-count says otherwise; an encoded text has only the
words that were kept.`,
		Example: `  w2vcl corpus stats wiki.txt
  w2vcl corpus stats wiki.txt --lowercase --json
  w2vcl corpus stats encoded/wiki.txt-0123456789abcdef.w2vtext --json`,
		Args: cli.Exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.settings.AddTo(cmd,
		func(setting settings.Setting) bool { return setting.Name != "corpus" && isTextSetting(setting) })
	flags := cmd.Flags()
	flags.IntVar(&o.window, "window", 5, "count pairs of words that are at most `N` words apart")
	cli.AddJSON(cmd, &o.json, "print one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *corpusStatsOptions) run(ctx context.Context, s cli.Streams, path string) error {
	if o.window < 1 || o.window > 1000 {
		return terminal.Usagef("--window %d: must be from 1 to 1000", o.window)
	}
	o.settings.Set["corpus"] = path
	if _, given := o.settings.Set["min-count"]; !given {
		o.settings.Set["min-count"] = "1"
	}
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	var text *corpus.Corpus
	if isEncoded(path) {
		text, err = corpus.OpenFile(path, config.ThreadCount())
	} else {
		text, err = train.ReadText(ctx, config, nil, s.Progress(o.quiet))
	}
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // it was only read
	counted, err := countStatistics(ctx, text, o.window, listedWords)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, counted)
	}
	return printStatistics(s.Out, counted)
}

// isEncoded reports whether a path is that of an encoded text. A pipe is not read from.
func isEncoded(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && encodedKind.Is(path)
}

var encodedKind = cli.HeadKind("an encoded text", func(head string) bool { return corpus.IsFile([]byte(head)) })

func printStatistics(w io.Writer, c *corpusStatistics) error {
	var out cli.Table
	out.Rowf("text\t%s words, %s of them counted, %s different, in %s", terminal.Number(c.Text.Tokens),
		terminal.Number(c.Text.TokensUsed), terminal.Number(c.Words), terminal.Quantity(terminal.Number(c.Text.Sentences), "sentence"))
	out.Rowf("Heaps\tdifferent words = %.3g · words^%.3f (R² %.3f)", c.Heaps.Constant, c.Heaps.Exponent, c.Heaps.Fit)
	out.Rowf("\nmin-count\twords left\tof all\ttokens left\tof all")
	for _, m := range c.MinCounts {
		out.Rowf("%d\t%s\t%s\t%s\t%s", m.MinCount, terminal.Number(m.Words), cli.Percent(m.WordFraction),
			terminal.Number(int64(m.Tokens)), cli.Percent(m.TokenFraction))
	}
	out.Rowf("\nfrequent word\ttimes")
	for _, f := range c.Frequent {
		out.Rowf("%s\t%s", f.Word, terminal.Number(int64(f.Count)))
	}
	among := ""
	if !c.Pairs.Exact {
		among = ", of the most frequent words"
	}
	out.Rowf("\npair within %d words%s\ttimes", c.Pairs.Window, among)
	for _, p := range c.Pairs.Top {
		out.Rowf("%s %s\t%s", p.First, p.Second, terminal.Number(int64(p.Count)))
	}
	return out.Print(w)
}
