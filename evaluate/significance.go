package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// An Interval is an estimate with the bounds that hold 95% of its bootstrap
// distribution.
type Interval struct {
	Value Score `json:"value"`
	Low   Score `json:"low"`
	High  Score `json:"high"`
}

// Excludes reports whether x is outside of the interval.
func (i Interval) Excludes(x float64) bool {
	return x < float64(i.Low) || x > float64(i.High)
}

// A Bootstrap is the distribution of the scores of several groups of tables on
// one data set over samples of its items: each sample draws as many items as
// there are, with replacement, the same ones for all groups. A group, such as
// the runs of one mode with several seeds, has the mean of its tables' scores.
//
// It says how far the scores depend on the choice of items; what the seeds do
// is not in it. Google's questions share words, so their scores vary more than
// their number tells.
type Bootstrap struct {
	Task, Dataset, Metric string
	Items                 int // that all tables know

	scores  []float64   // by group, on the items as they are
	samples [][]float64 // by group and sample
}

// NewBootstrap draws so many samples. groups[g] holds the items of the tables
// of group g, all of one data set. Items that a table lacks words for are left
// out for all. An error says that the groups do not fit together.
func NewBootstrap(groups [][]Items, samples int, seed uint64) (*Bootstrap, error) {
	if len(groups) == 0 || len(groups[0]) == 0 || samples < 1 {
		return nil, errors.New("nothing to compare")
	}
	first := groups[0][0]
	b := &Bootstrap{Task: first.Task, Dataset: first.Dataset, Metric: first.Metric}
	common, err := commonItems(groups)
	if err != nil {
		return nil, err
	}
	b.Items = len(common)
	scorers := make([][]scorer, len(groups))
	for g, tables := range groups {
		for _, t := range tables {
			scorers[g] = append(scorers[g], newScorer(t, common))
		}
	}
	weights := slices.Repeat([]int{1}, len(common))
	score := func(g int) float64 {
		var sum float64
		for _, s := range scorers[g] {
			sum += s.score(weights)
		}
		return sum / float64(len(scorers[g]))
	}
	b.samples = make([][]float64, len(groups))
	for g := range groups {
		b.scores = append(b.scores, score(g))
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range samples {
		clear(weights)
		for range weights {
			weights[random.IntN(len(weights))]++
		}
		for g := range groups {
			b.samples[g] = append(b.samples[g], score(g))
		}
	}
	return b, nil
}

// commonItems returns the numbers of the items that no table lacks.
func commonItems(groups [][]Items) ([]int, error) {
	first := groups[0][0]
	known := slices.Repeat([]bool{true}, len(first.Values))
	for _, tables := range groups {
		if len(tables) == 0 {
			return nil, errors.New("a group without tables")
		}
		for _, t := range tables {
			if t.Task != first.Task || t.Dataset != first.Dataset || t.Metric != first.Metric || len(t.Values) != len(first.Values) {
				return nil, fmt.Errorf("%s %s with %d items is not %s %s with %d items",
					t.Dataset, t.Metric, len(t.Values), first.Dataset, first.Metric, len(first.Values))
			}
			for i, v := range t.Values {
				known[i] = known[i] && !math.IsNaN(v)
			}
		}
	}
	var common []int
	for i, ok := range known {
		if ok {
			common = append(common, i)
		}
	}
	return common, nil
}

// Score returns the score of a group with its interval. It is NoScore if there
// is none.
func (b *Bootstrap) Score(group int) Interval {
	return interval(b.scores[group], slices.Clone(b.samples[group]))
}

// Difference returns the score of group g less that of group h, and p, the
// two-sided probability of a difference as large if there were none (with n
// samples never below 2/(n+1)).
func (b *Bootstrap) Difference(g, h int) (difference Interval, p float64) {
	n := len(b.samples[g])
	differences := make([]float64, n)
	below, above := 0, 0
	for i := range differences {
		d := b.samples[g][i] - b.samples[h][i]
		differences[i] = d
		if d <= 0 {
			below++
		}
		if d >= 0 {
			above++
		}
	}
	p = min(1, 2*float64(1+min(below, above))/float64(n+1))
	return interval(b.scores[g]-b.scores[h], differences), p
}

// interval sorts samples. Those without a score, such as a sample of one pair
// many times, say nothing and are left out.
func interval(value float64, samples []float64) Interval {
	samples = slices.DeleteFunc(samples, math.IsNaN)
	if len(samples) == 0 || math.IsNaN(value) {
		return Interval{NoScore, NoScore, NoScore}
	}
	slices.Sort(samples)
	return Interval{Score(value), Score(Quantile(samples, 0.025)), Score(Quantile(samples, 0.975))}
}

// Quantile interpolates the q-quantile of sorted values, at least one, as NumPy
// does by default.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}

// A scorer computes a table's score on items with weights: item i stands there
// weights[i] times.
type scorer interface{ score(weights []int) float64 }

func newScorer(t Items, common []int) scorer {
	pick := func(values []float64) []float64 {
		picked := make([]float64, len(common))
		for k, i := range common {
			picked[k] = values[i]
		}
		return picked
	}
	if t.Human == nil {
		return shareScorer(pick(t.Values))
	}
	return &rankScorer{newWeightedRanks(pick(t.Human)), newWeightedRanks(pick(t.Values))}
}

// shareScorer holds the outcomes of questions, 1 or 0.
type shareScorer []float64

func (s shareScorer) score(weights []int) float64 {
	var right float64
	count := 0
	for i, w := range weights {
		right += float64(w) * s[i]
		count += w
	}
	return right / float64(count) // NaN without items
}

// rankScorer computes Spearman's correlation.
type rankScorer struct{ human, model *weightedRanks }

func (s *rankScorer) score(weights []int) float64 {
	x, y := s.human.ranks(weights), s.model.ranks(weights)
	var n, sumX, sumY float64
	for i, w := range weights {
		n += float64(w)
		sumX += float64(w) * x[i]
		sumY += float64(w) * y[i]
	}
	meanX, meanY := sumX/n, sumY/n
	var xx, yy, xy float64
	for i, w := range weights {
		dx, dy := x[i]-meanX, y[i]-meanY
		xx += float64(w) * dx * dx
		yy += float64(w) * dy * dy
		xy += float64(w) * dx * dy
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return xy / math.Sqrt(xx*yy)
}

// weightedRanks ranks values again and again under other weights. The values
// are sorted once, so that a ranking is one walk.
type weightedRanks struct {
	values []float64
	order  []int
	out    []float64
}

func newWeightedRanks(values []float64) *weightedRanks {
	r := &weightedRanks{values: values, order: make([]int, len(values)), out: make([]float64, len(values))}
	for i := range r.order {
		r.order[i] = i
	}
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return r
}

// ranks returns what [ranks] would give each value if it stood there as often
// as its weight says. The slice is valid until the next call.
func (r *weightedRanks) ranks(weights []int) []float64 {
	before := 0
	for first := 0; first < len(r.order); {
		last, count := first, 0
		for last < len(r.order) && r.values[r.order[last]] == r.values[r.order[first]] {
			count += weights[r.order[last]]
			last++
		}
		for _, i := range r.order[first:last] {
			r.out[i] = float64(before) + float64(count+1)/2
		}
		before += count
		first = last
	}
	return r.out
}
