package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/w2vcl/w2vcl/evaluate"
)

const (
	// bootstrapSamples give a standard error to about 2%.
	bootstrapSamples = 1000

	// leastItems is how many items a set needs to count for the mean score. The score of fewer is mostly chance.
	leastItems = 50
	// mostItems bounds the weight of a set in the mean score, which one set of 20,000 questions would decide alone.
	mostItems = 1000
)

// weigh sets what the sets count in the mean score, and why some do not. If none could, all that have a score do, and nothing is tested.
func (r *Result) weigh(f *Finished) {
	total := 0.0
	for i := range r.Sets {
		s := &r.Sets[i]
		switch {
		case !s.Main:
			continue
		case s.Fewest < leastItems:
			s.LeftOut = fmt.Sprintf("fewer than %d known items", leastItems)
		case f.contained[s.Dataset] != "":
			s.LeftOut = "part of " + f.contained[s.Dataset]
		case len(f.Items[0]) > 0 && !slices.ContainsFunc(f.Items[0], s.holds):
			s.LeftOut = "no single items to judge chance by"
		default:
			s.Weight = float64(min(s.Fewest, mostItems))
		}
		total += s.Weight
	}
	if r.Testable = total > 0; !r.Testable {
		for i := range r.Sets {
			s := &r.Sets[i]
			if s.LeftOut = ""; s.Main && r.scored(i) {
				s.Weight = float64(s.Fewest)
				total += s.Weight
			}
		}
	}
	for i := range r.Sets {
		r.Sets[i].Weight /= max(total, 1)
	}
}

// scored reports whether some run has a score on a set.
func (r *Result) scored(set int) bool {
	return slices.ContainsFunc(r.Runs, func(run *Record) bool { return run.Scores[set].Score.Valid() })
}

// holds reports whether items are those of the set.
func (s Set) holds(items evaluate.Items) bool {
	return items.Task == s.Task && items.Dataset == s.Dataset && items.Metric == s.Metric
}

// meanScore returns the mean of the scores of main sets by their weights: NaN if there is none, or if a set that counts has no
// score, such as one of similarity by vectors that are all alike.
func (r *Result) meanScore(scores []evaluate.Result) float64 {
	var sum, weights float64
	i := 0
	for _, set := range r.Sets {
		if !set.Main {
			continue
		}
		if set.Weight > 0 {
			sum += set.Weight * float64(scores[i].Score)
			weights += set.Weight
		}
		i++
	}
	return sum / weights
}

// A sample says how far the seeds of a variant differ in one score.
type sample struct {
	seeds, variance float64
	freedom         float64 // of the estimate of the variance
}

// samplesOf returns the samples of the variants. A variance of few seeds may be near zero by chance, so each is taken for at least the
// mean of all variants'; a variant with a single seed has this one. ok is false if all have a single seed.
func (r *Result) samplesOf(score func(run *Record) float64) (samples []sample, ok bool) {
	var squares, freedom float64
	for _, v := range r.Variants {
		var values []float64
		for _, run := range r.runsOf(v.Variant) {
			if x := score(run); !math.IsNaN(x) {
				values = append(values, x)
			}
		}
		s := sample{seeds: float64(len(values)), freedom: float64(len(values) - 1)}
		if s.freedom > 0 {
			s.variance = stat.Variance(values, nil)
			squares, freedom = squares+s.variance*s.freedom, freedom+s.freedom
		}
		samples = append(samples, s)
	}
	for i := range samples {
		if s, pooled := &samples[i], squares/max(freedom, 1); s.variance <= pooled {
			s.variance, s.freedom = pooled, max(freedom, 1)
		}
	}
	return samples, freedom > 0
}

// An effect is a difference between two variants with what chance does to it.
type effect struct {
	value float64
	items float64   // its variance over the choice of items
	pair  [2]sample // the seeds of both
}

