package compare

import (
	"cmp"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/evaluate"
)

// bootstrapSamples gives p-values down to 0.0004.
const bootstrapSamples = 5000

// bootstrap computes the intervals of all variants and the differences of all
// pairs of them, on each set with single items.
func (r *Result) bootstrap(f *Finished) error {
	sets := f.Items[0]
	bootstraps, errs := make([]*evaluate.Bootstrap, len(sets)), make([]error, len(sets))
	var wg sync.WaitGroup
	for i := range sets {
		wg.Go(func() { bootstraps[i], errs[i] = evaluate.NewBootstrap(f.itemsOf(i), bootstrapSamples, uint64(i)) })
	}
	wg.Wait()
	for i, b := range bootstraps {
		if errs[i] != nil {
			return errs[i]
		}
		r.addDifferences(b)
	}
	for v := range r.Variants {
		for _, set := range r.Sets {
			r.Variants[v].Intervals = append(r.Variants[v].Intervals, intervalOf(bootstraps, set, v))
		}
	}
	r.adjust()
	return nil
}

// itemsOf returns the items of one set, by variant and seed.
func (f *Finished) itemsOf(set int) [][]evaluate.Items {
	var groups [][]evaluate.Items
	for _, v := range f.rows() {
		var seeds []evaluate.Items
		for k, record := range f.Records {
			if record.Variant.Name == v.Name {
				seeds = append(seeds, f.Items[k][set])
			}
		}
		groups = append(groups, seeds)
	}
	return groups
}

// intervalOf returns the interval of a variant on a set. It has no value if the
// set has no single items.
func intervalOf(bootstraps []*evaluate.Bootstrap, set Set, variant int) evaluate.Interval {
	for _, b := range bootstraps {
		if b.Task == set.Task && b.Dataset == set.Dataset && b.Metric == set.Metric {
			return b.Score(variant)
		}
	}
	return evaluate.Interval{Value: evaluate.NoScore, Low: evaluate.NoScore, High: evaluate.NoScore}
}

func (r *Result) addDifferences(b *evaluate.Bootstrap) {
	for against := range r.Variants {
		for v := against + 1; v < len(r.Variants); v++ {
			d := Difference{
				Task: b.Task, Dataset: b.Dataset, Metric: b.Metric, Items: b.Items,
				Variant: r.Variants[v].Name, Against: r.Variants[against].Name, Holm: evaluate.NoScore,
			}
			d.Difference, d.P = b.Difference(v, against)
			r.Differences = append(r.Differences, d)
		}
	}
}

// adjust fills in Holm's p-values. The comparisons with the first variant, which a
// report shows, are one family; all others are another. A comparison without a p-value
// is no test, and in no family.
func (r *Result) adjust() {
	var shown, others []*Difference
	for i := range r.Differences {
		switch d := &r.Differences[i]; {
		case !d.P.Valid():
		case d.Against == r.Variants[0].Name:
			shown = append(shown, d)
		default:
			others = append(others, d)
		}
	}
	holm(shown)
	holm(others)
}

// holm adjusts the p-values of a family, so that the probability of a false alarm
// anywhere in it stays below the level (S. Holm, A Simple Sequentially Rejective
// Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979).
func holm(family []*Difference) {
	slices.SortStableFunc(family, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	largest := evaluate.Score(0)
	for i, d := range family {
		largest = max(largest, min(1, d.P*evaluate.Score(len(family)-i)))
		d.Holm = largest
	}
}
