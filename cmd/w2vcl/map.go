package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/wordmap"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

type mapOptions struct {
	words, out string
	top        int
	near       float64
	options    wordmap.Options
	quiet      bool
}

func newMap(s cli.Streams) *cobra.Command {
	var o mapOptions
	cmd := &cobra.Command{
		Use:        "map DIR|VECTORS --out FILE [flags]",
		Short:      "Draw words as a map: similar words lie together",
		SuggestFor: []string{"plot", "visualize", "tsne", "umap"},
		Long: `Place words in the plane by t-SNE, so that words with similar vectors lie together, and
draw them as a picture (SVG). Groups of near words have colours. The words are the most
frequent ones, or those of a file. The same vectors and --seed give the same map.

DIR|VECTORS is a run folder, also of a run that still trains, or a file of vectors.`,
		Example: `  w2vcl map runs/wiki --out wiki.svg
  w2vcl map glove.6B.100d.txt --words countries.txt --out countries.svg`,
		Args: cli.Exactly("DIR|VECTORS"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "", "write the picture to `FILE`.svg")
	flags.StringVar(&o.words, "words", "", "place the words in `FILE`, one a line (- is standard input)")
	flags.IntVar(&o.top, "top", 500, "place the `N` most frequent words")
	flags.Float64Var(&o.near, "near", 0, "leave out words without another word of cosine `X` or more; 0 leaves out none")
	flags.Float64Var(&o.options.Perplexity, "perplexity", 0,
		"about how many neighbours hold a word in its place: `X` (default 30, less for few words)")
	flags.IntVar(&o.options.Iterations, "iterations", 0, "`N` steps of t-SNE (default 750)")
	flags.Uint64Var(&o.options.Seed, "seed", 1, "`N` from which t-SNE's noise comes")
	flags.Bool("force", false, "replace FILE if it is a map")
	flags.BoolVar(&o.quiet, "quiet", false, "print no progress")
	return cmd
}

// check refuses what is wrong whatever the vectors.
func (o *mapOptions) check() error {
	switch {
	case o.out == "":
		return terminal.Usagef("--out is missing: name a file, FILE.svg")
	case filepath.Ext(o.out) != ".svg":
		return terminal.Usagef("--out %s: the name must end in .svg", o.out)
	case o.top < 2 || o.top > wordmap.MaxWords:
		return terminal.Usagef("--top %d: must be from 2 to %d", o.top, wordmap.MaxWords)
	case !(o.options.Perplexity >= 0 && o.options.Perplexity <= 1000):
		return terminal.Usagef("--perplexity %g: must be from 0 to 1000", o.options.Perplexity)
	case o.options.Iterations < 0:
		return terminal.Usagef("--iterations %d: must not be negative", o.options.Iterations)
	case !(o.near >= 0 && o.near < 1):
		return terminal.Usagef("--near %g: must be from 0 to below 1", o.near)
	}
	return nil
}

func (o *mapOptions) run(ctx context.Context, s cli.Streams, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	t, err := o.load(ctx, s, path)
	if err != nil {
		return err
	}
	progress := s.Progress(o.quiet)
	stage := progress.Stage("placing words", 0)
	defer stage.Stop()
	o.options.Near = float32(o.near)
	o.options.Progress = func(done, total int) {
		stage.SetTotal(int64(total))
		stage.Update(int64(done), nil)
	}
	m, err := wordmap.New(ctx, t, o.options)
	if err != nil {
		return err
	}
	m.Title = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if err := atomicfile.Write(o.out, m.WriteSVG); err != nil {
		return err
	}
	stage.Done("Wrote %s words to %s", terminal.Number(len(m.Words)), o.out)
	return nil
}

// load reads the vectors of the words to place, the frequent ones first.
func (o *mapOptions) load(ctx context.Context, s cli.Streams, path string) (*embedding.Table, error) {
	t, err := runfolder.LoadVectors(ctx, path)
	if err != nil {
		return nil, err
	}
	noteUnfinished(s, path)
	if o.words == "" {
		n := min(o.top, t.Len())
		return embedding.NewTable(t.Words[:n:n], t.Dim, t.Vectors[:n*t.Dim])
	}
	words, err := readWords(ctx, s, o.words)
	if err != nil {
		return nil, fmt.Errorf("--words %s: %w", o.words, err)
	}
	known := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !t.Has(word) })
	if unknown := len(words) - len(known); unknown > 0 {
		s.Notef("Note: %s of %s words have no vector and are left out", terminal.Number(unknown), terminal.Number(len(words)))
	}
	words = known
	found, err := t.Lookup(words)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b runfolder.WordVector) int { return cmp.Compare(rank(a), rank(b)) })
	var vectors []float32
	for i, w := range found {
		words[i] = w.Word
		vectors = append(vectors, w.Vector...)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("--words %s: none of the words has a vector", o.words)
	}
	return embedding.NewTable(words, t.Dim, vectors)
}

// rank orders words by their row; composed words come last.
func rank(w runfolder.WordVector) int {
	if w.Composed() {
		return math.MaxInt
	}
	return w.Row
}
