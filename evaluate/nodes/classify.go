package nodes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Options say how nodes are classified. The zero value has the defaults below.
type Options struct {
	Ratios  []float64 // shares of the nodes to learn from; empty: 0.1, 0.5, 0.9
	Repeats int       // splits of each ratio; 0: 10
	Folds   int       // of the cross-validation over pairs; 0: none
	Seed    uint64
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Ratios) == 0 {
		o.Ratios = []float64{0.1, 0.5, 0.9}
	}
	o.Repeats = cmp.Or(o.Repeats, 10)
	for _, r := range o.Ratios {
		if !(r > 0 && r < 1) {
			return o, fmt.Errorf("nodes: the fraction %g to learn from is not between 0 and 1", r)
		}
	}
	if o.Repeats < 0 || o.Folds < 0 || o.Folds == 1 {
		return o, fmt.Errorf("nodes: %d repeats, %d folds", o.Repeats, o.Folds)
	}
	return o, nil
}

// ScoreLabels scores vectors of nodes by how well a linear classifier finds the
// nodes' labels with them: logistic regression, one label against the rest, C = 1,
// on the vectors as they are. Nodes with labels but without a vector are left out.
//
// The splits follow DeepWalk (Perozzi et al. 2014): for every ratio the nodes are
// shuffled Repeats times, and the classifier learns from the first share of them.
// "micro-f1" and "macro-f1" are told how many labels each node has, and take as
// many of the most probable labels, as DeepWalk does; "micro-f1-threshold" and
// "macro-f1-threshold" take the labels of probability above 0.5. The score is the
// mean of the splits, its deviation their standard deviation.
//
// With Folds there is also the protocol of PAR-Word2Vec's published evaluation:
// every pair of a node and one of its labels is an example of its own, with one
// right label, for multinomial logistic regression, in a stratified
// cross-validation in the order of the file. "pairs-micro-f1" and
// "pairs-macro-f1" are the means of the folds. A node with several labels is
// among both the training and the test examples, each time with another label, so
// these scores are low and cannot be compared with the others.
//
// Errors: options out of their range, fewer than two nodes with vectors, a
// cancelled context.
func ScoreLabels(ctx context.Context, t *embedding.Table, set string, l *Labels, o Options) ([]evaluate.Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	n := newLabelledNodes(t, l)
	if n.x.Len() < 2 {
		return nil, fmt.Errorf("nodes: only %d of the %d nodes with labels have vectors: were the vectors trained on this graph?", n.x.Len(), len(l.Nodes))
	}
	var results []evaluate.Result
	add := func(name, metric string, scores []float64) {
		mean, deviation := stat.PopMeanStdDev(scores, nil)
		results = append(results, evaluate.Result{
			Task: evaluate.TaskNodes, Dataset: set + "/" + name, Metric: metric,
			Score: evaluate.Score(mean), Deviation: evaluate.Score(deviation), Found: n.x.Len(), Total: len(l.Nodes),
		})
	}
	for _, ratio := range o.Ratios {
		scores, err := n.splits(ctx, ratio, o)
		if err != nil {
			return nil, err
		}
		for _, metric := range []string{microF1, macroF1, microThreshold, macroThreshold} {
			add(strconv.FormatFloat(100*ratio, 'g', 4, 64)+"%", metric, scores[metric])
		}
	}
	if o.Folds > 0 {
		micro, macro, err := n.foldPairs(ctx, o.Folds)
		if err != nil {
			return nil, err
		}
		name := strconv.Itoa(o.Folds) + "-fold"
		add(name, evaluate.PairsPrefix+microF1, micro)
		add(name, evaluate.PairsPrefix+macroF1, macro)
	}
	return results, nil
}

// The metrics of every split.
const (
	microF1        = evaluate.MetricMicroF1
	macroF1        = evaluate.MetricMacroF1
	microThreshold = microF1 + evaluate.ThresholdSuffix
	macroThreshold = macroF1 + evaluate.ThresholdSuffix
)

type labelledNodes struct {
	classes int
	x       *learn.Examples    // the nodes' vectors
	labels  [][]int            // by node
	pairs   []learn.ClassLabel // of node and label
}

func newLabelledNodes(t *embedding.Table, l *Labels) *labelledNodes {
	n := &labelledNodes{classes: len(l.Classes), x: learn.NewExamples(t.Dim)}
	index := make(map[int]int) // from the number in l to the number in n
	for i, name := range l.Nodes {
		row, ok := t.Index(name)
		if !ok {
			continue
		}
		index[i] = n.x.Len()
		n.x.Add(t.Vector(row))
		n.labels = append(n.labels, l.Of[i])
	}
	for _, p := range l.pairs {
		if i, ok := index[p[0]]; ok {
			n.pairs = append(n.pairs, learn.ClassLabel{Example: uint32(i), Class: p[1]})
		}
	}
	return n
}

// splits returns the scores of all random splits of a ratio, by metric.
func (n *labelledNodes) splits(ctx context.Context, ratio float64, o Options) (map[string][]float64, error) {
	scores := make(map[string][]float64)
	for repeat := range o.Repeats {
		order := rand.New(rand.NewPCG(o.Seed, uint64(repeat))).Perm(n.x.Len())
		cut := min(max(int(ratio*float64(len(order))), 1), len(order)-1)
		s, err := n.split(ctx, order[:cut], order[cut:])
		if err != nil {
			return nil, err
		}
		for metric, score := range s {
			scores[metric] = append(scores[metric], score)
		}
	}
	return scores, nil
}

// split learns from some nodes, finds the labels of others, and returns the
// scores by metric.
func (n *labelledNodes) split(ctx context.Context, training, test []int) (map[string]float64, error) {
	logits := make([][]float64, n.classes) // by class and test node
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), n.classes, func(class int) { logits[class] = n.classLogits(class, training, test) })
	if err != nil {
		return nil, err
	}
	known, threshold := newConfusion(n.classes), newConfusion(n.classes)
	ranked := make([]int, n.classes)
	for i, node := range test {
		for class := range ranked {
			ranked[class] = class
		}
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(logits[b][i], logits[a][i]) })
		probable := 0
		for probable < n.classes && logits[ranked[probable]][i] > 0 {
			probable++
		}
		right := n.labels[node]
		known.count(right, ranked[:len(right)])
		threshold.count(right, ranked[:probable])
	}
	return map[string]float64{
		microF1: known.micro(), macroF1: known.macro(),
		microThreshold: threshold.micro(), macroThreshold: threshold.macro(),
	}, nil
}

// classLogits learns one label and returns its logits for the test nodes. A label
// that all or none of the training nodes have is certain.
func (n *labelledNodes) classLogits(class int, training, test []int) []float64 {
	labels, positive := make([]learn.BinaryLabel, len(training)), 0
	for i, node := range training {
		labels[i] = learn.BinaryLabel{Example: uint32(node), Positive: slices.Contains(n.labels[node], class)}
		if labels[i].Positive {
			positive++
		}
	}
	if positive == 0 || positive == len(training) {
		return slices.Repeat([]float64{math.Inf(positive - 1)}, len(test))
	}
	start := make([]float64, n.x.Dim()) // the best intercept alone: labels are rare
	start[len(start)-1] = math.Log(float64(positive) / float64(len(training)-positive))
	w := learn.Logistic(n.x, labels, false, start)
	logits := make([]float64, len(test))
	for i, node := range test {
		logits[i] = learn.Dot(w, n.x.Of(uint32(node)))
	}
	return logits
}
