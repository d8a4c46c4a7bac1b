package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type convertOptions struct {
	words  string
	format string
}

func newConvert(s cli.Streams) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:        "convert DIR|VECTORS OUT [flags]",
		Short:      "Write vectors in another format",
		SuggestFor: []string{"export", "save"},
		Long: `Write the vectors of a run folder or file in another format. The name of OUT
chooses the format: .bin and .txt (word2vec), .vec (fastText's text), .fasttext.bin
(fastText's model), .glove, .npy, .safetensors or .tsv (TensorBoard's projector).
A name that ends in .gz or .zst compresses the file. - is standard output, in the format
of --format. Input is recognized by its content.

A fastText model of a run trained with --subword ngram gives unseen words the same
vectors as the run. Words have the run's vectors, W + X·C with --context-weight X; the
output matrix is C.`,
		Example: `  w2vcl convert runs/wiki wiki.txt
  w2vcl convert GoogleNews-vectors-negative300.bin.gz news.safetensors
  w2vcl convert runs/ngram model.bin --format fasttext-bin
  w2vcl convert runs/wiki rare.vec --words rare-words.txt
  w2vcl convert runs/wiki vectors.tsv      # and metadata.tsv, for projector.tensorflow.org`,
		Args: cli.Exactly("DIR|VECTORS", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0], args[1]) },
	}
	cmd.Flags().StringVar(&o.words, "words", "",
		"write the vectors of the words in `FILE`, one a line (- is standard input), "+
			"instead of the vocabulary; a run trained with --subword also has vectors of other words")
	cmd.Flags().StringVar(&o.format, "format", "", "write `NAME` whatever OUT is called: "+formatNames())
	cli.CompleteValues(cmd, "format", cli.Texts(embedding.Formats(), func(f embedding.Format) string { return string(f) })...)
	cmd.Flags().Bool("force", false, "replace OUT if it is a file of vectors")
	return cmd
}

// formatNames lists the formats of vectors, with the names of their files.
func formatNames() string {
	return strings.Join(cli.Texts(embedding.Formats(), func(f embedding.Format) string {
		if extensions := embedding.Extensions(f); len(extensions) > 0 {
			return fmt.Sprintf("%s (%s)", f, strings.Join(extensions, ", "))
		}
		return string(f)
	}), ", ")
}

func (o *convertOptions) run(ctx context.Context, s cli.Streams, from, to string) error {
	format, err := o.outputFormat(to)
	if err != nil {
		return terminal.Usagef("%v", err)
	}
	files := []string{to}
	if sibling := embedding.WordsPath(to, format); sibling != "" {
		files = append(files, sibling)
	}
	v, err := o.load(ctx, s, from, format)
	if err != nil {
		return err
	}
	noteUnfinished(s, from)
	t := v.Table
	if format == embedding.FastTextModel {
		err = saveFastText(ctx, s, to, v, from)
	} else {
		err = embedding.Save(to, t, format)
	}
	if err != nil {
		return err
	}
	s.Notef("Wrote %s words of dimension %d to %s (%s)",
		terminal.Number(t.Len()), t.Dim, strings.Join(files, " and "), format)
	return nil
}

// saveFastText writes a fastText model, and says what it holds of unseen words.
func saveFastText(ctx context.Context, s cli.Streams, to string, v *runfolder.Vectors, from string) error {
	withNGrams, err := runfolder.SaveFastText(ctx, to, v, from)
	switch {
	case err != nil:
		return err
	case withNGrams:
		s.Notef("The model has n-grams: unseen words get the vectors that 'w2vcl vector' gives them")
	case v.Encoder != nil:
		s.Notef("Note: the model has words only, because fastText has no such encoder; " +
			"--words adds the vectors of a list of unseen words")
	default:
		s.Notef("Note: the model has words only: unseen words have no vectors in it, because they have none in %s", from)
	}
	return nil
}

func (o *convertOptions) load(ctx context.Context, s cli.Streams, from string, format embedding.Format) (*runfolder.Vectors, error) {
	if o.words == "" && format != embedding.FastTextModel { // which needs no encoder
		t, err := runfolder.LoadTable(ctx, from)
		return &runfolder.Vectors{Table: t}, err
	}
	t, err := runfolder.LoadVectors(ctx, from)
	if err != nil || o.words == "" {
		return t, err
	}
	words, err := readWords(ctx, s, o.words)
	if err != nil {
		return nil, fmt.Errorf("--words %s: %w", o.words, err)
	}
	done, err := memory.Room(int64(len(words)) * int64(t.Dim) * (4 + 4)) // those of unseen words, and all in one table
	if err != nil {
		return nil, fmt.Errorf("--words %s: vectors of %s words: %w", o.words, terminal.Number(len(words)), err)
	}
	defer done()
	found, err := t.Lookup(words)
	if err != nil {
		return nil, err
	}
	vectors := make([]float32, 0, len(words)*t.Dim)
	for _, w := range found {
		vectors = append(vectors, w.Vector...)
	}
	if composed := unseen(found); len(composed) > 0 {
		s.Notef("%s of %s words are not in the text; their vectors are %s", terminal.Number(len(composed)), terminal.Number(len(words)),
			subword.Origin{Source: composed[0].Source})
	}
	table, err := embedding.NewTable(words, t.Dim, vectors)
	return &runfolder.Vectors{Table: table, Encoder: t.Encoder}, err
}

// readWords reads the different words of a list, one a line, in the order of the list.
// Errors name the line.
func readWords(ctx context.Context, s cli.Streams, path string) ([]string, error) {
	var words []string
	met := map[string]bool{}
	err := eachLine(ctx, s, path, func(_ int, line string) error {
		if word := strings.TrimSpace(line); word != "" && !met[word] {
			met[word] = true
			words = append(words, word)
		}
		return nil
	})
	if err == nil && len(words) == 0 {
		err = errEmptyList
	}
	return words, err
}

func (o *convertOptions) outputFormat(to string) (embedding.Format, error) {
	if o.format != "" {
		format, err := embedding.ParseFormat(o.format)
		if err == nil {
			err = embedding.CheckCompression(to, format)
		}
		return format, err
	}
	format, err := embedding.FormatOf(to)
	if err != nil {
		return "", fmt.Errorf("%w, or name a format with --format", err)
	}
	return format, nil
}