// test returns the standard error of the effect, the half of its 95% interval, and the two-sided p by Welch's test, if both
// variants had so many seeds more. Variances over items and over seeds add up. Those of the seeds have few degrees of
// freedom, that of the items has many.
func (e effect) test(more float64) (half, p float64) {
	total, squares := e.items, 0.0
	for _, s := range e.pair {
		part := s.variance / (s.seeds + more)
		total += part
		squares += part * part / (s.freedom + more)
	}
	if total == 0 || math.IsNaN(total) {
		return math.NaN(), math.NaN()
	}
	const many = 1e6
	t := distuv.StudentsT{Sigma: 1, Nu: min(total*total/max(squares, 1e-300), many)}
	return t.Quantile(0.975) * math.Sqrt(total), 2 * t.Survival(math.Abs(e.value)/math.Sqrt(total))
}

// compareAll computes the differences of all pairs of variants, in the mean score and on each set with single items.
func (r *Result) compareAll(f *Finished, resamples int) error {
	sets := f.Items[0]
	bootstraps, errs := make([]*evaluate.Bootstrap, len(sets)), make([]error, len(sets))
	var wg sync.WaitGroup
	for i := range sets {
		wg.Go(func() { bootstraps[i], errs[i] = evaluate.NewBootstrap(f.itemsOf(i), resamples, uint64(i)) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	samples, several := r.samplesOf(func(run *Record) float64 { return r.meanScore(mainScores(run.Scores)) })
	r.SeveralSeeds = several
	for v := range r.Variants {
		for against := range v {
			d := r.difference(Difference{Task: taskMean, Dataset: meanName, tested: r.Testable}, v, against, samples)
			if !r.Testable { // else it is of the items that all know: see addSet
				d.value = float64(r.Variants[v].Score.Mean - r.Variants[against].Score.Mean)
			}
			r.Differences = append(r.Differences, d)
		}
	}
	for _, b := range bootstraps {
		r.addSet(b)
	}
	r.judge()
	return nil
}

// difference fills in the variants of a difference.
func (r *Result) difference(d Difference, v, against int, samples []sample) Difference {
	d.Variant, d.Against = r.Variants[v].Name, r.Variants[against].Name
	d.pair = [2]sample{samples[v], samples[against]}
	return d
}

// addSet appends the differences on a set, and adds them to those in the mean score, which come first.
func (r *Result) addSet(b *evaluate.Bootstrap) {
	k := slices.IndexFunc(r.Sets, func(s Set) bool { return s.holds(evaluate.Items{Task: b.Task, Dataset: b.Dataset, Metric: b.Metric}) })
	samples, _ := r.samplesOf(func(run *Record) float64 { return float64(run.Scores[k].Score) })
	weight, pair := r.Sets[k].Weight, 0
	for v := range r.Variants {
		for against := range v {
			d := Difference{Task: b.Task, Dataset: b.Dataset, Metric: b.Metric, Items: b.Items, tested: r.Testable && weight > 0}
			d = r.difference(d, v, against, samples)
			value, deviation := b.Error(v, against)
			d.value, d.items = value, deviation*deviation
			if mean := &r.Differences[pair]; weight > 0 && r.Testable { // without a score on a set there is none in the mean
				mean.value += weight * value
				mean.items += weight * weight * d.items
				mean.Items += b.Items
			}
			pair++
			r.Differences = append(r.Differences, d)
		}
	}
}

// judge fills in intervals and p-values. All tests are one family, in which a false alarm anywhere has a probability below
// the level (S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979).
func (r *Result) judge() {
	var family []*Difference
	for i := range r.Differences {
		d := &r.Differences[i]
		half, p := d.test(0)
		low, high := d.value-half, d.value+half
		d.Difference = evaluate.Interval{Value: evaluate.Score(d.value), Low: evaluate.Score(low), High: evaluate.Score(high)}
		d.P, d.Holm = evaluate.NoScore, evaluate.NoScore
		if d.tested && r.SeveralSeeds && !math.IsNaN(p) {
			d.P = evaluate.Score(p)
			family = append(family, d)
		}
	}
	r.Tests = len(family)
	holm(family)
}

// holm adjusts the p-values of a family.
func holm(family []*Difference) {
	slices.SortStableFunc(family, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	largest := evaluate.Score(0)
	for i, d := range family {
		largest = max(largest, min(1, d.P*evaluate.Score(len(family)-i)))
		d.Holm = largest
	}
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
