package main

import (
	"context"
	"math"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// checkSeeds refuses several seeds where runs would get into each other's way.
func (o *trainOptions) checkSeeds(config *settings.Config) error {
	switch {
	case o.seeds < 1 || o.seeds > 1000:
		return terminal.Usagef("--seeds %d: must be from 1 to 1000", o.seeds)
	case o.seeds == 1:
		return nil
	case config.Out == "":
		return terminal.Usagef("--seeds %d needs --out DIR, which will hold the runs", o.seeds)
	case config.Seed > math.MaxInt64-uint64(o.seeds):
		return terminal.Usagef("--seed %d: too large for %d seeds from there on", config.Seed, o.seeds)
	case config.Matrix != "":
		return terminal.Usagef("--matrix %s: M follows from the seed, so runs of --seeds %d have one each; leave it out", config.Matrix, o.seeds)
	case config.GraphDOT != "":
		return terminal.Usagef("--graph-dot %s: leave it out with --seeds %d", config.GraphDOT, o.seeds)
	case config.Graph == "-":
		return terminal.Usagef("--graph -: with --seeds %d it is read several times, so name a file", o.seeds)
	}
	return alone("train --seeds")
}

// trainSeeds trains runs that differ in their seeds, and shows how far they agree. They share a text; walks over a graph
// follow from the seed.
func (o *trainOptions) trainSeeds(ctx context.Context, s cli.Streams, config settings.Config, options train.Options, p *progress.Progress) error {
	if config.Graph == "" {
		text, err := train.ReadText(ctx, config, nil, p)
		if err != nil {
			return err
		}
		defer func() { _ = text.Close() }() // it was only read
		options.Text = text
	}
	var runs []string
	err := train.RunSeeds(ctx, config, o.seeds, options, p, func(summary runfolder.Summary, err error) error {
		runs = append(runs, summary.Out)
		return trained(s, summary, err, p, o.json)
	})
	if err != nil {
		return err
	}
	return (&stabilityOptions{json: o.json}).run(ctx, s, runs)
}
