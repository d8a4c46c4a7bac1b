package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// generateOptions are the flags of generate.
type generateOptions struct {
	text   bench.Generated
	graph  bench.GeneratedGraph
	size   string
	out    string
	labels string
	quiet  bool
}

// newGenerate is for measurements of large texts and graphs; it is not shown.
func newGenerate(s cli.Streams) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate --out FILE [flags]",
		Short: "Write a random text or graph of any size",
		Long: `Write a random text whose words follow the law of Zipf and Mandelbrot and whose vocabulary
grows without a limit, for measurements of texts that are larger than memory.

With --nodes, write the edges of a random graph: an R-MAT graph, or with --blocks a degree-corrected
block model, whose blocks are the labels of the nodes. A FILE that ends in .npz becomes a sparse
matrix of SciPy, which is faster to write and to read than a list.`,
		Example: `  w2vcl-bench generate --bytes 10GB --out large.txt
  w2vcl-bench generate --bytes 1GB --different 50000000 --out different.txt
  w2vcl-bench generate --nodes 1000000 --edges 5000000 --blocks 50 --labels labels.txt --out graph.txt`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.size, "bytes", "1GB", "`SIZE` of the text")
	flags.Int64Var(&o.text.Different, "different", 0, "`N` different words that come equally often, in place of Zipf's law")
	flags.Int64Var(&o.graph.Nodes, "nodes", 0, "write a graph of `N` nodes")
	flags.Int64Var(&o.graph.Edges, "edges", 0, "`N` edges (default 5 for each node)")
	flags.Int64Var(&o.graph.Blocks, "blocks", 0, "`N` blocks of nodes; 0: R-MAT")
	flags.Float64Var(&o.graph.Mixing, "mixing", 0.2, "`FRACTION` of the edges that lead to other blocks")
	flags.StringVar(&o.labels, "labels", "", "write the block of each node to `FILE`")
	flags.Uint64Var(&o.text.Seed, "seed", 1, "`N` from which all randomness comes")
	flags.StringVar(&o.out, "out", "", "write the text or graph to `FILE`")
	flags.Bool("force", false, "replace FILE if it is a text")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *generateOptions) run(ctx context.Context, s cli.Streams) error {
	switch {
	case o.out == "":
		return terminal.Usagef("--out is missing: name the file to write")
	case o.graph.Nodes != 0:
		return o.writeGraph(ctx, s)
	}
	parsed, err := settings.ParseSize(o.size)
	if err == nil {
		o.text.Bytes, err = parsed.Bytes(0)
	}
	switch {
	case err != nil || o.text.Bytes < 1:
		return terminal.Usagef("--bytes %s: must be a size, as 10GB", o.size)
	case o.text.Different < 0:
		return terminal.Usagef("--different %d: must not be negative", o.text.Different)
	}
	return o.write(ctx, s, o.text.WriteTo, o.text.Bytes, terminal.Bytes(o.text.Bytes))
}

// write writes what write makes of a random text or graph.
func (o *generateOptions) write(ctx context.Context, s cli.Streams,
	write func(ctx context.Context, w io.Writer, threads int, progress func(done, total int64)) error, total int64, amount string) error {
	stage := s.Progress(o.quiet).Stage("writing", total)
	defer stage.Stop()
	if err := atomicfile.Write(o.out, func(w io.Writer) error {
		return write(ctx, w, runtime.GOMAXPROCS(0), func(done, _ int64) { stage.Update(done, nil) })
	}); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	stage.Done("Wrote %s to %s", amount, o.out)
	return nil
}

// writeGraph writes a graph and its labels.
func (o *generateOptions) writeGraph(ctx context.Context, s cli.Streams) error {
	g := &o.graph
	if g.Seed = o.text.Seed; g.Edges == 0 {
		g.Edges = 5 * g.Nodes
	}
	if g.Blocks < 2 {
		g.Mixing = 0
	}
	if err := g.Check(); err != nil {
		return terminal.Usagef("%v", err)
	}
	if o.labels != "" {
		if g.Blocks == 0 {
			return terminal.Usagef("--labels needs --blocks")
		}
		if err := atomicfile.Write(o.labels, g.WriteLabels); err != nil {
			return fmt.Errorf("--labels: %w", err)
		}
	}
	write := g.WriteTo
	if strings.HasSuffix(o.out, ".npz") {
		write = g.WriteArchive
	}
	return o.write(ctx, s, write, g.Edges, terminal.Number(g.Edges)+" edges")
}
