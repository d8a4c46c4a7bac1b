// Command w2vcl trains word vectors with W2V-CL and its relatives, scores them
// and answers questions with them.
//
// Start at root.go, which has the table of commands, exit codes and help. Each command
// has a file with its name. flags.go makes flags from the table of package settings;
// streams.go and output.go read and write for all commands.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}
