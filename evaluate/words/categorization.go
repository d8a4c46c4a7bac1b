package words

import (
	"context"
	"math"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/learn"
)

// categorization groups the words of a set by their unit vectors into as many
// clusters as there are categories, and scores the clusters by their purity.
func categorization(ctx context.Context, l *evaluate.Lookup, set string, members []dataset.Member) ([]evaluate.Result, error) {
	var points [][]float64
	var category []int
	numbers := make(map[string]int)
	for _, m := range members {
		row, ok := l.Row(m.Word)
		if !ok {
			continue
		}
		number, ok := numbers[m.Category]
		if !ok {
			number = len(numbers)
			numbers[m.Category] = number
		}
		points, category = append(points, unitVector(l.Table.Vector(row))), append(category, number)
	}
	score := evaluate.NoScore
	if len(numbers) > 1 {
		cluster, err := learn.KMeans(ctx, points, len(numbers), 1)
		if err != nil {
			return nil, err
		}
		score = purity(cluster, category)
	}
	return []evaluate.Result{newResult(evaluate.TaskCategorization, set, evaluate.MetricPurity, score, len(points), len(members))}, nil
}

// unitVector returns v at length 1.
func unitVector(v []float32) []float64 {
	u := make([]float64, len(v))
	for k, x := range v {
		u[k] = float64(x)
	}
	if size := math.Sqrt(learn.Dot(u, u)); size > 0 {
		for k := range u {
			u[k] /= size
		}
	}
	return u
}

// purity returns the share of items whose category is the most frequent one of
// their cluster.
func purity(cluster, category []int) evaluate.Score {
	type both struct{ cluster, category int }
	counts, most := make(map[both]int), make(map[int]int)
	for i, c := range cluster {
		b := both{c, category[i]}
		counts[b]++
		most[c] = max(most[c], counts[b])
	}
	right := 0
	for _, n := range most {
		right += n
	}
	return evaluate.Fraction(right, len(cluster))
}
