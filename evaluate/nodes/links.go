package nodes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Link is a pair of nodes, with an edge between them or without.
type Link struct {
	From, To string
	Edge     bool
}

// ReadLinks reads pairs of nodes, one a line: two nodes, and 1 if there is an
// edge between them, else 0. `w2vcl walk --holdout-out` writes such files.
// Errors name the file and the line.
func ReadLinks(ctx context.Context, path string) ([]Link, error) {
	lines, err := dataset.ReadLines(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the pairs of nodes: %w", err)
	}
	links := make([]Link, len(lines))
	for i, line := range lines {
		fields, err := textfile.Columns{Separator: ' ', Count: 3}.Split(nil, []byte(line.Text))
		if err != nil || string(fields[2].Text) != "0" && string(fields[2].Text) != "1" {
			return nil, fmt.Errorf("%s:%d: %q is not two nodes and 0 or 1", path, line.Number, line.Text)
		}
		links[i] = Link{string(fields[0].Text), string(fields[1].Text), string(fields[2].Text) == "1"}
	}
	return links, nil
}

// linkFolds is the number of parts of the cross-validation.
const linkFolds = 10

// ScoreLinks scores vectors of nodes by how well they tell pairs of nodes with an
// edge from pairs without. "cosine-auc" is the area under the ROC curve of the
// cosine; nothing is learned for it. For "hadamard-auc" and "hadamard-micro-f1"
// logistic regression (C = 1) learns from the element-wise products of the pairs'
// vectors (Grover and Leskovec 2016, section 4.4), in a ten-fold cross-validation
// of shuffled pairs; their score is the mean of the folds. For "concatenation-micro-f1" a linear
// support vector machine learns from both vectors side by side (PAR-Word2Vec, section
// VI-C2), in the same folds. Pairs with a node that has no vector are left out.
//
// Errors: fewer than ten pairs with vectors of either kind, a cancelled context.
func ScoreLinks(ctx context.Context, t *embedding.Table, set string, links []Link, seed uint64) ([]evaluate.Result, error) {
	var cosines []float64
	var known []learn.BinaryLabel // pairs with vectors: whether there is an edge
	var pairs [][2]int            // their rows
	x := learn.NewExamples(t.Dim)
	edges := 0
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(links)) {
		l := links[i]
		from, known1 := t.Index(l.From)
		to, known2 := t.Index(l.To)
		if !known1 || !known2 {
			continue
		}
		a, b := t.Vector(from), t.Vector(to)
		cosines = append(cosines, evaluate.Cosine(a, b))
		hadamard := make([]float32, t.Dim)
		for k := range hadamard {
			hadamard[k] = a[k] * b[k]
		}
		pairs = append(pairs, [2]int{from, to})
		known = append(known, learn.BinaryLabel{Example: uint32(len(known)), Positive: l.Edge})
		x.Add(hadamard)
		if l.Edge {
			edges++
		}
	}
	if edges < linkFolds || len(known)-edges < linkFolds {
		return nil, fmt.Errorf("links: of %d pairs, %d with an edge and %d without an edge have vectors; at least %d of each are needed",
			len(links), edges, len(known)-edges, linkFolds)
	}
	logistic := func(training []learn.BinaryLabel) []float64 { return learn.Logistic(x, training, false, nil) }
	aucs, f1s, err := scoreFolds(ctx, x, known, logistic)
	if err != nil {
		return nil, err
	}
	x = learn.NewExamples(2 * t.Dim) // the products are no longer needed
	for _, p := range pairs {
		x.Add(slices.Concat(t.Vector(p[0]), t.Vector(p[1])))
	}
	_, sideBySide, err := scoreFolds(ctx, x, known, func(training []learn.BinaryLabel) []float64 { return learn.SVM(x, training) })
	if err != nil {
		return nil, err
	}
	result := func(metric string, scores ...float64) evaluate.Result {
		mean, deviation := stat.PopMeanStdDev(scores, nil)
		return evaluate.Result{
			Task: evaluate.TaskLinks, Dataset: set, Metric: metric, Score: evaluate.Score(mean), Deviation: evaluate.Score(deviation),
			Found: len(known), Total: len(links),
		}
	}
	return []evaluate.Result{
		result(evaluate.MetricCosineAUC, auc(cosines, known)),
		result(evaluate.MetricHadamardAUC, aucs...),
		result(evaluate.MetricHadamardF1, f1s...),
		result(evaluate.MetricConcatF1, sideBySide...),
	}, nil
}

// scoreFolds returns the scores of each fold of the cross-validation of a linear classifier.
func scoreFolds(ctx context.Context, x *learn.Examples, labels []learn.BinaryLabel, fit func(training []learn.BinaryLabel) []float64) (areas, f1s []float64, err error) {
	areas, f1s = make([]float64, linkFolds), make([]float64, linkFolds)
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), linkFolds, func(fold int) {
		areas[fold], f1s[fold] = linkFold(x, labels, fold, fit)
	})
	return areas, f1s, err
}

// linkFold learns from nine tenths of the examples and scores the others.
func linkFold(x *learn.Examples, labels []learn.BinaryLabel, fold int, fit func(training []learn.BinaryLabel) []float64) (area, microF1 float64) {
	class := make([]int, len(labels))
	for i, l := range labels {
		if l.Positive {
			class[i] = 1
		}
	}
	var training, test []learn.BinaryLabel
	for i, f := range stratify(class, linkFolds) {
		if f == fold {
			test = append(test, labels[i])
		} else {
			training = append(training, labels[i])
		}
	}
	w := fit(training)
	logits, right := make([]float64, len(test)), 0
	for i, l := range test {
		logits[i] = learn.Dot(w, x.Of(l.Example))
		if (logits[i] > 0) == l.Positive {
			right++
		}
	}
	// With one right class for each example, micro F1 is the share of right answers.
	return auc(logits, test), float64(right) / float64(len(test))
}

// auc returns the area under the ROC curve: the probability that a positive
// example has a higher score than a negative one; a tie counts 0.5.
func auc(scores []float64, labels []learn.BinaryLabel) float64 {
	sum, positive := 0.0, 0
	for i, rank := range evaluate.Ranks(scores) {
		if labels[i].Positive {
			sum += rank
			positive++
		}
	}
	p, n := float64(positive), float64(len(labels)-positive)
	return (sum - p*(p+1)/2) / (p * n)
}
