package main

import (
	"context"
	"slices"

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

type command struct {
	name   string
	create func(s cli.Streams) *cobra.Command
}

// commands lists all commands in the order of help. The first firstCommands are those that a newcomer needs.
var commands = []command{
	{"demo", newDemo}, {"plan", newPlan}, {"train", newTrain}, {"resume", newResume}, {"eval", newEval},
	{"neighbors", newNeighbors}, {"map", newMap}, {"convert", newConvert}, {"compare", newCompare},
	{"similarity", newSimilarity}, {"analogy", newAnalogy}, {"vector", newVector}, {"metrics", newMetrics}, {"stability", newStability},
	{"ensemble", newEnsemble}, {"corpus", newCorpus}, {"matrix", newMatrix}, {"phrases", newPhrases}, {"walk", newWalk},
	{"doctor", newDoctor}, {"version", newVersion},
}

const firstCommands = 9

// newRoot returns the program with the command that args begin with. If they begin with another word, as help, it has all
// commands, whose hundreds of flags take several times as long to make.
func newRoot(s cli.Streams, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "w2vcl",
		Short: "Train word vectors in large batches (W2V-CL) or sentence by sentence, score and use them",
		Long: `w2vcl trains word vectors on your text, scores them and answers questions with
them. It trains in large batches (W2V-CL), for a number of iterations that is fixed in
advance, or sentence by sentence, as word2vec does.

New here? Run 'w2vcl demo': half a minute, no files needed.`,
		Example: `  w2vcl demo
  w2vcl train --corpus news.txt.gz --out runs/news
  w2vcl neighbors runs/news economy`,
	}
	root.AddGroup(&cobra.Group{ID: "first", Title: "Commands"})
	alone := slices.ContainsFunc(commands, func(c command) bool { return len(args) > 0 && c.name == args[0] })
	for i, c := range commands {
		if alone && c.name != args[0] {
			continue
		}
		cmd := c.create(s)
		if i < firstCommands {
			cmd.GroupID = "first"
		}
		root.AddCommand(cmd)
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
