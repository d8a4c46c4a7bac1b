package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// NodeOptions say how nodes are classified. The zero value of each means what is
// said there.
type NodeOptions struct {
	Ratios  []float64 // shares of the nodes to learn from; empty: 0.1, 0.5, 0.9
	Repeats int       // splits of each ratio; 0: 10
	Folds   int       // of the cross-validation over pairs; 0: none
	Seed    uint64
}

func (o NodeOptions) withDefaults() (NodeOptions, error) {
	if len(o.Ratios) == 0 {
		o.Ratios = []float64{0.1, 0.5, 0.9}
	}
	if o.Repeats == 0 {
		o.Repeats = 10
	}
	for _, r := range o.Ratios {
		if !(r > 0 && r < 1) {
			return o, fmt.Errorf("nodes: the share %g to learn from is not between 0 and 1", r)
		}
	}
	if o.Repeats < 0 || o.Folds < 0 || o.Folds == 1 {
		return o, fmt.Errorf("nodes: %d repeats, %d folds", o.Repeats, o.Folds)
	}
	return o, nil
}

// Nodes scores vectors of nodes by how well a linear classifier finds the nodes'
// labels with them: logistic regression, one label against the rest, C = 1, on
// the vectors as they are. The nodes of the labels that have a vector take part.
//
// The splits are those of DeepWalk (Perozzi et al. 2014): for every ratio the
// nodes are shuffled Repeats times and the first share of them is learned from.
// "micro-f1" and "macro-f1" are told how many labels each node has, and take as
// many of the most probable, as DeepWalk does; "micro-f1-threshold" and
// "macro-f1-threshold" take the labels of probability above one half. The score
// is the mean of the splits, its deviation their standard deviation.
//
// With Folds there is also the protocol of PAR-Word2Vec's published evaluation:
// every pair of a node and one of its labels is an example of its own, with one
// right label, for multinomial logistic regression, in a stratified
// cross-validation in the order of the file. "pairs-micro-f1" and
// "pairs-macro-f1" are the means of the folds. A node with several labels comes
// to be among the examples to learn from and those to find, each time with
// another label, so these scores are low and cannot be compared with the others.
//
// Errors: options out of their range, fewer than two nodes with vectors, a
// cancelled context.
func Nodes(ctx context.Context, t *embedding.Table, dataset string, l *Labels, o NodeOptions) ([]Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	n := newNodeSet(t, l)
	if n.x.len() < 2 {
		return nil, fmt.Errorf("nodes: %d of the %d nodes with labels have vectors: were these trained on this graph?", n.x.len(), len(l.Nodes))
	}
	var results []Result
	add := func(name, metric string, scores []float64) {
		mean, deviation := meanDeviation(scores)
		results = append(results, Result{
			Task: TaskNodes, Dataset: dataset + "/" + name, Metric: metric,
			Score: Score(mean), Deviation: Score(deviation), Found: n.x.len(), Total: len(l.Nodes),
		})
	}
	for _, ratio := range o.Ratios {
		scores, err := n.splits(ctx, ratio, o)
		if err != nil {
			return nil, err
		}
		for _, metric := range []string{MetricMicroF1, MetricMacroF1, MetricMicroF1 + ThresholdSuffix, MetricMacroF1 + ThresholdSuffix} {
			add(strconv.FormatFloat(100*ratio, 'g', 4, 64)+"%", metric, scores[metric])
		}
	}
	if o.Folds > 0 {
		micro, macro, err := n.foldPairs(ctx, o.Folds)
		if err != nil {
			return nil, err
		}
		name := strconv.Itoa(o.Folds) + "-fold"
		add(name, PairsPrefix+MetricMicroF1, micro)
		add(name, PairsPrefix+MetricMacroF1, macro)
	}
	return results, nil
}

func meanDeviation(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	mean = total(values) / n
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / n)
}

// A nodeSet is the nodes with labels and vectors.
type nodeSet struct {
	classes int
	x       *features // of each node, its vector
	labels  [][]int   // of each node
	pairs   []choice  // node and label
}

func newNodeSet(t *embedding.Table, l *Labels) *nodeSet {
	n := &nodeSet{classes: len(l.Classes), x: newFeatures(t.Dim)}
	index := make(map[int]int) // from the number in l to that in n
	for i, name := range l.Nodes {
		row, ok := t.Index(name)
		if !ok {
			continue
		}
		index[i] = n.x.len()
		n.x.add(t.Vector(row))
		n.labels = append(n.labels, l.Of[i])
	}
	for _, p := range l.pairs {
		if i, ok := index[p[0]]; ok {
			n.pairs = append(n.pairs, choice{uint32(i), p[1]})
		}
	}
	return n
}

