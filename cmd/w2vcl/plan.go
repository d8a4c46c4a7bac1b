package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/settings"
)

type planOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
}

func newPlan(s cli.Streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan --corpus PATH [flags]",
		Short: "Show the iterations, memory and time that a training will take",
		Long: `Show what 'w2vcl train' with the same flags will need: iterations, memory by part,
and time, measured on a few iterations of the real size. To measure, plan reads the
text and builds M. It trains no vectors and leaves no files.`,
		Example: `  w2vcl plan --corpus wiki.txt --dim 300
  w2vcl plan --corpus wiki.txt --preset paper --json`,
		Args: cli.OneCorpus,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, func(settings.Setting) bool { return true })
	// A plan accepts these flags without using them, so that changing one word
	// turns a train command into a plan.
	for _, name := range []string{"out", "checkpoint", "force", "graph-dot"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	helpOfMode(cmd)
	cli.AddJSON(cmd, &o.json, "print the plan as one line of JSON")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *planOptions) run(ctx context.Context, s cli.Streams) error {
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	plan, err := train.MakePlan(ctx, config, train.Options{}, s.Progress(o.quiet))
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, plan)
	}
	return plan.Print(s.Out)
}
