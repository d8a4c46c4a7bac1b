package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal/early"
)

// savingCommands are those that save something when they are interrupted.
var savingCommands = []string{"train", "resume", "demo", "compare"}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s cli.Streams) int {
	launch, _ := launched()
	return cli.Run(ctx, cli.Program{Root: newRoot(s), Saving: savingCommands, Silent: launch.Rank > 0, Early: early.Signals}, args, s)
}

func newRoot(s cli.Streams) *cobra.Command {
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
	root.AddCommand(
		newDemo(s), newTrain(s), newResume(s), newPlan(s), newCorpus(s), newMatrix(s), newPhrases(s), newWalk(s),
		newEval(s), newStability(s), newEnsemble(s), newCompare(s), newWatch(s), newMetrics(s), newMap(s), newNeighbors(s), newSimilarity(s), newAnalogy(s), newVector(s), newConvert(s),
		newDoctor(s), newVersion(s), newMan(s),
	)
	cli.SetUp(root, s, mainFlags, commandFiles)
	return root
}

// mainFlags are the flags that the short help (-h) of these commands shows.
var mainFlags = map[string][]string{
	"compare": {
		"corpus", "out", "modes", "data", "budget", "seeds", "set", "tokenizer", "lowercase", "min-count", "dim", "window", "threads",
	},
	"eval": {"data", "task", "all", "against", "oov", "json"},
}
