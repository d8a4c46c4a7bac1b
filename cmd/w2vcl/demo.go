package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// demoWords are words whose neighbours show whether training worked. The text is 230
// years of American politics.
var demoWords = []string{"war", "economy", "railroad", "women", "schools", "tax"}

// demoInventions are words that the text does not have but might.
var demoInventions = []string{"railroadless", "taxability", "overschooled", "unwarlike", "economicality", "womanfolk"}

const demoNeighbors = 5

type demoOptions struct {
	settings    cli.SettingFlags
	json, quiet bool
}

// demoResult is the line of demo --json.
type demoResult struct {
	runfolder.Summary
	Eval      []evaluate.Result `json:"eval"`
	Neighbors []wordNeighbors   `json:"neighbors"`
}

func newDemo(s cli.Streams) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Train on the text that comes with w2vcl; show scores and neighbours",
		Long: `Train vectors with W2V-CL on the State of the Union addresses of 1790 to 2021,
which come with w2vcl, score the vectors, and show neighbours of a few words, among
them words that the text does not have. It takes less than half a minute and leaves no files unless
--out names a folder.`,
		Example: `  w2vcl demo
  w2vcl demo --subword none
  w2vcl demo --out runs/demo`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	o.settings.AddTo(cmd, func(setting settings.Setting) bool {
		switch setting.Name {
		case "out", "force", "dim", "iterations", "subword", "seed", "threads":
			return true
		default:
			return false
		}
	})
	cmd.Flags().Lookup("config").Hidden = true
	cmd.Flags().Lookup("out").Usage = "keep the run folder as `DIR` (default: it is removed)"
	cli.AddJSON(cmd, &o.json, "end standard output with one line of JSON")
	cmd.Flags().BoolVar(&o.quiet, "quiet", false, "print no plan and no progress")
	return cmd
}

func (o *demoOptions) run(ctx context.Context, s cli.Streams) error {
	config, remove, err := o.config()
	if err != nil {
		return err
	}
	defer remove()
	progress := s.Progress(o.quiet)
	progress.Notef("Training on the State of the Union addresses, 1790 to 2021.")
	summary, err := train.Run(ctx, config, train.Options{Source: testdata.Corpus()}, progress)
	if err != nil {
		if errors.Is(err, train.ErrInterrupted) && o.settings.Set["out"] == "" {
			return fmt.Errorf("%w; a demo without --out keeps nothing", train.ErrInterrupted)
		}
		return err
	}
	err = o.show(ctx, s, config.Out, summary)
	if out := o.settings.Set["out"]; out != "" && cli.IsCancellation(ctx, err) {
		return fmt.Errorf("%w after training; the run is in %s", train.ErrInterrupted, out)
	}
	return err
}

// show scores the vectors of a run and prints neighbours.
func (o *demoOptions) show(ctx context.Context, s cli.Streams, run string, summary runfolder.Summary) error {
	t, err := runfolder.LoadVectors(ctx, run)
	if err != nil {
		return err
	}
	result := demoResult{Summary: summary}
	if result.Eval, err = demoScores(ctx, s, t); err != nil {
		return err
	}
	words := slices.DeleteFunc(slices.Clone(demoWords), func(word string) bool {
		_, known := t.Index(word)
		return !known
	})
	if t.Encoder != nil {
		words = append(words, demoInventions...)
	}
	found, err := t.Lookup(words)
	if err != nil {
		return err
	}
	if result.Neighbors, err = neighbors(ctx, t, found, demoNeighbors); err != nil {
		return err
	}
	if err := result.print(s); err != nil {
		return err
	}
	o.nextSteps(s)
	if o.json {
		return cli.WriteJSON(s.Out, result)
	}
	return nil
}

// config returns the settings of the demo with those of the user over them. Without
// --out the run is in a temporary folder, which remove deletes.
func (o *demoOptions) config() (c settings.Config, remove func(), err error) {
	texts := settings.Demo(o.settings.Set)
	texts["corpus"] = testdata.CorpusName
	remove = func() {}
	if texts["out"] == "" {
		folder, err := os.MkdirTemp("", "w2vcl-demo-*")
		if err != nil {
			return c, nil, fmt.Errorf("cannot make a temporary folder: %w", err)
		}
		remove = func() { _ = os.RemoveAll(folder) }
		texts["out"] = filepath.Join(folder, "run")
	}
	c, err = settings.Resolve(o.settings.File, texts)
	if err != nil {
		remove()
	}
	return c, remove, err
}

// demoScores scores on the sets that come with w2vcl, by the most common metric of
// each task; eval shows the others.
func demoScores(ctx context.Context, s cli.Streams, t *runfolder.Vectors) ([]evaluate.Result, error) {
	all, err := new(evalOptions).score(ctx, s, t)
	return slices.DeleteFunc(all, func(r evaluate.Result) bool {
		return r.Metric != evaluate.MetricSpearman && r.Metric != string(words.CosAdd)
	}), err
}

func (r demoResult) print(s cli.Streams) error {
	if err := printScores(s, r.Eval); err != nil {
		return err
	}
	var out cli.Table
	composed := false
	out.Rowf("\nnearest words")
	for _, w := range r.Neighbors {
		line := "  " + w.Word + "\t"
		if w.Source != "" && !composed {
			composed = true
			out.Rowf("\nnearest words of words that the text does not have, %s", subword.Origin{Source: w.Source})
		}
		for i, n := range w.Neighbors {
			if i > 0 {
				line += ", "
			}
			line += fmt.Sprintf("%s %.2f", n.Word, n.Cosine)
		}
		out.Rowf("%s", line)
	}
	return out.Print(s.Out)
}

func (o *demoOptions) nextSteps(s cli.Streams) {
	if o.quiet {
		return
	}
	if out := o.settings.Set["out"]; out != "" {
		s.Notef("\nThe run is in %s. Ask it for more:  w2vcl neighbors %s WORD", out, out)
	}
	const folder = "runs/mine"
	s.Notef("\nNow your own text, a file or a folder of files (add --tokenizer words --lowercase for raw text):")
	s.Notef("  w2vcl train --corpus PATH --out %s", folder)
	s.Notef("  w2vcl eval %s", folder)
	s.Notef("  w2vcl neighbors %s WORD", folder)
}
