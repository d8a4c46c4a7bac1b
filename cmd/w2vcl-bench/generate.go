package main

import (
	"context"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

type generateOptions struct {
	text   generatedText
	graph  generatedGraph
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
block model, whose blocks are the labels of the nodes.`,
		Example: `  w2vcl-bench generate --bytes 10GB --out large.txt
  w2vcl-bench generate --nodes 1000000 --edges 5000000 --blocks 50 --labels labels.txt --out graph.txt`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.size, "bytes", "1GB", "`SIZE` of the text")
	flags.Int64Var(&o.graph.nodes, "nodes", 0, "write a graph of `N` nodes")
	flags.Int64Var(&o.graph.edges, "edges", 0, "`N` edges (default 5 for each node)")
	flags.Int64Var(&o.graph.blocks, "blocks", 0, "`N` blocks of nodes; 0: R-MAT")
	flags.StringVar(&o.labels, "labels", "", "write the block of each node to `FILE`")
	flags.Uint64Var(&o.text.seed, "seed", 1, "`N` from which all randomness comes")
	flags.StringVar(&o.out, "out", "", "write the text or graph to `FILE`")
	flags.Bool("force", false, "replace FILE if it is a text")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *generateOptions) run(ctx context.Context, s cli.Streams) error {
	switch {
	case o.out == "":
		return terminal.Usagef("--out is missing: name the file to write")
	case o.graph.nodes != 0:
		return o.writeGraph(ctx, s)
	}
	parsed, err := settings.ParseSize(o.size)
	if err == nil {
		o.text.bytes, err = parsed.Bytes(0)
	}
	if err != nil || o.text.bytes < 1 {
		return terminal.Usagef("--bytes %s: must be a size, as 10GB", o.size)
	}
	return o.write(ctx, s, o.text.write, o.text.bytes, terminal.Bytes(o.text.bytes))
}

// write writes a random text or graph that write makes, and the files that belong to it.
func (o *generateOptions) write(ctx context.Context, s cli.Streams,
	write func(ctx context.Context, w io.Writer, threads int, progress func(done, total int64)) error, total int64, amount string, with ...atomicfile.File) error {
	stage := s.Progress(o.quiet).Stage("writing", total)
	defer stage.Stop()
	if err := atomicfile.WriteAll(append(with, atomicfile.File{Path: o.out, Write: func(w io.Writer) error {
		return write(ctx, w, runtime.GOMAXPROCS(0), func(done, _ int64) { stage.Update(done, nil) })
	}})...); err != nil {
		return err
	}
	stage.Done("Wrote %s to %s", amount, o.out)
	return nil
}

// writeGraph writes a graph and its labels.
func (o *generateOptions) writeGraph(ctx context.Context, s cli.Streams) error {
	g := &o.graph
	if g.seed = o.text.seed; g.edges == 0 {
		g.edges = 5 * g.nodes
	}
	if err := g.check(); err != nil {
		return terminal.Usagef("%v", err)
	}
	var labels []atomicfile.File
	if o.labels != "" {
		if g.blocks == 0 {
			return terminal.Usagef("--labels needs --blocks")
		}
		labels = append(labels, atomicfile.File{Path: o.labels, Write: g.writeLabels})
	}
	return o.write(ctx, s, g.write, g.edges, terminal.Number(g.edges)+" edges", labels...)
}
