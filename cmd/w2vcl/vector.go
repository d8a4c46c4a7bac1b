package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/runfolder"
)

// wordVector is one line of vector --json.
type wordVector struct {
	Word     string    `json:"word"`
	Composed bool      `json:"composed,omitempty"`
	Vector   []float32 `json:"vector"`
}

func newVector(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "vector DIR|VECTORS WORD... [flags]",
		Short: "Print the vectors of words, seen or not",
		Long: `Print the vectors of words, a line each: the word and its values. A run trained
with --subword composes the vectors of words that its text does not have; 'w2vcl
convert --words' writes those of a whole list to a file.`,
		Example: `  w2vcl vector runs/wiki economy
  w2vcl vector runs/wiki unlearnable misspeled --json`,
		Args: wordsOf("DIR|VECTORS"),
		RunE: func(_ *cobra.Command, args []string) error { return printVectors(s, args[0], args[1:], asJSON) },
	}
	addJSON(cmd, &asJSON, "print one line of JSON: an array of words with their vectors")
	return cmd
}

func printVectors(s streams, path string, words []string, asJSON bool) error {
	t, err := runfolder.LoadVectors(path)
	if err != nil {
		return err
	}
	vectors, rows, err := lookup(t, words)
	if err != nil {
		return err
	}
	if asJSON {
		found := make([]wordVector, len(words))
		for i, word := range words {
			found[i] = wordVector{word, rows[i] == notInTable, vectors[i]}
		}
		return writeJSON(s.out, found)
	}
	for i, word := range words {
		line := []byte(word)
		for _, x := range vectors[i] {
			line = strconv.AppendFloat(append(line, ' '), float64(x), 'g', -1, 32)
		}
		if _, err := s.out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// wordsOf returns a check that after the named argument comes at least one word.
func wordsOf(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return exactly(name, "WORD")(nil, args)
		}
		return nil
	}
}
