package learn

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

func TestScikitLearnClusters(t *testing.T) {
	var golden struct {
		Clusters struct {
			Points  [][]float64
			Inertia float64
			Usual   []float64
		}
	}
	evaluatetest.Golden(t, "../testdata/golden_learned.json", &golden)
	g := golden.Clusters
	cluster, err := KMeans(t.Context(), g.Points, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	inertia := inertiaOf(g.Points, cluster, 6)
	if worst := slices.Max(g.Usual); inertia > worst+1e-9 || inertia < g.Inertia-1e-9 {
		t.Errorf("inertia %v; scikit-learn's is %v at best, %v at worst", inertia, g.Inertia, worst)
	}
}

// inertiaOf is the sum of the squared distances to the means, by its definition.
func inertiaOf(points [][]float64, cluster []int, clusters int) float64 {
	sum := 0.0
	for k := range clusters {
		mean, n := make([]float64, len(points[0])), 0.0
		for i, p := range points {
			if cluster[i] == k {
				add(mean, 1, p)
				n++
			}
		}
		for i, p := range points {
			if cluster[i] == k {
				for j := range p {
					sum += (p[j] - mean[j]/n) * (p[j] - mean[j]/n)
				}
			}
		}
	}
	return sum
}

// TestKMeans: each point is in the cluster of the nearest mean, no cluster is
// empty, and the number of processors changes nothing; also where many points
// are the same one.
func TestKMeans(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ points, dim, clusters, different int }{
		{2, 1, 2, 2}, {5, 3, 5, 5}, {60, 4, 7, 60}, {40, 2, 6, 9}, {30, 3, 1, 30},
	} {
		var points [][]float64
		for i := range c.points {
			p := make([]float64, c.dim)
			for k := range p {
				p[k] = random.NormFloat64()
			}
			if i >= c.different {
				p = points[i%c.different]
			}
			points = append(points, p)
		}
		cluster, err := KMeans(t.Context(), points, c.clusters, 3)
		if err != nil {
			t.Fatal(err)
		}
		means, counts := make([]float64, c.clusters*c.dim), make([]float64, c.clusters)
		for i, k := range cluster {
			counts[k]++
			add(means[k*c.dim:(k+1)*c.dim], 1, points[i])
		}
		for k, n := range counts {
			if n == 0 {
				t.Errorf("%v: cluster %d is empty", c, k)
			}
			for i := range c.dim {
				means[k*c.dim+i] /= n
			}
		}
		distance := func(p []float64, k int) (sum float64) {
			for i, m := range means[k*c.dim : (k+1)*c.dim] {
				sum += (p[i] - m) * (p[i] - m)
			}
			return sum
		}
		for i, p := range points {
			for k := range c.clusters {
				if distance(p, k) < distance(p, cluster[i])-1e-9 {
					t.Errorf("%v: point %d is in cluster %d but nearer to %d", c, i, cluster[i], k)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := KMeans(ctx, [][]float64{{1}, {2}}, 2, 1); err == nil {
		t.Error("no error of a cancelled context")
	}
}
