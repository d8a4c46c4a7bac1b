package main

import (
	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

func newMatrix(s cli.Streams) *cobra.Command {
	return cli.NewGroup("matrix", "Build the word-context matrix M as a file, or show what a file holds",
		`The matrix M holds the contexts that W2V-CL trains on, one row for each word.
'w2vcl train' builds M in memory. A file of M serves many runs on the same text:
w2vcl train --model sg --matrix FILE.`,
		newMatrixBuild(s), newMatrixInfo(s))
}
