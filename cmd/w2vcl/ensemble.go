package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/seeds"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type ensembleOptions struct {
	out   string
	dim   int
	force bool
}

func newEnsemble(s cli.Streams) *cobra.Command {
	var o ensembleOptions
	cmd := &cobra.Command{
		Use:   "ensemble RUN... --out DIR [flags]",
		Short: "Join the vectors of runs with different seeds",
		Long: `Join the vectors of two or more runs that differ only in --seed. The result depends less
on the seeds than a run does, and scores higher on average; 'w2vcl stability' shows how far
runs agree. A RUN is a run folder or a file of vectors.

The vectors of the runs are scaled to length 1 and put side by side. A singular value
decomposition of these rows follows; its values are taken to the power .8. Four runs of 100
dimensions give 400; --dim N keeps the first N dimensions and part of the gain. Words that a
run lacks are left out. DIR/vectors.bin holds the result; other commands read DIR.`,
		Example: `  w2vcl ensemble runs/seed1 runs/seed2 runs/seed3 --out runs/ensemble
  w2vcl ensemble runs/seed* --out runs/small --dim 100
  w2vcl eval runs/ensemble --against runs/seed1`,
		Args: severalRuns,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	cmd.Flags().StringVar(&o.out, "out", "", "`DIR` for the vectors")
	cmd.Flags().IntVar(&o.dim, "dim", 0, "reduce the vectors to `N` dimensions (default: those of all runs)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the vectors of an ensemble in DIR")
	return cmd
}

func (o *ensembleOptions) run(ctx context.Context, s cli.Streams, paths []string) error {
	if o.out == "" {
		return terminal.Usagef("--out is missing: name a folder for the vectors")
	}
	if o.dim < 0 {
		return terminal.Usagef("--dim %d: must be 1 or more", o.dim)
	}
	file := filepath.Join(o.out, runfolder.VectorsFile)
	if _, err := os.Stat(file); !o.force && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out %s holds vectors: choose another name, or replace them with --force", o.out)
	}
	tables, err := loadRuns(ctx, s, paths)
	if err != nil {
		return err
	}
	joined, err := seeds.Ensemble(ctx, tables, o.dim)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("cannot make --out %s: %w", o.out, cli.Cause(err))
	}
	if err := embedding.Save(file, joined, embedding.Word2VecBinary); err != nil {
		return err
	}
	if n := tables[0].Len() - joined.Len(); n > 0 {
		s.Notef("Note: %s of %s are not in all runs and are left out", terminal.Quantity(terminal.Number(n), "word"), paths[0])
	}
	s.Notef("Wrote the vectors of %d runs, %s words of dimension %d, to %s", len(tables), terminal.Number(joined.Len()), joined.Dim, o.out)
	return nil
}
