package compare

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/nodes"
	"github.com/w2vcl/w2vcl/evaluate/sentences"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A judge scores all runs of a comparison alike.
type judge struct {
	data  string
	known *words.Sets   // of the data
	nodes *nodes.Labels // of a graph's nodes, in place of known; nil: words are scored
	pairs words.LossPairs
	sets  []string // in the data, with the number of items of each
	notes []string // on other files in the data

	classes sentences.Sets // if they are scored
}

// The losses of frequency bands are computed on the same contexts of each word in
// every comparison of a text.
const (
	contextsPerWord = 16
	pairsSeed       = 20160916
	bands           = 5
)

// newJudge returns the judge of runs on a text; c has the settings that all runs
// share.
func newJudge(ctx context.Context, o experiment.Options, text *corpus.Corpus, c settings.Config) (*judge, error) {
	pairs, err := drawPairs(ctx, text, c)
	if err != nil {
		return nil, err
	}
	j := &judge{data: o.Data, pairs: pairs}
	if c.Graph != "" {
		return j, j.findLabels(ctx)
	}
	if err := j.findSets(ctx); err != nil {
		return nil, err
	}
	if o.Classify {
		err = j.findClasses(ctx)
	}
	return j, err
}

// drawPairs draws the pairs that losses are computed on: contexts within the
// window, as many for each word, and negatives by counts^0.75.
func drawPairs(ctx context.Context, text *corpus.Corpus, c settings.Config) (words.LossPairs, error) {
	p := words.LossPairs{PerWord: contextsPerWord, Negatives: c.Negative}
	m, err := wordcontext.Build(ctx, text, wordcontext.Options{
		Window: c.Window, Contexts: contextsPerWord, Passes: 1, Seed: pairsSeed,
	})
	if err != nil {
		return p, fmt.Errorf("cannot draw the pairs to compute losses on: %w", err)
	}
	defer func() { _ = m.Close() }() // in memory only
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		return p, fmt.Errorf("cannot draw negatives: %w", err)
	}
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
	return p, nil
}

// findSets names the sets in the data by scoring a table of one word on them.
func (j *judge) findSets(ctx context.Context) error {
	table, err := embedding.NewTable([]string{"the"}, 1, []float32{1})
	if err != nil {
		return err
	}
	if j.known, err = words.ReadSets(ctx, j.data, ""); err != nil {
		return err
	}
	results, notes, err := words.Score(ctx, table, j.data, words.Options{Sets: j.known, Methods: mainMethods})
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

func (j *judge) findLabels(ctx context.Context) (err error) {
	if j.nodes, err = nodes.ReadLabels(ctx, j.data); err == nil {
		j.sets = []string{fmt.Sprintf("%s %s, %d items", evaluate.TaskNodes, nodes.SetName(j.data), len(j.nodes.Nodes))}
	}
	return err
}

// findClasses names the sets of sentences in the data.
func (j *judge) findClasses(ctx context.Context) error {
	sets, err := sentences.FindSets(ctx, j.data)
	if err != nil {
		return err
	}
	j.classes, j.notes = sets, append(j.notes, sets.Notes...)
	return nil
}

// mainMethods are the methods of solving analogies that count for the mean score.
var mainMethods = []words.Method{words.CosAdd}

// isMain reports whether a result counts for the mean score and is shown over
// time: it is by the main metric of a set of words or nodes. Sentences are scored at the end only.
func isMain(r evaluate.Result) bool {
	if r.Task == evaluate.TaskNodes {
		return r.Metric == evaluate.MetricMicroF1
	}
	return r.Task != evaluate.TaskClassification && words.IsMain(r)
}

// point judges a run at an observation by the main metrics.
func (j *judge) point(ctx context.Context, o train.Observation) (Point, error) {
	p := Point{Fraction: o.Fraction, Units: o.Units, Seconds: o.Seconds, Pairs: o.Pairs, Loss: o.Loss}
	vectors, err := o.Vectors()
	if err != nil {
		return p, err
	}
	results, err := j.score(ctx, vectors, words.Options{Methods: mainMethods}, nodes.Options{Repeats: 1})
	if err != nil {
		return p, err
	}
	p.Scores = mainScores(results)
	losses := words.Losses(o.Words, o.Contexts, vectors.Dim, j.pairs)
	p.Bands = words.Bands(losses, o.Vocabulary.Counts, bands)
	return p, nil
}

// all scores the vectors of a finished run by all metrics, and returns the outcomes of single
// items, too. It takes so many threads, 0 for all.
func (j *judge) all(ctx context.Context, run string, threads int) ([]evaluate.Result, []evaluate.Items, error) {
	vectors, err := runfolder.LoadTable(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	results, err := j.score(ctx, vectors, words.Options{Threads: threads}, nodes.Options{})
	if err != nil {
		return nil, nil, err
	}
	items, err := j.itemsOf(ctx, vectors, threads)
	return results, items, err
}

func (j *judge) score(ctx context.Context, vectors *embedding.Table, w words.Options, n nodes.Options) ([]evaluate.Result, error) {
	if j.nodes != nil {
		return nodes.ScoreLabels(ctx, vectors, nodes.SetName(j.data), j.nodes, n)
	}
	w.Sets = j.known
	results, _, err := words.Score(ctx, vectors, j.data, w)
	return results, err
}

// itemsOf returns the outcomes of single items. Labels have none: a score of theirs is a mean over splits.
func (j *judge) itemsOf(ctx context.Context, vectors *embedding.Table, threads int) ([]evaluate.Items, error) {
	if j.nodes != nil {
		return nil, nil
	}
	items, _, err := words.Items(ctx, vectors, j.data, words.Options{Sets: j.known, Methods: mainMethods, Threads: threads})
	return items, err
}

// items returns the outcomes of single items of a finished run.
func (j *judge) items(ctx context.Context, run string) ([]evaluate.Items, error) {
	vectors, err := runfolder.LoadTable(ctx, run)
	if err != nil {
		return nil, err
	}
	return j.itemsOf(ctx, vectors, 0)
}

// classes scores the vectors of a finished run on the sets of sentences, on so many threads,
// 0 for all. It calls note at the beginning of each set.
func (j *judge) classify(ctx context.Context, run string, threads int, note func(dataset string)) ([]evaluate.Result, error) {
	vectors, err := runfolder.LoadTable(ctx, run)
	if err != nil {
		return nil, err
	}
	progress := func(dataset string, done, _ int) {
		if done == 0 {
			note(dataset)
		}
	}
	options := sentences.Options{Threads: cmp.Or(threads, runtime.GOMAXPROCS(0)), Progress: progress}
	results, _, err := sentences.Score(ctx, vectors, j.data, options)
	return results, err
}

// classify scores a finished run on the sets of sentences, if they were asked for
// and unless that was done before.
func (e *executor) classify(ctx context.Context, r experiment.Run, record *Record, threads int) (err error) {
	if !e.options.Classify || slices.Equal(record.ClassSets, e.judge.classes.Names) {
		return nil
	}
	note := func(dataset string) { e.Progress.Notef("Classes of sentences: %s", dataset) }
	if record.Classes, err = e.judge.classify(ctx, r.Config.Out, threads, note); err != nil {
		return stopped(ctx, err)
	}
	record.ClassSets = e.judge.classes.Names
	return record.save(e.options.Out)
}
