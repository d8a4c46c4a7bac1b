package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/runfolder"
)

type analogyOptions struct {
	count int
	json  bool
}

// An analogyAnswer is the object that analogy --json prints.
type analogyAnswer struct {
	A       string               `json:"a"`
	B       string               `json:"b"`
	C       string               `json:"c"`
	Answers []embedding.Neighbor `json:"answers"`
}

func newAnalogy(s cli.Streams) *cobra.Command {
	var o analogyOptions
	cmd := &cobra.Command{
		Use:   "analogy DIR|VECTORS A B C [flags]",
		Short: "Answer \"A is to B as C is to ...\"",
		Long: `Answer "A is to B as C is to ..." with the words nearest to B - A + C (3CosAdd).
A, B and C are no answers.`,
		Example: `  w2vcl analogy runs/wiki man king woman
  w2vcl analogy runs/wiki paris france rome --count 3`,
		Args: cli.Exactly("DIR|VECTORS", "A", "B", "C"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	countFlag(cmd, &o.count, 5, "show `N` answers")
	cli.AddJSON(cmd, &o.json, "print one line of JSON: the question and its answers")
	return cmd
}

func (o *analogyOptions) run(ctx context.Context, s cli.Streams, path string, words []string) error {
	if o.count < 1 {
		return terminal.Usagef("--count %d: must be at least 1", o.count)
	}
	t, err := runfolder.LoadVectors(ctx, path)
	if err != nil {
		return err
	}
	noteUnfinished(s, path)
	found, err := t.Lookup(words)
	if err != nil {
		return err
	}
	// The cosine with b - a + c of unit vectors orders words as 3CosAdd does.
	query, rows := make([]float32, t.Dim), make([]int, len(found))
	for i, sign := range []float32{-1, 1, 1} {
		v := found[i].Vector
		rows[i] = found[i].Row
		scale := sign / max(float32(math.Sqrt(float64(simd.Dot(v, v)))), math.SmallestNonzeroFloat32)
		for k, x := range v {
			query[k] += scale * x
		}
	}
	nearest, err := t.Nearest(ctx, [][]float32{query}, o.count, rows)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, analogyAnswer{words[0], words[1], words[2], nearest[0]})
	}
	var out cli.Table
	out.Rowf("%s is to %s as %s is to", words[0], words[1], words[2])
	for _, n := range nearest[0] {
		out.Rowf("  %s\t%6.3f", n.Word, n.Cosine)
	}
	return out.Print(s.Out)
}
