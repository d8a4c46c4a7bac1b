package evaluate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// An Interval is an estimate with the bounds of the middle 95% of its bootstrap
// distribution.
type Interval struct {
	Value Score `json:"value"`
	Low   Score `json:"low"`
	High  Score `json:"high"`
}

// A Bootstrap is the distribution of the scores of several groups of tables on
// one data set when the items of the set are drawn anew: each resample draws as
// many items as there are, with replacement, the same ones for all groups. A
// group, such as the runs of one mode with several seeds, has the mean of its
// tables' scores.
//
// It says how far the scores depend on the choice of items, and nothing about the
// seeds. Google's questions share words, so their scores vary more than their
// number tells.
type Bootstrap struct {
	Task, Dataset, Metric string
	Items                 int // whose words all tables have

	scores    []float64   // by group, on the items as they are
	resamples [][]float64 // scores by group and resample
}

// NewBootstrap draws that many resamples. groups[g] holds the items of the tables
// of group g, all of one data set. Items are left out for all tables if one table
// lacks their words. An error says that the groups do not fit together.
func NewBootstrap(groups [][]Items, resamples int, seed uint64) (*Bootstrap, error) {
	if len(groups) == 0 || len(groups[0]) == 0 || resamples < 1 {
		return nil, errors.New("nothing to compare")
	}
	first := groups[0][0]
	b := &Bootstrap{Task: first.Task, Dataset: first.Dataset, Metric: first.Metric}
	known, err := itemsKnownToAll(groups)
	if err != nil {
		return nil, err
	}
	b.Items = len(known)
	scorers := make([][]scorer, len(groups))
	for g, tables := range groups {
		for _, t := range tables {
			scorers[g] = append(scorers[g], newScorer(t, known))
		}
	}
	weights := slices.Repeat([]int{1}, len(known))
	score := func(g int) float64 {
		var sum float64
		for _, s := range scorers[g] {
			sum += s.score(weights)
		}
		return sum / float64(len(scorers[g]))
	}
	b.resamples = make([][]float64, len(groups))
	for g := range groups {
		b.scores = append(b.scores, score(g))
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range resamples {
		clear(weights)
		for range weights {
			weights[random.IntN(len(weights))]++
		}
		for g := range groups {
			b.resamples[g] = append(b.resamples[g], score(g))
		}
	}
	return b, nil
}

// itemsKnownToAll returns the numbers of the items whose words every table has.
func itemsKnownToAll(groups [][]Items) ([]int, error) {
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
	var numbers []int
	for i, ok := range known {
		if ok {
			numbers = append(numbers, i)
		}
	}
	return numbers, nil
}

// MinItems is the smallest number of items that are drawn anew. Resamples of one
// item are all the same, and those of two pairs have no other correlation than the
// pairs themselves: they would call any difference certain.
const MinItems = 3

// Score returns the score of a group with its interval. All are NoScore if the
// group has no score, the bounds also if there are fewer than [MinItems] items.
func (b *Bootstrap) Score(group int) Interval {
	return b.interval(b.scores[group], b.defined(func(i int) float64 { return b.resamples[group][i] }))
}

// sameScore is how far equal scores may lie apart by rounding. Rank correlations of
// few pairs are often equal.
const sameScore = 1e-12

// Difference returns the score of group g minus the score of group h, and p, the
// two-sided probability of a difference this large between groups that do not
// differ (with n resamples never below 2/(n+1)). p is NoScore where the interval has
// no bounds: there is nothing to judge the difference by.
func (b *Bootstrap) Difference(g, h int) (difference Interval, p Score) {
	differences := b.defined(func(i int) float64 { return b.resamples[g][i] - b.resamples[h][i] })
	difference = b.interval(b.scores[g]-b.scores[h], differences)
	if !difference.Low.Valid() {
		return difference, NoScore
	}
	below, above := 0, 0
	for _, d := range differences {
		if d <= sameScore {
			below++
		}
		if d >= -sameScore {
			above++
		}
	}
	return difference, Score(min(1, 2*float64(1+min(below, above))/float64(len(differences)+1)))
}

// Error returns the score of group g minus the score of group h, and the standard error of this difference over the choice of
// items. The error is NaN where [Bootstrap.Difference] has no bounds.
func (b *Bootstrap) Error(g, h int) (difference, deviation float64) {
	differences := b.defined(func(i int) float64 { return b.resamples[g][i] - b.resamples[h][i] })
	difference = b.scores[g] - b.scores[h]
	if b.Items < MinItems || len(differences) < 2 || math.IsNaN(difference) {
		return difference, math.NaN()
	}
	return difference, stat.StdDev(differences, nil)
}

// defined returns a number of each resample, in order of size. Resamples without it,
// such as one pair many times, say nothing and are left out.
func (b *Bootstrap) defined(number func(resample int) float64) []float64 {
	var numbers []float64
	for i := range b.resamples[0] {
		if x := number(i); !math.IsNaN(x) {
			numbers = append(numbers, x)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// interval returns a number with the bounds that its sorted values in the resamples
// give.
func (b *Bootstrap) interval(value float64, resamples []float64) Interval {
	i := Interval{Score(value), NoScore, NoScore}
	if b.Items >= MinItems && len(resamples) > 0 && i.Value.Valid() {
		i.Low, i.High = Score(Quantile(resamples, 0.025)), Score(Quantile(resamples, 0.975))
	}
	return i
}

// A scorer computes a table's score on items with weights: item i counts
// weights[i] times.
type scorer interface{ score(weights []int) float64 }

// newScorer scores a table on the items of those numbers.
func newScorer(t Items, numbers []int) scorer {
	pick := func(values []float64) []float64 {
		picked := make([]float64, len(numbers))
		for k, i := range numbers {
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

// Items are the outcomes of a table on the single items of a data set, in the
// order of the file. The set's score follows from them, and a [Bootstrap] says
// how far it depends on chance.
type Items struct {
	Task    string
	Dataset string
	Metric  string // MetricSpearman, or the method of analogies

	// Values holds the cosine of each pair, or 1 for a right answer to a question
	// and 0 for a wrong one; NaN if a word is not in the table.
	Values []float64
	// Human holds the judgements of the pairs; nil for questions.
	Human []float64
}
