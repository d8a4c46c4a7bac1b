package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

type resumeOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
	scores      scoreOptions
}

func newResume(s cli.Streams) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:        "resume DIR [flags]",
		Short:      "Continue a training that was interrupted or killed",
		SuggestFor: []string{"continue"},
		Long: `Continue the run of DIR, the folder given to train, from its last checkpoint. A run
that was stopped before its first checkpoint starts over. The result has the same bits
as without a stop; on another --device it is the same up to rounding. A complete run
stays as it is (exit code 0), so resume can be repeated until it succeeds; --epochs,
--iterations and --budget extend one that was trained with --checkpoint keep.

Settings come from the run folder. The text and the settings must be the same as
when the run began; only the flags below may change.`,
		Example: `  w2vcl resume runs/wiki
  w2vcl resume runs/wiki --threads 16 --checkpoint 1h
  until w2vcl resume runs/wiki; do sleep 60; done`,
		Args: cli.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.settings.AddSettings(cmd, func(setting settings.Setting) bool { return setting.Resume })
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flag.DefValue = "" }) // the run has its own
	for name, usage := range map[string]string{
		"corpus":     "the text is now at `PATH`",
		"graph":      "the graph is now at `PATH`",
		"iterations": "train `N` iterations in all, at the learning rates of a run of N from here on",
		"epochs":     "train `N` epochs in all, at the learning rates of a run of N from here on",
		"budget":     "train for a `BUDGET` in all, at the learning rates of such a run from here on",
		"force":      "replace a --matrix file that does not fit",
		"lr":         "learning rate `X` at the start of a decay: lower it after training diverged",
		"lr-end":     "learning rate `X` at the end of a linear decay",
	} {
		cmd.Flags().Lookup(name).Usage = usage
	}
	o.scores.addTo(cmd)
	cli.AddJSON(cmd, &o.json, "end standard output with one line of JSON about the run")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no plan and no progress")
	return cmd
}

func (o *resumeOptions) run(ctx context.Context, s cli.Streams, dir string) error {
	progress := s.Progress(o.quiet)
	options, remove, err := o.scores.observe(ctx, "")
	defer remove()
	if err != nil {
		return err
	}
	lead := func(g *cluster.Group) error { return o.lead(ctx, s, dir, g, options, progress) }
	return together(ctx, s, 0, lead, func(ctx context.Context, g *cluster.Group) error {
		config, err := train.Receive(g)
		if err != nil {
			return err
		}
		if threads := o.settings.Set["threads"]; threads != "" {
			config.Threads, _ = strconv.Atoi(threads) // rank 0 has checked it
		}
		return train.Follow(ctx, config, train.Options{Ranks: g})
	})
}

func (o *resumeOptions) lead(
	ctx context.Context, s cli.Streams, dir string, g *cluster.Group, options train.Options, progress *progress.Progress,
) error {
	summary, err := train.Resume(ctx, g, dir, o.settings.Set, func(corpus string) train.Options {
		options.Source = builtinText(corpus).Source
		return options
	}, progress)
	if errors.Is(err, train.ErrComplete) {
		progress.Notef("%s is complete: there is nothing left to train", dir)
		if o.json {
			return cli.WriteJSON(s.Out, summary)
		}
		return nil
	}
	return trained(s, summary, err, progress, o.json)
}
