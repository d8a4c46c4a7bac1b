package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train"
)

type evalOptions struct {
	data          string
	oov           string
	caseSensitive bool
	restrict      int
	sections      bool
	json          bool
}

func newEval(s streams) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval DIR|VECTORS [--data DIR] [flags]",
		Short: "Score vectors on similarity and analogy sets",
		Long: `Score the vectors of a run folder or file on every similarity set (word, word,
score) and analogy set (the format of questions-words.txt) in a folder, or on the
sets that come with w2vcl. Every score stands beside its coverage: how many of
the set's items have all their words in the vocabulary. A run trained with
--subword composes the vectors of other words, and says for how many items.`,
		Example: `  w2vcl eval runs/wiki
  w2vcl eval runs/wiki --data evaluation-sets/ --json
  w2vcl eval GoogleNews.bin --data questions-words.txt --restrict-vocab 30000`,
		Args: exactly("DIR|VECTORS"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.data, "data", "", "`DIR` of evaluation sets, or one file (default: the sets that come with w2vcl)")
	flags.StringVar(&o.oov, "oov", "", "what becomes of items with unknown words: `NAME` is skip, zero, mean or compose (default compose for a run trained with --subword, else skip)")
	flags.BoolVar(&o.caseSensitive, "case-sensitive", false, "look words up as they are written")
	flags.IntVar(&o.restrict, "restrict-vocab", 0, "use only the `N` most frequent words; 0 uses all")
	flags.BoolVar(&o.sections, "sections", false, "show every section of an analogy set")
	addJSON(cmd, &o.json, "print the scores as one line of JSON")
	return cmd
}

func (o *evalOptions) run(ctx context.Context, s streams, path string) error {
	switch evaluate.OOV(o.oov) {
	case "", evaluate.OOVSkip, evaluate.OOVZero, evaluate.OOVMean, evaluate.OOVCompose:
	default:
		return train.Usagef("--oov %s: choose skip, zero, mean or compose", o.oov)
	}
	if o.restrict < 0 {
		return train.Usagef("--restrict-vocab %d: must be 0 or more", o.restrict)
	}
	if _, err := os.Stat(o.data); o.data != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data %s: there is no such folder or file", o.data)
	}
	t, err := loadSpeller(path)
	if err != nil {
		return err
	}
	results, err := o.score(ctx, s, t)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(s.out, results)
	}
	return printScores(s.out, results)
}

// score runs the evaluation on --data or on the sets in the binary.
func (o *evalOptions) score(ctx context.Context, s streams, t *speller) ([]evaluate.Result, error) {
	data := o.data
	if data == "" {
		folder, remove, err := builtinSets()
		if err != nil {
			return nil, err
		}
		defer remove()
		data = folder
	}
	options := evaluate.Options{
		OOV: evaluate.OOV(o.oov), CaseSensitive: o.caseSensitive, RestrictVocab: o.restrict, Sections: o.sections,
	}
	if t.encoder != nil {
		options.Compose = t.encoder.Encode
		options.OOV = cmp.Or(options.OOV, evaluate.OOVCompose)
	}
	if options.OOV == evaluate.OOVCompose && t.encoder == nil {
		return nil, train.Usagef("--oov compose: vectors of unseen words need a run folder that was trained with --subword")
	}
	results, notes, err := evaluate.Run(ctx, t.Table, data, options)
	for _, note := range notes {
		s.notef("%s", note)
	}
	return results, err
}

// builtinSets writes the embedded evaluation sets to a temporary folder, where
// package evaluate can read them; remove takes it away again.
func builtinSets() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp("", "w2vcl-eval-*")
	if err != nil {
		return "", nil, fmt.Errorf("cannot unpack the evaluation sets: %w", err)
	}
	remove = func() { _ = os.RemoveAll(folder) } // in the system's temporary folder
	if err := os.CopyFS(filepath.Join(folder, "eval"), testdata.Eval()); err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot unpack the evaluation sets: %w", err)
	}
	return folder, remove, nil
}

func printScores(w io.Writer, results []evaluate.Result) error {
	var out table
	out.rowf("task\tdataset\tmetric\t score\tfound")
	for _, r := range results {
		coverage := 100.0
		if r.Total > 0 {
			coverage = 100 * float64(r.Found) / float64(r.Total)
		}
		composed := ""
		if r.Composed > 0 {
			composed = fmt.Sprintf(", %d more composed", r.Composed)
		}
		out.rowf("%s\t%s\t%s\t%6s\t%d of %d (%.0f%%)%s", r.Task, r.Dataset, r.Metric, r.Score, r.Found, r.Total, coverage, composed)
	}
	return out.writeTo(w)
}