// splits returns the scores of all random splits of a ratio, by metric.
func (n *nodeSet) splits(ctx context.Context, ratio float64, o NodeOptions) (map[string][]float64, error) {
	scores := make(map[string][]float64)
	for repeat := range o.Repeats {
		order := rand.New(rand.NewPCG(o.Seed, uint64(repeat))).Perm(n.x.len())
		learned := min(max(int(ratio*float64(len(order))), 1), len(order)-1)
		s, err := n.split(ctx, order[:learned], order[learned:])
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
// score by metric.
func (n *nodeSet) split(ctx context.Context, learn, find []int) (map[string]float64, error) {
	logits := make([][]float64, n.classes) // by class and node of find
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), n.classes, func(class int) { logits[class] = n.classLogits(class, learn, find) })
	if err != nil {
		return nil, err
	}
	known, threshold := newConfusion(n.classes), newConfusion(n.classes)
	ranked := make([]int, n.classes)
	for i, node := range find {
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
		MetricMicroF1: known.micro(), MetricMacroF1: known.macro(),
		MetricMicroF1 + ThresholdSuffix: threshold.micro(), MetricMacroF1 + ThresholdSuffix: threshold.macro(),
	}, nil
}

// classLogits learns one label and returns the logits of the nodes to find.
// Where all or none of the nodes have it, it is certain.
func (n *nodeSet) classLogits(class int, learn, find []int) []float64 {
	answers, positive := make([]answer, len(learn)), 0
	for i, node := range learn {
		answers[i] = answer{uint32(node), slices.Contains(n.labels[node], class)}
		if answers[i].positive {
			positive++
		}
	}
	logits := make([]float64, len(find))
	if positive == 0 || positive == len(learn) {
		certain := math.Inf(positive - 1)
		for i := range logits {
			logits[i] = certain
		}
		return logits
	}
	start := make([]float64, n.x.dim) // the best intercept alone: labels are rare
	start[n.x.dim-1] = math.Log(float64(positive) / float64(len(learn)-positive))
	w := fitLogistic(n.x, answers, false, start)
	for i, node := range find {
		logits[i] = product(w, n.x.of(uint32(node)))
	}
	return logits
}

// foldPairs returns the scores of each fold of the cross-validation over pairs.
func (n *nodeSet) foldPairs(ctx context.Context, folds int) (micro, macro []float64, err error) {
	if len(n.pairs) < folds {
		return nil, nil, fmt.Errorf("nodes: %d folds of %d pairs of node and label", folds, len(n.pairs))
	}
	class := make([]int, len(n.pairs))
	for i, p := range n.pairs {
		class[i] = p.class
	}
	fold := stratify(class, folds)
	micro, macro = make([]float64, folds), make([]float64, folds)
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), folds, func(f int) {
		c := n.scoreFold(fold, f)
		micro[f], macro[f] = c.micro(), c.macroSeen()
	})
	return micro, macro, err
}

// scoreFold learns from the pairs of all folds but one and finds the labels of
// that one's.
func (n *nodeSet) scoreFold(fold []int, this int) *confusion {
	var learn []choice
	for i, p := range n.pairs {
		if fold[i] != this {
			learn = append(learn, p)
		}
	}
	w := fitSoftmax(n.x, learn, n.classes)
	c := newConfusion(n.classes)
	scores := make([]float64, n.classes)
	for i, p := range n.pairs {
		if fold[i] == this {
			products(scores, n.x.of(p.example), w)
			best := 0
			for k, score := range scores {
				if score > scores[best] {
					best = k
				}
			}
			c.count([]int{p.class}, []int{best})
		}
	}
	return c
}

// stratify deals examples to folds, each with its share of every class, in the
// order in which they come: scikit-learn's StratifiedKFold without shuffling.
// Classes are numbered as they appear.
func stratify(class []int, folds int) (fold []int) {
	var order []int // of classes, as they appear
	members := make(map[int][]int)
	for i, c := range class {
		if members[c] == nil {
			order = append(order, c)
		}
		members[c] = append(members[c], i)
	}
	fold = make([]int, len(class))
	place := 0
	for _, c := range order {
		// Were the examples sorted by class and dealt out one by one, each fold
		// would get so many of this class.
		share := make([]int, folds)
		for range members[c] {
			share[place%folds]++
			place++
		}
		rest := members[c]
		for f, count := range share {
			for _, i := range rest[:count] {
				fold[i] = f
			}
			rest = rest[count:]
		}
	}
	return fold
}
