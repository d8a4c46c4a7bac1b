package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

// scoreOptions are the flags for scores during training. They do not change the vectors.
type scoreOptions struct {
	count int
	data  string
}

func (o *scoreOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&o.count, "scores", 0,
		"score the vectors `N` times during training, at equal steps; 'w2vcl metrics' has the scores, too")
	flags.StringVar(&o.data, "data", "",
		"`DIR` with the sets for --scores, or one file (default: the sets that come with w2vcl)")
	cli.Annotate(flags.Lookup("scores"), settings.SectionTrain)
	cli.Annotate(flags.Lookup("data"), settings.SectionTrain)
}

// observe returns options with which training scores its vectors. The caller calls remove in the end, also after an error.
func (o *scoreOptions) observe(ctx context.Context, graph string) (options train.Options, remove func(), err error) {
	remove = func() {}
	switch {
	case o.count == 0 && o.data == "":
	case o.count == 0:
		err = terminal.Usagef("--data %s: needs --scores N", o.data)
	case o.count < 0 || o.count > 1000:
		err = terminal.Usagef("--scores %d: must be from 1 to 1000", o.count)
	case graph != "":
		err = terminal.Usagef("--scores %d: there are no sets for a graph's nodes; use 'w2vcl eval --task nodes'", o.count)
	default:
		err = alone("train --scores")
	}
	if o.count == 0 || err != nil {
		return options, remove, err
	}
	data, removeData, err := cli.EvalData(o.data)
	if err != nil {
		return options, remove, err
	}
	sets, err := words.ReadSets(ctx, data, "")
	options.Observations = o.count
	options.Observe = func(seen train.Observation) error {
		vectors, err := seen.Vectors()
		if err != nil {
			return err
		}
		how := words.Options{Sets: sets, Methods: []words.Method{words.CosAdd}}
		results, _, err := words.Score(ctx, vectors, data, how)
		if errors.Is(err, context.Canceled) {
			return nil // the run stops and saves
		}
		if err != nil {
			return err
		}
		var scores []string
		for _, r := range results {
			if words.IsMain(r) && r.Score.Valid() {
				seen.Scores[r.Dataset] = float64(r.Score)
				scores = append(scores, r.Dataset+" "+r.Score.String())
			}
		}
		if scores == nil {
			scores = []string{"none, because the vocabulary has too few words of the sets"}
		}
		seen.Progress.Notef("Scores:  after %.0f%%: %s", 100*seen.Fraction, strings.Join(scores, ", "))
		return nil
	}
	return options, removeData, err
}
