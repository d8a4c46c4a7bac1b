package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/evaluate"
)

// A similarityAnswer is the object that similarity --json prints.
type similarityAnswer struct {
	A      string      `json:"a"`
	B      string      `json:"b"`
	Cosine float32     `json:"cosine"`
	Unseen []askedWord `json:"unseen,omitempty"`
}

func newSimilarity(s cli.Streams) *cobra.Command {
	asJSON, q := false, questions{names: []string{"A", "B"}}
	cmd := &cobra.Command{
		Use:        "similarity DIR|VECTORS A B [flags]",
		Short:      "Show how similar two words are",
		SuggestFor: []string{"sim", "cosine"},
		Long: `Show the cosine of the vectors of two words, seen or not. 1 means the same direction,
0 means unrelated. With --words, show the cosines of many pairs.`,
		Example: `  w2vcl similarity runs/wiki coast shore
  cut -f 1,2 pairs.tsv | w2vcl similarity runs/wiki --words -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return similarity(cmd.Context(), s, args[0], args[1:], &q, asJSON)
		},
	}
	q.addTo(cmd, cli.Exactly("DIR|VECTORS", "A", "B"))
	cli.AddJSON(cmd, &asJSON, "print one line of JSON: the words and their cosine; with --words an array")
	return cmd
}

func similarity(ctx context.Context, s cli.Streams, path string, args []string, q *questions, asJSON bool) error {
	pairs, _, found, err := q.ask(ctx, s, path, args)
	if err != nil {
		return err
	}
	answers := make([]similarityAnswer, len(pairs))
	var out cli.Table
	for i, pair := range pairs {
		cosine := float32(evaluate.Cosine(found[2*i].Vector, found[2*i+1].Vector))
		answers[i] = similarityAnswer{pair[0], pair[1], cosine, unseen(found[2*i : 2*i+2])}
		out.Rowf("%s\t%s\t%6.3f", pair[0], pair[1], cosine)
	}
	if asJSON {
		return cli.WriteJSON(s.Out, answer(q, answers))
	}
	noteUnseen(s, found)
	return out.Print(s.Out)
}
