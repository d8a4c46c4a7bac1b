package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A wordVector is an element of the array that vector --json prints.
type wordVector struct {
	askedWord
	Vector []float32 `json:"vector"`
}

func newVector(s cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "vector DIR|VECTORS WORD... [flags]",
		Short:      "Print the vectors of words, seen or not",
		SuggestFor: []string{"embed", "print-word-vectors", "get-vector"},
		Long: `Print the vectors of words, a line each: the word and its values. A run trained
with --subword, and a fastText model, compose the vectors of words that are not in
their text. Standard error says what such a vector comes from. 'w2vcl convert --words'
writes the vectors of a whole list of words to a file.`,
		Example: `  w2vcl vector runs/wiki economy
  w2vcl vector runs/wiki unlearnable misspeled --json`,
		Args: cli.WordsOf("DIR|VECTORS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return printVectors(cmd.Context(), s, args[0], args[1:], asJSON)
		},
	}
	cli.AddJSON(cmd, &asJSON, "print one line of JSON: an array of words with their vectors")
	return cmd
}

func printVectors(ctx context.Context, s cli.Streams, path string, words []string, asJSON bool) error {
	_, _, found, err := new(questions).ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	if asJSON {
		lines := make([]wordVector, len(found))
		for i, w := range found {
			lines[i] = wordVector{askedWord{w.Word, w.Origin}, w.Vector}
		}
		return cli.WriteJSON(s.Out, lines)
	}
	noteUnseen(s, found)
	for _, w := range found {
		line := []byte(terminal.Visible(w.Word))
		for _, x := range w.Vector {
			line = strconv.AppendFloat(append(line, ' '), float64(x), 'g', -1, 32)
		}
		if _, err := s.Out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
