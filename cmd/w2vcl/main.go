// Command w2vcl trains word vectors with W2V-CL and its relatives, scores them
// and answers questions with them.
//
// Start at root.go, which has the table of commands. Each command has a file with its name.
// Package cmd/internal/cli runs them: it has exit codes, help, and flags that it makes from
// the table of package settings.
package main

import (
	"context"
	"os"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
