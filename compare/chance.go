package compare

import (
	"cmp"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/evaluate"
)

// bootstrap computes the intervals of all variants and the differences of all
// pairs of them, on each set that has single items.
func (r *Result) bootstrap(f *Finished) error {
	sets := f.Items[0]
	boots, errs := make([]*evaluate.Bootstrap, len(sets)), make([]error, len(sets))
	var wg sync.WaitGroup
	for i := range sets {
		wg.Go(func() { boots[i], errs[i] = evaluate.NewBootstrap(f.groups(i), bootstrapSamples, uint64(i)) })
	}
	wg.Wait()
	for i, b := range boots {
		if errs[i] != nil {
			return errs[i]
		}
		r.addDifferences(b)
	}
	for v := range r.Variants {
		for _, set := range r.Sets {
			r.Variants[v].Intervals = append(r.Variants[v].Intervals, intervalOf(boots, set, v))
		}
	}
	r.adjust()
	return nil
}

// groups returns the items of set i, by variant and seed.
func (f *Finished) groups(i int) [][]evaluate.Items {
	var groups [][]evaluate.Items
	for _, v := range f.Options.Variants() {
		var tables []evaluate.Items
		for k, record := range f.Records {
			if record.Variant == v {
				tables = append(tables, f.Items[k][i])
			}
		}
		groups = append(groups, tables)
	}
	return groups
}

// intervalOf returns the interval of a variant on a set, without a value if
// there is none.
func intervalOf(boots []*evaluate.Bootstrap, set Set, variant int) evaluate.Interval {
	for _, b := range boots {
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
				Variant: r.Variants[v].Name, Against: r.Variants[against].Name,
			}
			d.Difference, d.P = b.Difference(v, against)
			r.Differences = append(r.Differences, d)
		}
	}
}

// adjust fills in Holm's p-values: of the comparisons with the first variant,
// which are what a report shows, together; of the others together.
func (r *Result) adjust() {
	var shown, others []*Difference
	for i := range r.Differences {
		d := &r.Differences[i]
		if d.Against == r.Variants[0].Name {
			shown = append(shown, d)
		} else {
			others = append(others, d)
		}
	}
	holm(shown)
	holm(others)
}

// holm adjusts p-values so that the chance of one false alarm or more among all
// of them stays below the level (Holm 1979).
func holm(family []*Difference) {
	slices.SortStableFunc(family, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	largest := 0.0
	for i, d := range family {
		largest = max(largest, min(1, d.P*float64(len(family)-i)))
		d.Holm = largest
	}
}
