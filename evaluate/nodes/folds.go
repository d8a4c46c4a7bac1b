package nodes

import (
	"context"
	"fmt"
	"runtime"

	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// foldPairs returns the scores of each fold of the cross-validation over pairs.
func (n *labelledNodes) foldPairs(ctx context.Context, folds int) (micro, macro []float64, err error) {
	if len(n.pairs) < folds {
		return nil, nil, fmt.Errorf("nodes: %d folds of %d pairs of a node and a label: take fewer folds", folds, len(n.pairs))
	}
	class := make([]int, len(n.pairs))
	for i, p := range n.pairs {
		class[i] = p.Class
	}
	fold := stratify(class, folds)
	micro, macro = make([]float64, folds), make([]float64, folds)
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), folds, func(f int) {
		c := n.scoreFold(fold, f)
		micro[f], macro[f] = c.micro(), c.macroSeen()
	})
	return micro, macro, err
}

// scoreFold learns from the pairs of all folds but one and finds the labels of the
// pairs in that one.
func (n *labelledNodes) scoreFold(fold []int, this int) *confusion {
	var training []learn.ClassLabel
	for i, p := range n.pairs {
		if fold[i] != this {
			training = append(training, p)
		}
	}
	w := learn.Softmax(n.x, training, n.classes)
	c := newConfusion(n.classes)
	scores := make([]float64, n.classes)
	for i, p := range n.pairs {
		if fold[i] == this {
			learn.Dots(scores, n.x.Of(p.Example), w)
			best := 0
			for k, score := range scores {
				if score > scores[best] {
					best = k
				}
			}
			c.count([]int{p.Class}, []int{best})
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
