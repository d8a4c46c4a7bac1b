package sentences

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// folds is how many parts a set without a test part of its own is cut into.
const folds = 10

// seed cuts sets into folds and starts networks, the same for all tables.
const seed = 1

// Options say how to score. The zero value is usable.
type Options struct {
	Restrict int // how many words of the table count; 0: all
	Threads  int // 0: 1
	// Progress, if not nil, is told about each trained network.
	Progress func(dataset string, done, total int)
}

// find is [dataset.FindSentences], but refuses sets that are too small to be
// cross-validated.
func find(ctx context.Context, path string) (sets []dataset.SentenceSet, strangers, notes []string, err error) {
	sets, strangers, notes, err = dataset.FindSentences(ctx, path)
	for _, s := range sets {
		if len(s.Training) < 2*folds {
			return nil, nil, nil, fmt.Errorf("%s: %d sentences to train on; there must be at least %d", s.Path, len(s.Training), 2*folds)
		}
	}
	return sets, strangers, notes, err
}

// Score scores a table on the sentence classification sets in a folder, or on one
// such file, by the accuracy of a small convolutional network on the words'
// vectors, which stay as they are (see network.go). A line of a set is a
// label, a whole number, and the words of a sentence. Files NAME.train and
// NAME.test, and NAME.dev if there is one, are one set with a test part; any other
// file is cross-validated in ten folds. A tenth of the training part, or NAME.dev,
// chooses the number of epochs.
//
// Relations between two parts of a sentence are told by the same network, which then knows the
// places of the parts; "macro-f1" is SemEval's score. Reviews, texts of a file each, are read
// by an LSTM.
//
// Vectors are scaled so that their mean length is 1: the network must not learn
// faster from longer ones. Words that are not in the table count as zero. The
// result's Found of Total words of all sentences are in the table.
//
// It takes minutes. notes name files that are no such sets, and sets that are there
// twice, which count once.
//
// Errors: a negative Restrict, a folder without any set, a bad line in a set
// (with file and line), a set of fewer than 20 sentences or with one label only, a
// cancelled context.
func Score(ctx context.Context, t *embedding.Table, path string, o Options) (results []evaluate.Result, notes []string, err error) {
	sets, strangers, notes, err := find(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range strangers {
		notes = append(notes, file+": not a classification set, skipped")
	}
	l, err := evaluate.NewLookup(t, o.Restrict)
	if err != nil {
		return nil, nil, err
	}
	c := &classifier{Lookup: l, options: o, vectors: scaled(t.Vectors, t.Dim)}
	for _, set := range sets {
		r, err := c.score(ctx, set)
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", set.Name, err)
		}
		results = append(results, r...)
	}
	return results, notes, nil
}

// scaled returns vectors of mean length 1.
func scaled(vectors []float32, dim int) []float32 {
	var sum float64
	for row := range slices.Chunk(vectors, dim) {
		var square float64
		for _, x := range row {
			square += float64(x) * float64(x)
		}
		sum += math.Sqrt(square)
	}
	factor := float32(1)
	if sum > 0 {
		factor = float32(float64(len(vectors)/dim) / sum)
	}
	out := make([]float32, len(vectors))
	for i, x := range vectors {
		out[i] = factor * x
	}
	return out
}

// A classifier scores sets on one table.
type classifier struct {
	*evaluate.Lookup
	vectors []float32
	options Options
}

// progress tells about the networks of a set.
func (c *classifier) progress(set string, done, total int) {
	if c.options.Progress != nil {
		c.options.Progress(set, done, total)
	}
}

func (c *classifier) score(ctx context.Context, set dataset.SentenceSet) ([]evaluate.Result, error) {
	r := evaluate.Result{Task: evaluate.TaskClassification, Dataset: set.Name, Metric: evaluate.MetricAccuracy}
	classes := map[string]int{}
	read := func(part []dataset.Sentence) []sentence { return c.sentences(part, classes, &r) }
	training, dev, tests := read(set.Training), read(set.Dev), read(set.Test)
	if len(classes) < 2 {
		return nil, errors.New("all sentences have the same label")
	}
	var splits []split
	if len(tests) > 0 {
		splits = []split{{training, dev, tests}}
	} else {
		splits = crossValidation(training)
	}
	config := networkOptions{Vectors: c.vectors, Dim: c.Table.Dim, Classes: len(classes), Threads: c.options.Threads, Places: set.Relations()}
	if set.Reviews {
		config.Recurrent = true
	}
	var found, want []int
	for i, s := range splits {
		c.progress(set.Name, i, len(splits))
		if len(s.dev) == 0 {
			cut := len(s.training) / 10
			s.dev, s.training = s.training[:cut], s.training[cut:]
		}
		config.Seed = seed + uint64(i)
		answers, err := classify(ctx, config, s.training, s.dev, s.test)
		if err != nil {
			return nil, err
		}
		found = append(found, answers...)
		for _, x := range s.test {
			want = append(want, x.Class)
		}
	}
	c.progress(set.Name, len(splits), len(splits))
	right := 0
	for i, class := range want {
		if found[i] == class {
			right++
		}
	}
	r.Score = evaluate.Fraction(right, len(want))
	if !set.Relations() {
		return []evaluate.Result{r}, nil
	}
	names := make([]string, len(classes))
	for name, class := range classes {
		names[class] = name
	}
	f1 := r
	f1.Metric, f1.Score = evaluate.MetricMacroF1, evaluate.Score(relationF1(names, found, want))
	return []evaluate.Result{f1, r}, nil
}

// sentences looks the words up, counts them, and numbers the labels.
func (c *classifier) sentences(part []dataset.Sentence, classes map[string]int, r *evaluate.Result) []sentence {
	sentences := make([]sentence, len(part))
	for i, l := range part {
		class, ok := classes[l.Label]
		if !ok {
			class = len(classes)
			classes[l.Label] = class
		}
		sentences[i].Class = class
		copy(sentences[i].Ends[:], l.Ends)
		for _, word := range l.Words {
			row, ok := c.Row(word)
			r.Total++
			if ok {
				r.Found++
			} else {
				row = -1
			}
			sentences[i].Words = append(sentences[i].Words, int32(row))
		}
	}
	shuffled := rand.New(rand.NewPCG(seed, 0))
	shuffled.Shuffle(len(sentences), func(i, j int) { sentences[i], sentences[j] = sentences[j], sentences[i] })
	return sentences
}

// A split is what one network trains and is tested on. Without a development
// part a tenth of the training part becomes it.
type split struct{ training, dev, test []sentence }

// crossValidation tests on each tenth of shuffled sentences.
func crossValidation(sentences []sentence) []split {
	var splits []split
	n := len(sentences)
	for k := range folds {
		first, last := k*n/folds, (k+1)*n/folds
		splits = append(splits, split{
			training: slices.Concat(sentences[:first], sentences[last:]), test: sentences[first:last],
		})
	}
	return splits
}
