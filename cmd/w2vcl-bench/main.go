// Command w2vcl-bench measures how fast w2vcl works on this machine. It is for those who
// develop w2vcl, and for papers.
//
// Each command has a file with its name. report.go has what all results begin with; package
// bench measures.
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

// savingCommands print what they have measured when they are interrupted.
var savingCommands = []string{"step", "device", "matrix", "corpus", "eval", "profile"}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s cli.Streams) int {
	return cli.Run(ctx, cli.Program{Root: newRoot(s), Saving: savingCommands, Early: early.Signals}, args, s)
}

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "w2vcl-bench",
		Short: "Measure how fast w2vcl works on this machine",
		Long: `w2vcl-bench measures training steps on the CPU or a GPU, the matrix M, reading
text, or evaluation. Every result begins with the machine it was measured on, and
has the median and the spread of its repetitions. The inputs depend on --seed only.

Other programs at work spoil every number: measure on an idle machine. 'make
bench-compare' compares two versions of the code, see CONTRIBUTING.md.`,
		Example: `  w2vcl-bench step
  w2vcl-bench step --words 18498,200000 --dim 100,500 --threads 1,2,4 --json > step.json`,
	}
	root.AddCommand(newStep(s), newProfile(s), newDevice(s), newMatrix(s), newCorpus(s), newEval(s), newGenerate(s))
	cli.SetUp(root, s, nil, commandFiles)
	return root
}

// commandFiles are the files that commands read and write, by command.
var commandFiles = map[string]func(v cli.FileValues) []cli.File{
	"matrix": textInputs,
	"corpus": textInputs,
	"eval": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Read("vectors", cli.FileInput), v.Read("data", cli.FileInput)}
	},
	"generate": func(v cli.FileValues) []cli.File {
		return []cli.File{v.Write("out", cli.FileOutput, cli.TextKind), v.Write("labels", cli.FileOutput, cli.TextKind)}
	},
}

func textInputs(v cli.FileValues) []cli.File {
	text := v.Read("corpus", cli.FileText)
	text.Again = true
	return []cli.File{text, v.Read("cache", cli.FileFolder), v.Read("config", cli.FileMapped)}
}
