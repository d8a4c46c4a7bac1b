package evaluate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A Link is a pair of nodes, with an edge between them or without.
type Link struct {
	From, To string
	Edge     bool
}

// ReadLinks reads pairs of nodes, one a line: two nodes, and 1 if there is an
// edge between them, else 0. `w2vcl walk --holdout-out` writes such files.
// Errors name the file and the line.
func ReadLinks(path string) ([]Link, error) {
	lines, err := readLines(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the pairs of nodes: %w", err)
	}
	links := make([]Link, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line.text)
		if len(fields) != 3 || fields[2] != "0" && fields[2] != "1" {
			return nil, fmt.Errorf("%s:%d: %q is not two nodes and 0 or 1", path, line.number, line.text)
		}
		links[i] = Link{fields[0], fields[1], fields[2] == "1"}
	}
	return links, nil
}

// linkFolds is the number of parts of the cross-validation.
const linkFolds = 10

// Links scores vectors of nodes by how well they tell pairs of nodes with an edge
// from those without. "cosine-auc" is the area under the ROC curve of the cosine,
// with which nothing is learned. For "hadamard-auc" and "hadamard-micro-f1"
// logistic regression (C = 1) learns from the element-wise products of the pairs'
// vectors (Grover and Leskovec 2016, section 4.4), in a ten-fold cross-validation
// of shuffled pairs; their score is the mean of the folds. Pairs with a node that
// has no vector are left out.
//
// Errors: fewer than ten pairs with vectors of either kind, a cancelled context.
func Links(ctx context.Context, t *embedding.Table, dataset string, links []Link, seed uint64) ([]Result, error) {
	var cosines []float64
	var answers []answer
	x := newFeatures(t.Dim)
	edges := 0
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(links)) {
		l := links[i]
		from, known1 := t.Index(l.From)
		to, known2 := t.Index(l.To)
		if !known1 || !known2 {
			continue
		}
		a, b := t.Vector(from), t.Vector(to)
		cosines = append(cosines, cosine(a, b))
		hadamard := make([]float32, t.Dim)
		for k := range hadamard {
			hadamard[k] = a[k] * b[k]
		}
		answers = append(answers, answer{uint32(len(answers)), l.Edge})
		x.add(hadamard)
		if l.Edge {
			edges++
		}
	}
	if edges < linkFolds || len(answers)-edges < linkFolds {
		return nil, fmt.Errorf("links: of %d pairs %d with an edge and %d without have vectors; at least %d of each are needed",
			len(links), edges, len(answers)-edges, linkFolds)
	}
	aucs, f1s := make([]float64, linkFolds), make([]float64, linkFolds)
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), linkFolds, func(fold int) { aucs[fold], f1s[fold] = linkFold(x, answers, fold) })
	if err != nil {
		return nil, err
	}
	result := func(metric string, scores ...float64) Result {
		mean, deviation := meanDeviation(scores)
		return Result{
			Task: TaskLinks, Dataset: dataset, Metric: metric, Score: Score(mean), Deviation: Score(deviation),
			Found: len(answers), Total: len(links),
		}
	}
	return []Result{
		result(MetricCosineAUC, auc(cosines, answers)),
		result(MetricHadamardAUC, aucs...),
		result(MetricHadamardF1, f1s...),
	}, nil
}

// linkFold learns from nine tenths of the examples and scores the others.
func linkFold(x *features, answers []answer, fold int) (area, microF1 float64) {
	class := make([]int, len(answers))
	for i, a := range answers {
		if a.positive {
			class[i] = 1
		}
	}
	var learn, find []answer
	for i, f := range stratify(class, linkFolds) {
		if f == fold {
			find = append(find, answers[i])
		} else {
			learn = append(learn, answers[i])
		}
	}
	w := fitLogistic(x, learn, false, nil)
	logits, right := make([]float64, len(find)), 0
	for i, a := range find {
		logits[i] = product(w, x.of(a.example))
		if (logits[i] > 0) == a.positive {
			right++
		}
	}
	// With one right class for each example, micro F1 is the share of right answers.
	return auc(logits, find), float64(right) / float64(len(find))
}

// auc returns the area under the ROC curve: the probability that a positive
// example has a higher score than a negative one, ties counting half.
func auc(scores []float64, answers []answer) float64 {
	sum, positive := 0.0, 0
	for i, rank := range ranks(scores) {
		if answers[i].positive {
			sum += rank
			positive++
		}
	}
	p, n := float64(positive), float64(len(answers)-positive)
	return (sum - p*(p+1)/2) / (p * n)
}
