package compare

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/sentences"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A judge scores the runs of a comparison, all in the same way.
type judge struct {
	data  string
	pairs words.LossPairs
	sets  []string // in the data
	notes []string // on what the data has besides

	classSets []string // of sentences, if they are scored
}

// The losses by frequency band are computed on so many contexts of each word,
// drawn with a seed of their own.
const (
	contextsPerWord = 16
	pairsSeed       = 20160916
	bands           = 5
)

// newJudge draws the pairs from the text: contexts within the window, as many
// for each word, and negatives by their counts^0.75.
func newJudge(ctx context.Context, data string, text *corpus.Corpus, c settings.Config) (*judge, error) {
	m, err := wordcontext.Build(ctx, text, wordcontext.Options{
		Window: c.Window, Contexts: contextsPerWord, Passes: 1, Seed: pairsSeed,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot draw the pairs to compute losses on: %w", err)
	}
	defer func() { _ = m.Close() }() // in memory only
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		return nil, fmt.Errorf("cannot draw negatives: %w", err)
	}
	p := words.LossPairs{PerWord: contextsPerWord, Negatives: c.Negative}
	counter := uint64(0)
	for i := range text.Vocabulary.Len() {
		for k := range contextsPerWord {
			found := m.At(i, k)
			if found == wordcontext.NoContext {
				found = words.NoWord
			}
			p.Targets = append(p.Targets, found)
			for range c.Negative {
				bits := corpus.Philox(pairsSeed, corpus.StreamNegatives, counter/4)
				p.Targets = append(p.Targets, noise.Draw(bits[counter%4]))
				counter++
			}
		}
	}
	j := &judge{data: data, pairs: p}
	return j, j.findSets(ctx)
}

// point judges a run at an observation by the main metrics.
func (j *judge) point(ctx context.Context, o train.Observation) (Point, error) {
	p := Point{Share: o.Share, Units: o.Units, Seconds: o.Seconds, Pairs: o.Pairs, Loss: o.Loss}
	vectors, err := o.Vectors()
	if err != nil {
		return p, err
	}
	if p.Scores, err = j.score(ctx, vectors, words.CosAdd); err != nil {
		return p, err
	}
	losses := words.Losses(o.Words, o.Contexts, vectors.Dim, j.pairs)
	p.Bands = words.Bands(losses, o.Vocabulary.Counts, bands)
	return p, nil
}

func (j *judge) score(ctx context.Context, vectors *embedding.Table, m words.Method) ([]evaluate.Result, error) {
	results, _, err := words.Score(ctx, vectors, j.data, words.Options{Methods: []words.Method{m}})
	return slices.DeleteFunc(results, func(r evaluate.Result) bool { return !isMain(r) }), err
}

// isMain reports whether a result is by the metric that stands for its set.
func isMain(r evaluate.Result) bool {
	switch r.Task {
	case evaluate.TaskSimilarity:
		return r.Metric == evaluate.MetricSpearman
	case evaluate.TaskAnalogy:
		return r.Metric == string(words.CosAdd)
	case evaluate.TaskClassification: // not scored along the way
		return false
	default:
		return true
	}
}

// all scores the vectors of a finished run by all metrics.
func (j *judge) all(ctx context.Context, run string) ([]evaluate.Result, error) {
	vectors, err := runfolder.LoadVectors(run)
	if err != nil {
		return nil, err
	}
	results, _, err := words.Score(ctx, vectors.Table, j.data, words.Options{})
	return results, err
}

// items returns the outcomes of single items of a finished run.
func (j *judge) items(ctx context.Context, run string) ([]evaluate.Items, error) {
	vectors, err := runfolder.LoadVectors(run)
	if err != nil {
		return nil, err
	}
	items, _, err := words.Items(ctx, vectors.Table, j.data, words.Options{Methods: []words.Method{words.CosAdd}})
	return items, err
}

// classes scores the vectors of a finished run on the sets of sentences. note is
// told about each set.
func (j *judge) classes(ctx context.Context, run string, note func(dataset string)) ([]evaluate.Result, error) {
	vectors, err := runfolder.LoadVectors(run)
	if err != nil {
		return nil, err
	}
	results, _, err := sentences.Score(ctx, vectors.Table, j.data, sentences.Options{Threads: runtime.GOMAXPROCS(0), Progress: func(dataset string, done, _ int) {
		if done == 0 {
			note(dataset)
		}
	}})
	return results, err
}

// findSets names the sets in the data, by scoring a table of one word on them.
func (j *judge) findSets(ctx context.Context) error {
	table, err := embedding.NewTable([]string{"the"}, 1, []float32{1})
	if err != nil {
		return err
	}
	results, notes, err := words.Score(ctx, table, j.data, words.Options{Methods: []words.Method{words.CosAdd}})
	if err != nil {
		return err
	}
	j.notes = notes
	for _, r := range results {
		if isMain(r) {
			j.sets = append(j.sets, fmt.Sprintf("%s %s, %d items", r.Task, r.Dataset, r.Total))
		}
	}
	return nil
}

// findClasses names the sets of sentences in the data.
func (j *judge) findClasses() error {
	sets, notes, err := sentences.Sets(j.data)
	if err != nil {
		return err
	}
	j.classSets, j.notes = sets, append(j.notes, notes...)
	return nil
}
