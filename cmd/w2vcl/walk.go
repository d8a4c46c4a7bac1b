package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/walk"
)

type walkOptions struct {
	out        string
	read       walk.ReadOptions
	walk       walk.Options
	holdout    float64
	holdoutOut string
	restOut    string
	quiet      bool
}

func newWalk(s cli.Streams) *cobra.Command {
	var o walkOptions
	cmd := &cobra.Command{
		Use:   "walk GRAPH [flags]",
		Short: "Write random walks over a graph as a text, or hold out edges",
		Long: `Write random walks over a graph as a text, one walk a line (node2vec; DeepWalk if
p = q = 1). 'w2vcl train --graph GRAPH' trains on the same walks without the text.

With --holdout, edges are taken out of the graph so that predictions of them can be
scored ('w2vcl eval --task links'). Nodes that were connected stay connected.

GRAPH is a list of edges, perhaps compressed: two nodes a line, with an optional weight,
separated in all lines by spaces, tabs, commas or semicolons; '#' and '%' begin
comments; - is standard input. The walks are the same for any number of threads.`,
		Example: `  w2vcl walk blogcatalog.txt --p 0.25 --q 0.25 --out walks.txt

  w2vcl walk friends.csv --holdout 0.5 --holdout-out links.txt --rest-out rest.txt
  w2vcl train --graph rest.txt --out runs/friends
  w2vcl eval runs/friends --task links --data links.txt`,
		Args: cli.Exactly("GRAPH"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "", "write the walks to `FILE`; - is standard output")
	flags.IntVar(&o.walk.Walks, "walks", 10, "`N` walks from each node")
	flags.IntVar(&o.walk.Length, "length", 80, "`N` nodes in a walk")
	flags.Float64Var(&o.walk.P, "p", 1, "return parameter `P`: a small P often makes walks go straight back")
	flags.Float64Var(&o.walk.Q, "q", 1, "in-out parameter `Q`: a small Q makes walks lead far away")
	flags.BoolVar(&o.read.Directed, "directed", false, "edges lead from the first node to the second only")
	flags.BoolVar(&o.read.Weighted, "weighted", false, "the third column holds weights of the edges")
	flags.Float64Var(&o.holdout, "holdout", 0, "hold this `FRACTION` of the edges out of the walks, to predict them")
	flags.StringVar(&o.holdoutOut, "holdout-out", "", "write these edges, and as many pairs without an edge, to `FILE`")
	flags.StringVar(&o.restOut, "rest-out", "", "write the other edges to `FILE`, as a list of edges for 'w2vcl train --graph'")
	flags.Uint64Var(&o.walk.Seed, "seed", 1, "`N` from which all randomness comes")
	flags.IntVar(&o.walk.Threads, "threads", 0, "`N` threads; 0: one for each processor")
	flags.Bool("force", false, "replace files that exist")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	cli.UseAliases(flags, map[string]string{"num-walks": "walks", "walk-length": "length", "workers": "threads"})
	return cmd
}

func (o *walkOptions) check() error {
	switch {
	case o.out == "" && o.restOut == "":
		return terminal.Usagef("--out is missing: name the file to write the walks to")
	case o.holdout != 0 && !(o.holdout > 0 && o.holdout < 1):
		return terminal.Usagef("--holdout %g: must be between 0 and 1", o.holdout)
	case (o.holdout != 0) != (o.holdoutOut != ""):
		return terminal.Usagef("--holdout and --holdout-out belong together")
	case o.restOut != "" && o.holdout == 0:
		return terminal.Usagef("--rest-out needs --holdout")
	}
	if err := o.walk.Check(); err != nil {
		return terminal.Usagef("--%v", err)
	}
	return nil
}

func (o *walkOptions) run(ctx context.Context, s cli.Streams, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	p := s.Progress(o.quiet)
	o.read.Threads = o.walk.Threads
	g, notes, err := walk.Read(ctx, path, o.read)
	if err != nil {
		return err
	}
	for _, note := range notes {
		s.Notef("%s: %s", path, note)
	}
	p.Notef("Graph: %s nodes, %s edges, read from %s", terminal.Number(len(g.Names)), terminal.Number(g.Edges()), g.Layout)
	whole, pairs := g, []walk.Pair(nil)
	if o.holdout > 0 {
		if g, pairs, err = g.HoldOut(ctx, o.holdout, o.walk.Seed); err != nil {
			return err
		}
	}
	if note := g.NoteDeadEnds(); note != "" {
		s.Notef("Note: %s", note)
	}
	var files []atomicfile.File
	if o.out != "" {
		files = append(files, atomicfile.File{Path: o.out, Write: func(w io.Writer) error { return o.write(ctx, w, g, p) }})
	}
	if o.restOut != "" {
		files = append(files, atomicfile.File{Path: o.restOut, Write: g.WriteEdges})
	}
	if o.holdout > 0 {
		files = append(files, atomicfile.File{Path: o.holdoutOut, Write: func(w io.Writer) error { return whole.WritePairs(w, pairs) }})
	}
	err = atomicfile.WriteAll(files...)
	if errors.Is(err, memory.ErrRoom) { // which has nothing to do with a file
		return errors.Unwrap(err)
	}
	if err == nil && o.holdout > 0 {
		p.Notef("Held out: %s edges, written to %s with as many pairs without an edge",
			terminal.Number(len(pairs)/2), o.holdoutOut)
	}
	return err
}

// write draws and writes the walks.
func (o *walkOptions) write(ctx context.Context, w io.Writer, g *walk.Graph, p *progress.Progress) error {
	start := time.Now()
	total := 0
	stage := p.Stage("Walking", int64(len(g.Names)*o.walk.Walks)) // at most
	defer stage.Stop()
	o.walk.Progress = func(written, all int) {
		total = all
		stage.Update(int64(written), nil)
	}
	if err := g.WriteWalks(ctx, w, o.walk); err != nil {
		return err
	}
	stage.Done("Walks: %s of at most %d nodes, written to %s in %s",
		terminal.Number(total), o.walk.Length, o.out, terminal.Duration(time.Since(start).Seconds()))
	return nil
}
