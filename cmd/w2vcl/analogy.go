package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type analogyOptions struct {
	count     int
	json      bool
	questions questions
}

// An analogyAnswer is the object that analogy --json prints.
type analogyAnswer struct {
	A       string               `json:"a"`
	B       string               `json:"b"`
	C       string               `json:"c"`
	Answers []embedding.Neighbor `json:"answers"`
	Unseen  []askedWord          `json:"unseen,omitempty"`
}

func newAnalogy(s cli.Streams) *cobra.Command {
	o := analogyOptions{questions: questions{names: []string{"A", "B", "C"}}}
	cmd := &cobra.Command{
		Use:        "analogy DIR|VECTORS A B C [flags]",
		Short:      "Answer \"A is to B as C is to ...\"",
		SuggestFor: []string{"analogies", "word-analogy"},
		Long: `Answer "A is to B as C is to ..." with the words nearest to B - A + C (3CosAdd).
A, B and C do not count as answers.`,
		Example: `  w2vcl analogy runs/wiki man king woman
  w2vcl analogy runs/wiki paris france rome --count 3
  w2vcl analogy runs/wiki --words questions.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	countFlag(cmd, &o.count, 5, "show `N` answers")
	o.questions.addTo(cmd, cli.Exactly("DIR|VECTORS", "A", "B", "C"))
	cli.AddJSON(cmd, &o.json, "print one line of JSON: the question and its answers; with --words an array")
	return cmd
}

func (o *analogyOptions) run(ctx context.Context, s cli.Streams, path string, words []string) error {
	if o.count < 1 {
		return terminal.Usagef("--count %d: must be at least 1", o.count)
	}
	asked, t, found, err := o.questions.ask(ctx, s, path, words)
	if err != nil {
		return err
	}
	queries, rows := make([][]float32, len(asked)), make([][]int, len(asked))
	for i := range asked {
		queries[i], rows[i] = offset(found[3*i : 3*i+3])
	}
	nearest, err := t.Nearest(ctx, queries, o.count, rows...)
	if err != nil {
		return err
	}
	answers := make([]analogyAnswer, len(asked))
	var out cli.Table
	for i, q := range asked {
		answers[i] = analogyAnswer{q[0], q[1], q[2], nearest[i], unseen(found[3*i : 3*i+3])}
		if i > 0 {
			out.Rowf("")
		}
		out.Rowf("%s is to %s as %s is to", q[0], q[1], q[2])
		for _, n := range nearest[i] {
			out.Rowf("  %s\t%6.3f", n.Word, n.Cosine)
		}
	}
	if o.json {
		return cli.WriteJSON(s.Out, answer(&o.questions, answers))
	}
	noteUnseen(s, found)
	return out.Print(s.Out)
}

// offset returns b - a + c of the unit vectors of three words, the cosine with which orders words
// as 3CosAdd does, and their rows.
func offset(words []runfolder.WordVector) (query []float32, rows []int) {
	query, rows = make([]float32, len(words[0].Vector)), make([]int, len(words))
	for i, sign := range []float32{-1, 1, 1} {
		v := words[i].Vector
		rows[i] = words[i].Row
		scale := sign / max(float32(math.Sqrt(float64(simd.Dot(v, v)))), math.SmallestNonzeroFloat32)
		for k, x := range v {
			query[k] += scale * x
		}
	}
	return query, rows
}
