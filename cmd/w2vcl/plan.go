package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
)

type planOptions struct {
	settings    settingFlags
	json, quiet bool
}

func newPlan(s streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan --corpus PATH [flags]",
		Short: "Show iterations, memory and time of a training before it",
		Long: `Show what 'w2vcl train' with the same flags will need: iterations, memory by part,
and time, measured on a few iterations of the real size. It reads the text and
builds M for that. It trains no vectors and leaves no files.`,
		Example: `  w2vcl plan --corpus wiki.txt --dim 300
  w2vcl plan --corpus wiki.txt --preset paper --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.addTo(cmd, func(settings.Setting) bool { return true })
	// A plan accepts these flags without using them, so that changing one word
	// turns a train command into a plan.
	for _, name := range []string{"out", "checkpoint", "force", "graph-dot"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	helpOfMode(cmd)
	addJSON(cmd, &o.json, "print the plan as one line of JSON")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

func (o *planOptions) run(ctx context.Context, s streams) error {
	config, err := o.settings.config()
	if err != nil {
		return err
	}
	plan, err := train.MakePlan(ctx, config, s.progress(o.quiet))
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(s.out, plan)
	}
	return plan.Print(s.out)
}
