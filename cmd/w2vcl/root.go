package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal/early"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// savingCommands are those that save something when they are interrupted.
var savingCommands = []string{"train", "resume", "demo", "compare"}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s cli.Streams) int {
	return cli.Run(ctx, cli.Program{
		Root:   newRoot(s, args...),
		Saving: savingCommands,
		Silent: cluster.Launched().Rank > 0,
		Early:  early.Signals,
	}, args, s)
}

// commands are the commands in the order of help.
var commands = []struct {
	name   string
	create func(s cli.Streams) *cobra.Command
}{
	{"demo", newDemo}, {"train", newTrain}, {"resume", newResume}, {"plan", newPlan}, {"corpus", newCorpus}, {"matrix", newMatrix},
	{"phrases", newPhrases}, {"walk", newWalk}, {"eval", newEval}, {"stability", newStability}, {"ensemble", newEnsemble},
	{"compare", newCompare}, {"metrics", newMetrics}, {"map", newMap}, {"neighbors", newNeighbors},
	{"similarity", newSimilarity}, {"analogy", newAnalogy}, {"vector", newVector}, {"convert", newConvert}, {"doctor", newDoctor}, {"version", newVersion},
}

// newRoot returns the program with the command that args begin with. If they begin with another word, as help, it has all
// commands, whose hundreds of flags take several times as long to make.
func newRoot(s cli.Streams, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "w2vcl",
		Short: "Train word vectors in large batches (W2V-CL) or sentence by sentence, score and use them",
		Long: `w2vcl trains word vectors in large batches (W2V-CL): the number of iterations is
known beforehand, and the result is the same for any number of threads. It also
trains sentence by sentence, with other algorithms (see --mode in 'w2vcl train
--help'). It scores vectors and answers questions with them. It reads and writes
the formats of word2vec (text and binary), fastText (.vec and .bin), GloVe, NumPy,
safetensors and TensorBoard's projector.

New here? Run 'w2vcl demo': one minute, no files needed.`,
		Example: `  w2vcl demo
  w2vcl train --corpus news.txt.gz --out runs/news
  w2vcl neighbors runs/news economy`,
	}
	for _, c := range commands {
		if len(args) > 0 && c.name == args[0] {
			root.AddCommand(c.create(s))
		}
	}
	if !root.HasSubCommands() {
		for _, c := range commands {
			root.AddCommand(c.create(s))
		}
	}
	cli.SetUp(root, s, mainFlags, commandFiles)
	return root
}

// mainFlags are the flags that the short help (-h) of these commands shows.
var mainFlags = map[string][]string{
	"compare": {
		"corpus", "out", "modes", "data", "budget", "seeds", "variant", "tokenizer", "lowercase", "min-count", "dim", "window", "threads",
	},
}
