package wordmap

import (
	"context"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A neighbor is a point near to another one.
type neighbor struct {
	Point    int
	Distance float64 // squared
}

// affinities are the probabilities p_ij of t-SNE, symmetric and with the sum 1, as sparse
// rows.
type affinities struct {
	points  [][]int // of row i, rising
	weights [][]float64
}

// newAffinities gives each point a Gaussian over its neighbours, as wide as the perplexity
// asks, and makes the result symmetric: p_ij = (p_j|i + p_i|j) / 2n.
func newAffinities(ctx context.Context, threads int, near [][]neighbor, perplexity float64) (affinities, error) {
	n := len(near)
	own := make([][]float64, n)
	if err := parallel.Do(ctx, threads, n, func(i int) { own[i] = conditional(near[i], perplexity) }); err != nil {
		return affinities{}, err
	}
	type entry struct {
		point  int
		weight float64
	}
	rows := make([][]entry, n)
	for i := range near {
		for k, neighbor := range near[i] {
			p := own[i][k] / float64(2*n)
			rows[i] = append(rows[i], entry{neighbor.Point, p})
			rows[neighbor.Point] = append(rows[neighbor.Point], entry{i, p})
		}
	}
	a := affinities{make([][]int, n), make([][]float64, n)}
	err := parallel.Do(ctx, threads, n, func(i int) {
		slices.SortStableFunc(rows[i], func(x, y entry) int { return x.point - y.point })
		for _, e := range rows[i] {
			if last := len(a.points[i]) - 1; last >= 0 && a.points[i][last] == e.point {
				a.weights[i][last] += e.weight
			} else {
				a.points[i], a.weights[i] = append(a.points[i], e.point), append(a.weights[i], e.weight)
			}
		}
	})
	return a, err
}

// conditional returns p_j|i of the neighbours of a point: a Gaussian whose entropy is
// the logarithm of the perplexity, or as near as the neighbours allow.
func conditional(near []neighbor, perplexity float64) []float64 {
	p := make([]float64, len(near))
	if len(near) == 0 {
		return p
	}
	nearest := near[0].Distance
	for _, x := range near {
		nearest = min(nearest, x.Distance)
	}
	low, high := 1e-6, 1e12 // bounds of the precision
	for range 100 {
		precision := math.Sqrt(low * high)
		sum := 0.0
		for k, x := range near {
			p[k] = math.Exp(-(x.Distance - nearest) * precision)
			sum += p[k]
		}
		entropy := 0.0
		for k := range p {
			p[k] /= sum
			if p[k] > 0 {
				entropy -= p[k] * math.Log(p[k])
			}
		}
		if entropy > math.Log(perplexity) {
			low = precision
		} else {
			high = precision
		}
	}
	return p
}
