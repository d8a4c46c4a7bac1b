// Command w2vcl trains word vectors with W2V-CL and its relatives, scores them
// and answers questions with them.
//
// It is a thin shell around the rooms train, embedding and evaluate: one file
// for each command, no training logic. Start reading at root.go; flags.go
// turns train's table of settings into flags.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}
