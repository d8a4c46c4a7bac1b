// Command w2vcl-bench is for those who develop w2vcl. It measures a training step beside the
// speed of memory (step.go), and writes random texts and graphs of any size (generate.go).
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
		Short: "Measure how fast w2vcl trains on this machine",
		Long: `w2vcl-bench measures a training step beside the speed of memory, and writes random
texts and graphs of any size. Everything random depends on --seed only.

Other programs at work spoil every number: measure on an idle machine. 'make
bench-compare' compares two versions of the code, see CONTRIBUTING.md.`,
		Example: `  w2vcl-bench step --words 18498,200000 --dim 100,500 --threads 1,2,4`,
	}
	root.AddCommand(newStep(s), newGenerate(s))
	cli.SetUp(root, s, nil, commandFiles)
	return root
}

// commandFiles are the files that commands read and write, by command.
var commandFiles = map[string]func(v cli.FileValues) []cli.File{
	"generate": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Write("out", cli.FileOutput, cli.TextKind), v.Write("labels", cli.FileOutput, cli.TextKind)}
	},
}
