package main

import "github.com/spf13/cobra"

func newMatrix(s streams) *cobra.Command {
	return newGroup("matrix", "Build the word-context matrix M as a file, or look into one",
		`The matrix M holds the contexts that W2V-CL trains on, one row for each word.
'w2vcl train' builds it in memory. A file of it serves many runs on the same text:
w2vcl train --matrix FILE.`, "",
		newMatrixBuild(s), newMatrixInfo(s))
}
