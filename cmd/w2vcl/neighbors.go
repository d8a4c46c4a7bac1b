package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type neighborsOptions struct {
	count     int
	json      bool
	questions questions
}

// A wordNeighbors is an element of the array that neighbors --json prints.
type wordNeighbors struct {
	askedWord
	Neighbors []embedding.Neighbor `json:"neighbors"`
}

func newNeighbors(s cli.Streams) *cobra.Command {
	o := neighborsOptions{questions: questions{names: []string{"WORD"}}}
	cmd := &cobra.Command{
		Use:        "neighbors DIR|VECTORS WORD... [flags]",
		Short:      "Show the words nearest to a word",
		SuggestFor: []string{"nn", "nearest", "most-similar", "similar", "distance"},
		Long: `Show the words whose vectors have the largest cosine with the vector of a word, in
a run folder or a file of vectors. A run that is still training answers with the
vectors of its last checkpoint. A run trained with --subword, and a fastText model,
also answer for words that are not in their text. The answer says what the vector of such
a word comes from.`,
		Example: `  w2vcl neighbors runs/wiki economy river
  w2vcl neighbors glove.6B.100d.txt paris --count 20
  w2vcl neighbors runs/wiki --words words.txt --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	countFlag(cmd, &o.count, 10, "show `N` neighbours of each word")
	o.questions.addTo(cmd, cli.WordsOf("DIR|VECTORS"))
	cli.AddJSON(cmd, &o.json, "print one line of JSON: an array of words with their neighbours")
	return cmd
}

// countFlag adds --count, which gensim calls topn.
func countFlag(cmd *cobra.Command, target *int, usual int, help string) {
	cmd.Flags().IntVarP(target, "count", "n", usual, help)
	cli.UseAliases(cmd.Flags(), map[string]string{"topn": "count", "top": "count", "k": "count"})
}

func (o *neighborsOptions) run(ctx context.Context, s cli.Streams, path string, words []string) error {
	if o.count < 1 {
		return terminal.Usagef("--count %d: must be at least 1", o.count)
	}
	_, t, found, err := o.questions.ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	answers, err := neighbors(ctx, t, found, o.count)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, answers)
	}
	var out cli.Table
	for i, w := range answers {
		if i > 0 {
			out.Rowf("")
		}
		out.Rowf("%s%s", w.Word, notInText(w.Origin))
		for _, n := range w.Neighbors {
			out.Rowf("  %s\t%6.3f", n.Word, n.Cosine)
		}
	}
	return out.Print(s.Out)
}

func neighbors(ctx context.Context, t *runfolder.Vectors, found []runfolder.WordVector, count int) ([]wordNeighbors, error) {
	vectors, exclude := make([][]float32, len(found)), make([][]int, len(found))
	for i, w := range found {
		vectors[i], exclude[i] = w.Vector, []int{w.Row}
	}
	nearest, err := t.Nearest(ctx, vectors, count, exclude...)
	if err != nil {
		return nil, err
	}
	answers := make([]wordNeighbors, len(found))
	for i, w := range found {
		answers[i] = wordNeighbors{askedWord{w.Word, w.Origin}, nearest[i]}
	}
	return answers, nil
}
