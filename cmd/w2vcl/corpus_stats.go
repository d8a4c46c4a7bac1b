package main

import (
	"context"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/statistics"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

type corpusStatsOptions struct {
	settings    cli.SettingFlags
	count       statistics.Options
	html        string
	json, quiet bool
}

func newCorpusStats(s cli.Streams) *cobra.Command {
	var o corpusStatsOptions
	cmd := &cobra.Command{
		Use:   "stats PATH [flags]",
		Short: "Show how often words occur, what --min-count removes, and what repeats",
		Long: `Read a text, or an encoded text, and show how often its words occur, what each minimum
count would leave, how the vocabulary grows with the text (Heaps' law), which pairs of words
are frequent, and how many sentences are copies of earlier ones. All words count, unless
--min-count says otherwise; an encoded text has only the words that were kept.`,
		Example: `  w2vcl corpus stats wiki.txt
  w2vcl corpus stats wiki.txt --lowercase --html wiki.html
  w2vcl corpus stats encoded/wiki.txt-0123456789abcdef.w2vtext --json`,
		Args: cli.Exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.settings.AddTo(cmd,
		func(setting settings.Setting) bool { return setting.Name != "corpus" && isTextSetting(setting) })
	flags := cmd.Flags()
	flags.IntVar(&o.count.Window, "window", 5, "count pairs of words that are at most `N` words apart")
	flags.IntVar(&o.count.Top, "top", 10, "list `N` pairs and repeated sentences")
	flags.StringVar(&o.html, "html", "", "write a page with charts to `FILE`")
	flags.Bool("force", false, "replace FILE if it is a page")
	cli.AddJSON(cmd, &o.json, "print one line of JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *corpusStatsOptions) run(ctx context.Context, s cli.Streams, path string) error {
	switch {
	case o.count.Window < 1 || o.count.Window > 1000:
		return terminal.Usagef("--window %d: must be from 1 to 1000", o.count.Window)
	case o.count.Top < 0:
		return terminal.Usagef("--top %d: must not be negative", o.count.Top)
	}
	o.settings.Set["corpus"] = path
	if _, given := o.settings.Set["min-count"]; !given {
		o.settings.Set["min-count"] = "1"
	}
	config, err := o.settings.Config()
	if err != nil {
		return err
	}
	p := s.Progress(o.quiet)
	o.count.Threads = config.ThreadCount()
	var text *corpus.Corpus
	if isEncoded(path) {
		text, err = corpus.OpenFile(path, o.count.Threads)
	} else {
		text, err = train.ReadText(ctx, config, nil, p)
	}
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // it was only read
	stage := p.Stage("counting", 0)
	defer stage.Stop()
	o.count.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, nil)
	}
	counted, err := statistics.Of(ctx, text, o.count)
	if err != nil {
		return err
	}
	stage.Stop()
	if o.html != "" {
		if err := atomicfile.Write(o.html, func(w io.Writer) error { return statisticsPage(w, path, counted) }); err != nil {
			return err
		}
		if o.html == "-" {
			return nil
		}
	}
	if o.json {
		return cli.WriteJSON(s.Out, counted)
	}
	return printStatistics(s.Out, counted)
}

// isEncoded reports whether a path is that of an encoded text.
func isEncoded(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe is not read from
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := f.Read(head) // what is short is no encoded text
	return corpus.IsFile(head[:n])
}

func printStatistics(w io.Writer, c *statistics.Statistics) error {
	var out cli.Table
	out.Rowf("text\t%s words, %s of them counted, %s different, in %s", terminal.Number(c.Text.Tokens),
		terminal.Number(c.Text.TokensUsed), terminal.Number(c.Words), terminal.Quantity(terminal.Number(c.Text.Sentences), "sentence"))
	out.Rowf("sentences\t%.1f words on average, median %d, longest %s",
		c.Lengths.Mean, c.Lengths.Median, terminal.Number(c.Lengths.Longest))
	out.Rowf("Zipf\toccurrences = %.3g / rank^%.3f (R² %.3f)", c.Zipf.Constant, c.Zipf.Exponent, c.Zipf.Fit)
	out.Rowf("Heaps\tdifferent words = %.3g · words^%.3f (R² %.3f)", c.Heaps.Constant, c.Heaps.Exponent, c.Heaps.Fit)
	sampled := ""
	if c.Duplicates.Sampled {
		sampled = ", of a sample"
	}
	out.Rowf("copies\t%.2f%% of the sentences, with %.2f%% of the words%s",
		100*c.Duplicates.Fraction, 100*c.Duplicates.Tokens, sampled)
	if err := out.Print(w); err != nil {
		return err
	}
	for _, part := range statisticsTables(c) {
		var out cli.Table
		out.Rowf("\n%s", strings.Join(part.columns, "\t"))
		for _, row := range part.rows {
			out.Rowf("%s", strings.Join(row, "\t"))
		}
		if err := out.Print(w); err != nil {
			return err
		}
	}
	return nil
}

// A statisticsTable is shown on the terminal and on the page.
type statisticsTable struct {
	title   string
	columns []string
	rows    [][]string
}

func statisticsTables(c *statistics.Statistics) []statisticsTable {
	cuts := statisticsTable{
		"What a minimum count leaves",
		[]string{"min-count", "words left", "of all", "tokens left", "of all"}, nil,
	}
	for _, m := range c.MinCounts {
		cuts.rows = append(cuts.rows, []string{
			fmt.Sprint(m.MinCount),
			terminal.Number(m.Words), cli.Percent(m.WordFraction),
			terminal.Number(int64(m.Tokens)), cli.Percent(m.TokenFraction),
		})
	}
	spectrum := statisticsTable{"Frequency spectrum", []string{"occurrences", "words", "tokens"}, nil}
	for _, b := range c.Spectrum {
		name := fmt.Sprintf("%d to %d", b.Least, b.Most)
		if b.Least == b.Most {
			name = fmt.Sprint(b.Least)
		}
		spectrum.rows = append(spectrum.rows, []string{name, terminal.Number(b.Words), terminal.Number(int64(b.Tokens))})
	}
	pairs := statisticsTable{"Frequent pairs", []string{fmt.Sprintf("pair within %d words", c.Pairs.Window), "times"}, nil}
	for _, p := range c.Pairs.Top {
		pairs.rows = append(pairs.rows, []string{p.First + " " + p.Second, terminal.Number(int64(p.Count))})
	}
	if !c.Pairs.Exact {
		pairs.columns[0] += ", of the most frequent words"
	}
	copies := statisticsTable{"Sentences that come again", []string{"sentence that comes again", "times"}, nil}
	for _, r := range c.Duplicates.Most {
		copies.rows = append(copies.rows, []string{r.Sentence, terminal.Number(r.Count)})
	}
	var shown []statisticsTable
	for _, t := range []statisticsTable{cuts, spectrum, pairs, copies} {
		if len(t.rows) > 0 {
			shown = append(shown, t)
		}
	}
	return shown
}

// statisticsPage writes charts and tables.
func statisticsPage(w io.Writer, path string, c *statistics.Statistics) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p>%s words, %s of them counted, %s different, in %s of %.1f words on average.</p>\n", html.EscapeString(path),
		terminal.Number(c.Text.Tokens), terminal.Number(c.Text.TokensUsed), terminal.Number(c.Words), terminal.Quantity(terminal.Number(c.Text.Sentences), "sentence"), c.Lengths.Mean)
	log := func(x float64) float64 { return math.Log10(max(x, 1e-9)) }
	found, fitted := report.Series{Name: "counted"}, report.Series{Name: "fitted", Color: 1}
	for _, r := range c.Ranks {
		found.Points = append(found.Points, flatPoint(float64(r.Rank), log(float64(r.Count))))
		fitted.Points = append(fitted.Points,
			flatPoint(float64(r.Rank), log(c.Zipf.Constant/math.Pow(float64(r.Rank), c.Zipf.Exponent))))
	}
	grown, law := report.Series{Name: "counted"}, report.Series{Name: "fitted", Color: 1}
	for _, g := range c.Heaps.Growth {
		grown.Points = append(grown.Points, flatPoint(float64(g.Tokens), log(float64(g.Words))))
		law.Points = append(law.Points,
			flatPoint(float64(g.Tokens), log(c.Heaps.Constant*math.Pow(float64(g.Tokens), c.Heaps.Exponent))))
	}
	words, tokens := report.Series{Name: "words"}, report.Series{Name: "tokens", Color: 1}
	for _, m := range c.MinCounts {
		words.Points = append(words.Points, flatPoint(float64(m.MinCount), 100*m.WordFraction))
		tokens.Points = append(tokens.Points, flatPoint(float64(m.MinCount), 100*m.TokenFraction))
	}
	b.WriteString(`<div class="charts">`)
	for _, chart := range []struct {
		caption string
		report.LineChart
	}{
		{fmt.Sprintf("Occurrences of words: %.3g / rank^%.3f", c.Zipf.Constant, c.Zipf.Exponent),
			report.LineChart{Title: "occurrences by rank", X: "rank of the word", Y: "occurrences, decimal logarithm", Log: true, Series: []report.Series{found, fitted}}},
		{fmt.Sprintf("Different words: %.3g · words^%.3f", c.Heaps.Constant, c.Heaps.Exponent),
			report.LineChart{Title: "different words by words read", X: "words read", Y: "different words, decimal logarithm", Log: true, Series: []report.Series{grown, law}}},
		{"What a minimum count leaves",
			report.LineChart{Title: "words and tokens left", X: "minimum count", Y: "% left", Log: true, Series: []report.Series{words, tokens}}},
	} {
		fmt.Fprintf(&b, `<figure><figcaption>%s</figcaption><ul class="legend">`, html.EscapeString(chart.caption))
		for _, s := range chart.Series {
			fmt.Fprintf(&b, `<li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line %s" x1="0" y1="5" x2="26" y2="5"/></svg>%s</li>`,
				report.Key{Color: s.Color}.Class(), html.EscapeString(s.Name))
		}
		b.WriteString("</ul>" + string(chart.SVG()) + "</figure>\n")
	}
	b.WriteString("</div>\n")
	for _, t := range statisticsTables(c) {
		fmt.Fprintf(&b, "<h2>%s</h2>\n<table><thead><tr>", html.EscapeString(t.title))
		for _, name := range t.columns {
			fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(name))
		}
		b.WriteString("</tr></thead><tbody>\n")
		for _, row := range t.rows {
			b.WriteString("<tr>")
			for _, cell := range row {
				fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(cell))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</tbody></table>\n")
	}
	return report.Page(w, "Statistics of "+path, template.HTML(b.String()))
}
