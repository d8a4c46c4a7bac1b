package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/train"
)

type convertOptions struct {
	format string
	force  bool
}

func newConvert(s streams) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert DIR|VECTORS OUT [flags]",
		Short: "Write vectors in another format",
		Long: `Write the vectors of a run folder or file in another format, which is taken from
the name of OUT: .bin and .txt (word2vec), .vec (fastText), .glove, .npy,
.safetensors or .tsv (TensorBoard projector). The format that is read is found
out from the content.`,
		Example: `  w2vcl convert runs/wiki wiki.txt
  w2vcl convert GoogleNews-vectors-negative300.bin.gz news.safetensors
  w2vcl convert runs/wiki vectors.tsv      # and metadata.tsv, for projector.tensorflow.org`,
		Args: exactly("DIR|VECTORS", "OUT"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(s, args[0], args[1]) },
	}
	cmd.Flags().StringVar(&o.format, "format", "", "write `NAME` whatever OUT is called: "+formatNames())
	cmd.Flags().BoolVar(&o.force, "force", false, "replace OUT if it exists")
	return cmd
}

func formatNames() string {
	var names []string
	for _, f := range embedding.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

func (o *convertOptions) run(s streams, from, to string) error {
	format, err := o.outputFormat(to)
	if err != nil {
		return train.Usagef("%v", err)
	}
	files := []string{to}
	if sibling := embedding.SiblingPath(to, format); sibling != "" {
		files = append(files, sibling)
	}
	for _, file := range files {
		if err := checkTarget(file, o.force); err != nil {
			return err
		}
	}
	t, err := loadVectors(from)
	if err != nil {
		return err
	}
	if err := embedding.Save(to, t, format); err != nil {
		return err
	}
	s.notef("Wrote %s words of dimension %d to %s (%s)", train.Number(t.Len()), t.Dim, strings.Join(files, " and "), format)
	return nil
}

func (o *convertOptions) outputFormat(to string) (embedding.Format, error) {
	if o.format != "" {
		return embedding.ParseFormat(o.format)
	}
	format, err := embedding.FormatOf(to)
	if err != nil {
		return "", fmt.Errorf("%w; or choose with --format (%s)", err, formatNames())
	}
	return format, nil
}
