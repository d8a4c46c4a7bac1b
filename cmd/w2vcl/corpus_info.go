package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

func newCorpusInfo(s cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "info FILE",
		Short:   "Show the contents of an encoded text",
		Long:    `Check an encoded text, every byte of it, and show what it holds.`,
		Example: `  w2vcl corpus info encoded/wiki.txt-0123456789abcdef.w2vtext`,
		Args:    cli.Exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: there is no such file", args[0])
			}
			text, err := corpus.OpenFile(args[0], runtime.GOMAXPROCS(0))
			if err != nil {
				return err
			}
			defer func() { _ = text.Close() }() // it was only read
			return showCorpus(s, text, asJSON)
		},
	}
	cli.AddJSON(cmd, &asJSON, "print one line of JSON")
	return cmd
}

// A corpusSummary is the object that corpus build and corpus info print with --json.
type corpusSummary struct {
	File        string       `json:"file"`
	Bytes       int64        `json:"bytes"`
	BytesPerID  int          `json:"bytes_per_word"`
	Words       int          `json:"words"`  // V
	Tokens      int          `json:"tokens"` // of the vocabulary
	Sentences   int          `json:"sentences"`
	Fingerprint string       `json:"corpus_fingerprint"`
	Text        corpus.Stats `json:"text"`
}

func showCorpus(s cli.Streams, c *corpus.Corpus, asJSON bool) error {
	text := c.Text()
	r := corpusSummary{
		Words: c.Vocabulary.Len(), Tokens: text.Tokens(), Sentences: text.Sentences(),
		Fingerprint: corpus.Hex(c.Fingerprint()), Text: c.Stats,
	}
	r.File, r.Bytes, r.BytesPerID = c.File()
	if asJSON {
		return cli.WriteJSON(s.Out, r)
	}
	var out cli.Table
	out.Rowf("file\t%s, %s, %s a word", r.File, terminal.Bytes(r.Bytes), terminal.Quantity(strconv.Itoa(r.BytesPerID), "byte"))
	out.Rowf("words\t%s different", terminal.Number(r.Words))
	out.Rowf("tokens\t%s in %s", terminal.Number(r.Tokens), terminal.Quantity(terminal.Number(r.Sentences), "sentence"))
	out.Rowf("text\t%s, %s words, %s different",
		terminal.Bytes(r.Text.Bytes), terminal.Number(r.Text.Tokens), terminal.Number(r.Text.Types))
	out.Rowf("fingerprint\t%s", r.Fingerprint)
	return out.Print(s.Out)
}
