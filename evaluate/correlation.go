package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// Pearson returns the linear correlation of x and y, which have the same
// length, or NaN if there are fewer than two values or one side is constant.
func Pearson(x, y []float64) float64 {
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	meanX, meanY := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-meanX, y[i]-meanY
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	// Rounding must not lead outside of the range.
	return max(-1, min(1, xy/(math.Sqrt(xx)*math.Sqrt(yy))))
}

// Spearman returns the rank correlation of x and y: the linear correlation of
// their ranks, where equal values share the average of their ranks. NaN as for
// [Pearson].
func Spearman(x, y []float64) float64 {
	return Pearson(ranks(x), ranks(y))
}

// ranks returns the ranks of values from 1, equal ones the average.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && values[order[last+1]] == values[order[first]] {
			last++
		}
		for _, i := range order[first : last+1] {
			ranks[i] = float64(first+last)/2 + 1
		}
		first = last + 1
	}
	return ranks
}

func constant(values []float64) bool {
	return slices.Min(values) == slices.Max(values)
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
