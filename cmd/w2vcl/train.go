package main

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// trainOptions are the flags of train that are not settings of the run.
type trainOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
	seeds       int
	scores      scoreOptions
}

func newTrain(s cli.Streams) *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:        "train --corpus PATH --out DIR [flags]",
		Short:      "Train vectors on your own text or graph",
		SuggestFor: []string{"skipgram", "cbow", "fasttext", "word2vec", "fit"},
		Long: `Train word vectors on a text and leave a run folder: vectors.bin (to use),
context.bin, vocab.tsv, config.toml (to repeat the run), metrics.jsonl and
summary.json. The folder appears when the run is complete; until then its files are
in DIR.partial. Other commands can read DIR while the run goes on.

Ctrl-C stops the run after the current iteration and saves its vectors (exit code
130); a second Ctrl-C quits at once. A run saves checkpoints, see --checkpoint.
'w2vcl resume DIR' continues a run that was stopped or crashed. The option names of
word2vec (--size, --iter, --alpha, ...) work as well.

This help shows the flags and defaults of mode cl with its default model. 'w2vcl train
--mode NAME --help' shows those of another mode, and 'w2vcl train --model sg --help'
those of skip-gram. 'w2vcl plan' with the same flags shows a run's memory and time.`,
		Example: `  w2vcl train --corpus wiki.txt --out runs/wiki
  w2vcl train --corpus books/ --tokenizer words --lowercase --out runs/books --dim 300
  w2vcl train --graph friends.csv --mode word2vec --out runs/friends
  zcat news.gz | w2vcl train --corpus - --out runs/news --json
  w2vcl train --config runs/wiki/config.toml --seed 2 --out runs/wiki2
  w2vcl train --corpus wiki.txt --seeds 5 --out runs/seeds`,
		Args: cli.OneCorpus,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, func(settings.Setting) bool { return true })
	helpOfMode(cmd)
	cmd.Flags().IntVar(&o.seeds, "seeds", 1, "train `K` runs with --seed and the seeds after it, in DIR/seed1, DIR/seed2 and so on, "+
		"side by side where memory and threads allow, and show how far they agree, as 'w2vcl stability' does")
	cli.Annotate(cmd.Flags().Lookup("seeds"), settings.SectionMachine)
	o.scores.addTo(cmd)
	cli.AddJSON(cmd, &o.json, "end standard output with one line of JSON about the run")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no plan and no progress")
	return cmd
}

func (o *trainOptions) run(ctx context.Context, s cli.Streams) error {
	config, err := settings.Resolve(o.settings.File, o.settings.Set)
	if err != nil {
		return err
	}
	if err := o.checkSeeds(&config); err != nil {
		return err
	}
	progress := s.Progress(o.quiet)
	options, remove, err := o.scores.observe(ctx, config.Graph)
	defer remove()
	if err != nil {
		return err
	}
	if o.seeds > 1 {
		return o.trainSeeds(ctx, s, config, options, progress)
	}
	lead := func(g *cluster.Group) error {
		options.Ranks = g
		summary, err := train.Run(ctx, config, options, progress)
		return trained(s, summary, err, progress, o.json)
	}
	return together(ctx, s, config.Threads, lead, func(ctx context.Context, g *cluster.Group) error {
		return train.Follow(ctx, config, train.Options{Ranks: g})
	})
}

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

func trained(s cli.Streams, summary runfolder.Summary, err error, progress *progress.Progress, asJSON bool) error {
	switch {
	case err == nil:
		progress.Notef("Saved:   %s, after %s in all. Try it:  w2vcl neighbors %s WORD",
			summary.Out, terminal.Duration(summary.SecondsTotal), summary.Out)
	case !errors.Is(err, train.ErrInterrupted) || summary.Out == "": // no new vectors were saved
		return err
	}
	if asJSON {
		if err := cli.WriteJSON(s.Out, summary); err != nil {
			return err
		}
	}
	return err
}

// helpOfMode makes --help show the flags and defaults of the mode on the command line.
func helpOfMode(cmd *cobra.Command) {
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		chosen := map[string]string{"corpus": "-"} // the only setting without a default
		for _, name := range []string{"mode", "preset", "optimizer", "subword", "model"} {
			if text := valueOf(args, "--"+name); text != "" {
				chosen[name] = text
			}
		}
		if c, err := settings.Resolve("", chosen); err == nil { // otherwise it shows the defaults of mode cl
			for _, s := range c.Settings() {
				flag := cmd.Flags().Lookup(s.Name)
				flag.Hidden = flag.Hidden || !s.AppliesWith(c.Mode, c.Model)
			}
			cli.ShowDefaults(cmd, &c)
		}
		cmd.Parent().HelpFunc()(cmd, args)
	})
}

// valueOf returns the last value of a flag on a command line, or "".
func valueOf(args []string, flag string) (value string) {
	for i, arg := range args {
		if text, ok := strings.CutPrefix(arg, flag+"="); ok {
			value = text
		} else if arg == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}
