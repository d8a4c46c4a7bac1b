package main

import (
	"context"
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
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

func newCorpus(s cli.Streams) *cobra.Command {
	return cli.NewGroup("corpus", "Encode a text as a file of word numbers, or describe it",
		`Training reads a text larger than memory from a file. The file has two bytes a word if the
vocabulary has at most 65,536 words, otherwise three or four. 'w2vcl train --cache DIR' makes
the file, or uses the existing one while text and settings are the same.`,
		newCorpusBuild(s), newCorpusInfo(s), newCorpusStats(s))
}

type corpusBuildOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
}

func newCorpusBuild(s cli.Streams) *cobra.Command {
	var o corpusBuildOptions
	cmd := &cobra.Command{
		Use:   "build --corpus PATH --cache DIR [flags]",
		Short: "Read a text once and keep it encoded in a folder",
		Long: `Read a text and write it, encoded, to a file in the folder DIR. A run with the same text,
the same settings of section Text and --cache DIR then starts without reading. An existing
file stays as it is. Standard input and pipes are refused, because a later run recognises the
text by its file. Counts that exceed a limit of memory go to the disk meanwhile, so any number
of different words is counted exactly.`,
		Example: `  w2vcl corpus build --corpus wiki.txt --cache encoded
  w2vcl train --corpus wiki.txt --cache encoded --mode pword2vec --out runs/wiki`,
		Args: cli.OneCorpus,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, isTextSetting)
	cli.AddJSON(cmd, &o.json, "print one line of JSON")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func isTextSetting(setting settings.Setting) bool {
	switch setting.Name {
	case "corpus", "threads", "max-memory":
		return true
	default:
		return setting.Section == settings.SectionText
	}
}

func (o *corpusBuildOptions) run(ctx context.Context, s cli.Streams) error {
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	if config.Cache == "" {
		return terminal.Usagef("--cache is missing: name the folder to write to")
	}
	text, err := train.ReadText(ctx, config, nil, s.Progress(o.quiet))
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // it was only read
	return showCorpus(s, text, o.json)
}

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
