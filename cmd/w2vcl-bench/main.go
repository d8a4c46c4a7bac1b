// Command w2vcl-bench is for those who develop w2vcl: it writes random texts and graphs of any size.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal/early"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s cli.Streams) int {
	return cli.Run(ctx, cli.Program{Root: newRoot(s), Early: early.Signals}, args, s)
}

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "w2vcl-bench",
		Short: "Write random texts and graphs of any size, for measurements",
		Long: `w2vcl-bench writes random texts and graphs of any size, for measurements of w2vcl.
Everything random depends on --seed only.

'make bench-compare' compares two versions of the code, see CONTRIBUTING.md.`,
		Example: `  w2vcl-bench generate --bytes 10GB --out large.txt`,
	}
	root.AddCommand(newGenerate(s))
	cli.SetUp(root, s, nil, commandFiles)
	return root
}

// commandFiles are the files that commands read and write, by command.
var commandFiles = map[string]func(v cli.FileValues) []cli.File{
	"generate": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Write("out", cli.FileOutput, cli.TextKind), v.Write("labels", cli.FileOutput, cli.TextKind)}
	},
}
