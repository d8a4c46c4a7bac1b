package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/ranks"
	"github.com/w2vcl/w2vcl/train/settings"
)

type planOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
	network     ranks.Network
}

// A planOfHosts is a plan with what several hosts would make of it.
type planOfHosts struct {
	train.Plan
	Hosts ranks.Forecast `json:"hosts"`
}

func newPlan(s cli.Streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan --corpus PATH [flags]",
		Short: "Show the iterations, memory and time that a training will take",
		Long: `Show what 'w2vcl train' with the same flags will need: iterations, memory by part,
and time, measured on a few iterations of the real size. To measure, plan reads the
text and builds M. It trains no vectors and leaves no files. With --hosts it also
predicts the run on several hosts like this one, by a model of their network.`,
		Example: `  w2vcl plan --corpus wiki.txt --dim 300
  w2vcl plan --corpus wiki.txt --preset paper --json
  w2vcl plan --corpus wiki.txt --hosts 4 --network 100`,
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
	cmd.Flags().IntVar(&o.network.Hosts, "hosts", 0, "also plan for `N` hosts, one rank each, with MPI")
	cmd.Flags().Float64Var(&o.network.Gigabits, "network", 10,
		"speed of the network: a host sends `X` gigabits a second (with --hosts)")
	return cmd
}

func (o *planOptions) run(ctx context.Context, s cli.Streams) error {
	config, err := o.settings.Config()
	if err != nil {
		return err
	}
	if o.network.Hosts != 0 { // before the text is read in vain
		if _, err := ranks.Predict(&config, o.network, ranks.Measured{Words: 2, Units: 1, Tokens: 1}); err != nil {
			return err
		}
	}
	plan, err := train.MakePlan(ctx, config, s.Progress(o.quiet))
	if err != nil {
		return err
	}
	if o.network.Hosts != 0 {
		return o.onHosts(s, &config, plan)
	}
	if o.json {
		return cli.WriteJSON(s.Out, plan)
	}
	return plan.Print(s.Out)
}

// onHosts prints a plan with what several hosts would make of it.
func (o *planOptions) onHosts(s cli.Streams, c *settings.Config, p train.Plan) error {
	m := ranks.Measured{
		Words: p.Vocab, Tokens: p.TrainWords, Units: p.Iterations, Seconds: p.SecondsPerIteration, Text: p.Memory.Corpus, Matrix: p.Memory.Matrix,
		Places:   p.PairsPerIteration / float64(2*(1+p.Negative)),
		Training: p.Memory.Tables + p.Memory.Moments + p.Memory.Work, Moments: p.Memory.Moments,
	}
	if p.Samples != nil {
		m.Samples = p.Samples.Mean
	}
	forecast, err := ranks.Predict(c, o.network, m)
	if err != nil {
		return err
	}
	if o.json {
		return cli.WriteJSON(s.Out, planOfHosts{p, forecast})
	}
	if err := p.Print(s.Out); err != nil {
		return err
	}
	return forecast.Print(s.Out)
}
