package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/ranks"
)

// trainOptions are the flags of train that are not settings of the run.
type trainOptions struct {
	settings    settingFlags
	json, quiet bool
}

func newTrain(s streams) *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train --corpus PATH --out DIR [flags]",
		Short: "Train vectors on your own text",
		Long: `Train word vectors on a text and leave a run folder: vectors.bin (to use),
context.bin, vocab.tsv, config.toml (to repeat the run), metrics.jsonl and
summary.json. The folder appears when the run is complete; until then its files are
in DIR.partial. Other commands can read DIR while the run is going.

Ctrl-C stops after the current iteration and saves the vectors until then (exit
code 130); a second Ctrl-C quits at once. A run saves checkpoints, see --checkpoint.
'w2vcl resume DIR' continues a run that was stopped, also by a crash. Names of
word2vec's options (--size, --iter, --alpha, ...) are understood, too.

The flags and defaults below are those of mode cl; 'w2vcl train --mode NAME --help'
shows those of another mode. 'w2vcl plan' with the same flags shows the memory and
the time of a run.`,
		Example: `  w2vcl train --corpus wiki.txt --out runs/wiki
  w2vcl train --corpus books/ --tokenizer words --lowercase --out runs/books --dim 300
  zcat news.gz | w2vcl train --corpus - --out runs/news --json
  w2vcl train --config runs/wiki/config.toml --seed 2 --out runs/wiki2`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.addTo(cmd, func(settings.Setting) bool { return true })
	helpOfMode(cmd)
	addJSON(cmd, &o.json, "end standard output with one line of JSON about the run")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no plan and no progress")
	return cmd
}

func (o *trainOptions) run(ctx context.Context, s streams) error {
	config, err := o.settings.config()
	if err != nil {
		return err
	}
	lead := func(g *ranks.Group) error {
		progress := s.progress(o.quiet)
		summary, err := train.Run(ctx, config, train.Options{Ranks: g}, progress)
		return s.trained(summary, err, progress, o.json)
	}
	return s.together(ctx, config.Threads, lead, func(ctx context.Context, g *ranks.Group) error {
		return train.Follow(ctx, config, train.Options{Ranks: g})
	})
}

// trained reports the end of a training.
func (s streams) trained(summary runfolder.Summary, err error, progress *progress.Progress, asJSON bool) error {
	switch {
	case err == nil:
		progress.Notef("Saved:   %s, after %s in all. Try it:  w2vcl neighbors %s WORD", summary.Out, terminal.Duration(summary.SecondsTotal), summary.Out)
	case !errors.Is(err, train.ErrInterrupted) || summary.Out == "": // no new vectors were saved
		return err
	}
	if asJSON {
		if err := writeJSON(s.out, summary); err != nil {
			return err
		}
	}
	return err
}
