package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

const (
	kMeansStarts = 10  // of which the best result is taken
	kMeansSteps  = 300 // at most; tens are usual
)

// KMeans divides points into clusters such that the sum of their squared
// distances to the clusters' means is small: Lloyd's algorithm from ten
// beginnings chosen by k-means++ (Arthur and Vassilvitskii 2007), scikit-learn's
// KMeans(n_init=10). There must be at least as many points as clusters. It
// returns the number of each point's cluster, the same for any number of
// processors. Errors: a cancelled context.
func KMeans(ctx context.Context, points [][]float64, clusters int, seed uint64) (cluster []int, err error) {
	runs := make([]*clustering, kMeansStarts)
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(runs), func(i int) {
		runs[i] = newClustering(points, clusters, rand.New(rand.NewPCG(seed, uint64(i))))
		for range kMeansSteps {
			if ctx.Err() != nil || !runs[i].step() {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	best := runs[0]
	for _, r := range runs {
		if r.inertia < best.inertia {
			best = r
		}
	}
	return best.cluster, nil
}

// A clustering is one run of Lloyd's algorithm.
type clustering struct {
	points  [][]float64
	squares []float64 // of the points' lengths
	centres []float64 // (clusters, N) row-major
	count   int       // of clusters

	cluster   []int     // of each point; -1 before the first step
	distances []float64 // squared, of each point to its centre
	inertia   float64   // their sum
}

// newClustering chooses the first centres among the points: one at random, then
// each with a probability in proportion to the squared distance to the nearest
// centre so far. Of several such draws it takes the one that helps most, as
// scikit-learn does.
func newClustering(points [][]float64, clusters int, random *rand.Rand) *clustering {
	c := &clustering{points: points, count: clusters, cluster: make([]int, len(points)), distances: make([]float64, len(points))}
	for i, p := range points {
		c.squares = append(c.squares, Dot(p, p))
		c.cluster[i] = -1
		c.distances[i] = math.Inf(1)
	}
	first := random.IntN(len(points))
	c.distances, _ = c.with(first)
	c.centres = append(c.centres, points[first]...)
	draws := 2 + int(math.Log(float64(clusters)))
	for range clusters - 1 {
		sums := make([]float64, len(points))
		sum := 0.0
		for i, d := range c.distances {
			sum += d
			sums[i] = sum
		}
		chosen, distances, least := 0, c.distances, math.Inf(1)
		for range draws {
			i := pick(sums, random.Float64()*sum)
			if candidate, inertia := c.with(i); inertia < least {
				chosen, distances, least = i, candidate, inertia
			}
		}
		c.distances = distances
		c.centres = append(c.centres, points[chosen]...)
	}
	return c
}

// with returns the distances to the nearest centre if point i were one, too, and
// their sum.
func (c *clustering) with(i int) (distances []float64, inertia float64) {
	distances = make([]float64, len(c.points))
	for k, p := range c.points {
		d := c.squares[k] + c.squares[i] - 2*Dot(p, c.points[i])
		distances[k] = max(0, min(c.distances[k], d))
		inertia += distances[k]
	}
	return distances, inertia
}

// pick returns the first number whose running sum is above level.
func pick(sums []float64, level float64) int {
	for i, s := range sums {
		if s > level {
			return i
		}
	}
	return len(sums) - 1
}

// step puts every point into the cluster with the nearest centre, then every
// centre into the middle of its points. It reports whether any point changed
// clusters.
func (c *clustering) step() bool {
	squares, dots := make([]float64, c.count), make([]float64, c.count)
	dim := len(c.points[0])
	for k := range squares {
		centre := c.centres[k*dim : (k+1)*dim]
		squares[k] = Dot(centre, centre)
	}
	changed := false
	c.inertia = 0
	for i, p := range c.points {
		Dots(dots, p, c.centres)
		best, least := 0, math.Inf(1)
		for k, s := range squares {
			if d := s - 2*dots[k]; d < least {
				best, least = k, d
			}
		}
		changed = changed || c.cluster[i] != best
		c.cluster[i] = best
		c.distances[i] = max(0, least+c.squares[i])
		c.inertia += c.distances[i]
	}
	if changed {
		c.moveCentres()
	}
	return changed
}

// moveCentres computes the means. A cluster that lost all its points gets the one
// that is farthest from its centre.
func (c *clustering) moveCentres() {
	dim := len(c.points[0])
	counts := make([]int, c.count)
	for _, k := range c.cluster {
		counts[k]++
	}
	for k := range counts {
		if counts[k] > 0 {
			continue
		}
		farthest := -1
		for i, d := range c.distances {
			if counts[c.cluster[i]] > 1 && (farthest < 0 || d > c.distances[farthest]) {
				farthest = i
			}
		}
		counts[c.cluster[farthest]]--
		c.cluster[farthest], c.distances[farthest], counts[k] = k, 0, 1
	}
	clear(c.centres)
	for i, k := range c.cluster {
		add(c.centres[k*dim:(k+1)*dim], 1/float64(counts[k]), c.points[i])
	}
}
