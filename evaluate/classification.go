package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/textcnn"
)

// MetricAccuracy is the share of sentences whose class is found.
const MetricAccuracy = "accuracy"

// folds is how many parts a set without a test part of its own is cut into.
const folds = 10

// classificationSeed cuts sets into folds and starts networks, the same for all
// tables.
const classificationSeed = 1

// Classification scores a table on the sentence classification sets in a folder,
// or on one such file, by the accuracy of a small convolutional network on the
// words' vectors, which stay as they are (Kim 2014, "CNN-static"; package
// evaluate/textcnn). A line of a set is a label, a whole number, and the words
// of a sentence. Files NAME.train and NAME.test, and NAME.dev if there is one,
// are one set with a test part; any other file is cross-validated in ten folds.
// A tenth of the training part, or NAME.dev, chooses the number of epochs.
//
// Vectors are scaled so that their mean length is 1: the network must not learn
// faster from longer ones. Words that are not in the table count as zero. The
// result's Found of Total words of all sentences are in the table.
//
// It takes minutes. progress, if not nil, is told about each trained network.
// notes name files that are no such sets, and sets that are there twice, which
// count once.
func Classification(ctx context.Context, t *embedding.Table, path string, o Options, threads int, progress func(dataset string, done, total int)) (results []Result, notes []string, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	sets, strangers, notes, err := findClassification(path)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range strangers {
		notes = append(notes, file+": not a classification set, skipped")
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	c := &classifier{lookup: newLookup(t, o), threads: threads, vectors: scaled(t.Vectors, t.Dim)}
	for _, set := range sets {
		r, err := c.score(ctx, set, progress)
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", set.name, err)
		}
		results = append(results, r)
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
	*lookup
	vectors []float32
	threads int
}

func (c *classifier) score(ctx context.Context, set classificationSet, progress func(string, int, int)) (Result, error) {
	r := Result{Task: TaskClassification, Dataset: set.name, Metric: MetricAccuracy}
	classes := map[string]int{}
	read := func(part []labelled) []textcnn.Sentence { return c.sentences(part, classes, &r) }
	training, dev, tests := read(set.training), read(set.dev), read(set.tests)
	if len(classes) < 2 {
		return r, errors.New("all sentences have the same label")
	}
	var splits []split
	if len(tests) > 0 {
		splits = []split{{training, dev, tests}}
	} else {
		splits = crossValidation(training)
	}
	right, asked := 0, 0
	for i, s := range splits {
		progress(set.name, i, len(splits))
		if len(s.dev) == 0 {
			cut := len(s.training) / 10
			s.dev, s.training = s.training[:cut], s.training[cut:]
		}
		found, err := textcnn.Evaluate(ctx, textcnn.Config{
			Vectors: c.vectors, Dim: c.table.Dim, Classes: len(classes), Threads: c.threads, Seed: classificationSeed + uint64(i),
		}, s.training, s.dev, s.test)
		if err != nil {
			return r, err
		}
		right += found
		asked += len(s.test)
	}
	progress(set.name, len(splits), len(splits))
	r.Score = share(right, asked)
	return r, nil
}

// sentences looks the words up, counts them, and numbers the labels.
func (c *classifier) sentences(part []labelled, classes map[string]int, r *Result) []textcnn.Sentence {
	sentences := make([]textcnn.Sentence, len(part))
	for i, l := range part {
		class, ok := classes[l.label]
		if !ok {
			class = len(classes)
			classes[l.label] = class
		}
		sentences[i].Class = class
		for _, word := range l.words {
			row, ok := c.row(word)
			r.Total++
			if ok {
				r.Found++
			} else {
				row = -1
			}
			sentences[i].Words = append(sentences[i].Words, int32(row))
		}
	}
	shuffled := rand.New(rand.NewPCG(classificationSeed, 0))
	shuffled.Shuffle(len(sentences), func(i, j int) { sentences[i], sentences[j] = sentences[j], sentences[i] })
	return sentences
}

// A split is what one network trains and is tested on. Without a development
// part a tenth of the training part becomes it.
type split struct{ training, dev, test []textcnn.Sentence }

// crossValidation tests on each tenth of shuffled sentences.
func crossValidation(sentences []textcnn.Sentence) []split {
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
