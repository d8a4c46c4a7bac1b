package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/wordcontext"
)

func newMatrixInfo(s cli.Streams) *cobra.Command {
	var (
		asJSON     bool
		rows       int
		vocabulary string
	)
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Show the contents of a matrix file",
		Example: `  w2vcl matrix info wiki.matrix
  w2vcl matrix build --corpus wiki.txt --matrix wiki.matrix --vocab wiki.vocab
  w2vcl matrix info wiki.matrix --rows 10 --vocab wiki.vocab`,
		Args: cli.Exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if rows != 0 {
				return matrixRows(s, args[0], rows, vocabulary)
			}
			return matrixInfo(s, args[0], asJSON)
		},
	}
	cmd.Flags().IntVar(&rows, "rows", 0, "show the first contexts of the first `N` words instead")
	cmd.Flags().StringVar(&vocabulary, "vocab", "",
		"name the words of --rows by `FILE`, which --vocab of 'w2vcl matrix build' wrote "+
			"(default: their numbers)")
	cli.AddJSON(cmd, &asJSON, "print one line of JSON")
	return cmd
}

// A matrixSummary is the object that matrix info --json prints.
type matrixSummary struct {
	File          string  `json:"file"`
	Bytes         int64   `json:"bytes"`
	Rows          int     `json:"rows"`
	Contexts      int     `json:"contexts"` // iterations of an epoch
	Stored        uint64  `json:"stored"`   // contexts in the file; the rows repeat them
	Window        int     `json:"window"`
	DynamicWindow bool    `json:"dynamic_window"`
	Sample        float64 `json:"sample"`
	Passes        int     `json:"passes"`
	Seed          uint64  `json:"seed"`
	Corpus        string  `json:"corpus_fingerprint"`

	Tempering    float64             `json:"tempering"`
	Positives    float64             `json:"positives"`
	MaxPositives int                 `json:"max_positives,omitempty"`
	Samples      *wordcontext.Spread `json:"samples,omitempty"` // of a word in an iteration; none: each has one
}

func matrixInfo(s cli.Streams, path string, asJSON bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", path)
	}
	if err != nil {
		return fmt.Errorf("cannot read the matrix: %w", err)
	}
	m, err := wordcontext.OpenBounded(path)
	if err != nil {
		return err
	}
	o := m.Options()
	summary := matrixSummary{
		File: path, Bytes: info.Size(), Rows: m.Rows(), Contexts: m.Contexts(), Stored: m.Stored(),
		Window: o.Window, DynamicWindow: o.DynamicWindow, Sample: o.Sample, Passes: o.Passes, Seed: o.Seed,
		Corpus: corpus.Hex(m.Fingerprint()), Tempering: o.Tempering, Positives: o.Positives,
		MaxPositives: o.MaxPositives, Samples: m.Spread(),
	}
	if err := m.Close(); err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(s.Out, summary)
	}
	return summary.print(s)
}

func (m matrixSummary) print(s cli.Streams) error {
	kind := "fixed"
	if m.DynamicWindow {
		kind = "dynamic"
	}
	var out cli.Table
	out.Rowf("rows\t%s", m.Samples.Shape(m.Rows, m.Contexts))
	if s := m.Samples; s != nil {
		out.Rowf("samples\t%.3g of a word in an iteration, from %.3g to %.3g; tempering %g",
			s.Mean, s.Least, s.Most, m.Tempering)
	}
	out.Rowf("epoch\t%s iterations", terminal.Number(m.Contexts))
	out.Rowf("stored\t%s contexts, %s", terminal.Number(m.Stored), terminal.Bytes(m.Bytes))
	out.Rowf("window\t%d, %s", m.Window, kind)
	out.Rowf("sample\t%g, %d passes", m.Sample, m.Passes)
	out.Rowf("seed\t%d", m.Seed)
	out.Rowf("corpus\t%s", m.Corpus)
	return out.Print(s.Out)
}

const shownContexts = 16

// matrixRows prints the first rows of M: the word, then its contexts as training takes them.
func matrixRows(s cli.Streams, path string, rows int, vocabulary string) error {
	if rows < 0 {
		return terminal.Usagef("--rows %d: must be at least 1", rows)
	}
	m, err := wordcontext.OpenBounded(path)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }() // only read
	name := func(id uint32) string { return terminal.Number(uint64(id)) }
	if vocabulary != "" {
		words, err := matrixWords(vocabulary)
		if err != nil {
			return err
		}
		if len(words) != m.Rows() {
			return fmt.Errorf("--vocab %s: it has %s, and %s has %s: name the vocabulary of the matrix", vocabulary,
				terminal.Quantity(terminal.Number(len(words)), "word"), path, terminal.Quantity(terminal.Number(m.Rows()), "row"))
		}
		name = func(id uint32) string { return words[id] }
	}
	var out cli.Table
	for i := range min(rows, m.Rows()) {
		row := name(uint32(i)) + "\t"
		for k := range min(m.Contexts(), shownContexts) {
			id := m.At(i, k)
			if id == wordcontext.NoContext {
				row += "–"
				break
			}
			row += name(id) + " "
		}
		out.Rowf("%s", row)
	}
	return out.Print(s.Out)
}

func matrixWords(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--vocab %s: %w", path, cli.Cause(err))
	}
	defer f.Close()
	v, err := corpus.ReadWord2VecVocabulary(f, path)
	if err != nil {
		return nil, err
	}
	return v.Words, nil
}
