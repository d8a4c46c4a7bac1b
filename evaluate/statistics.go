package evaluate

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// Pearson returns the linear correlation of x and y, which have the same
// length, or NaN if there are fewer than two values or one side is constant.
func Pearson(x, y []float64) float64 {
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	return max(-1, min(1, stat.Correlation(x, y, nil))) // rounding must not leave the range
}

// Spearman returns the rank correlation of x and y: the linear correlation of
// their ranks, where equal values share the average of their ranks. NaN as for
// [Pearson].
func Spearman(x, y []float64) float64 {
	return Pearson(Ranks(x), Ranks(y))
}

// Ranks returns the ranks of values from 1, equal ones the average.
func Ranks(values []float64) []float64 {
	return newWeightedRanks(values).ranks(slices.Repeat([]int{1}, len(values)))
}

// weightedRanks ranks values again and again under other weights. The values
// are sorted once, so that a ranking is one walk.
type weightedRanks struct {
	values []float64
	order  []int
	out    []float64
}

func newWeightedRanks(values []float64) *weightedRanks {
	r := &weightedRanks{values: values, order: memory.Sequence[int](len(values)), out: make([]float64, len(values))}
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return r
}

// ranks returns the rank of each value if it stood there as often as its weight
// says. The slice is valid until the next call.
func (r *weightedRanks) ranks(weights []int) []float64 {
	before := 0
	for first := 0; first < len(r.order); {
		last, count := first, weights[r.order[first]]
		for last+1 < len(r.order) && r.values[r.order[last+1]] == r.values[r.order[first]] {
			last++
			count += weights[r.order[last]]
		}
		for _, i := range r.order[first : last+1] {
			r.out[i] = float64(before) + float64(count+1)/2
		}
		before += count
		first = last + 1
	}
	return r.out
}

func constant(values []float64) bool {
	return slices.Min(values) == slices.Max(values)
}

// Quantile interpolates the q-quantile of sorted values, at least one, as NumPy
// does by default.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}
