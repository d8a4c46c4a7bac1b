package wordmap

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// cloud draws groups of points around centres of their own.
func cloud(groups, each, dim int, seed uint64) (points []float32) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range groups {
		centre := make([]float64, dim)
		for k := range centre {
			centre[k] = 3 * random.NormFloat64()
		}
		for range each {
			for k := range centre {
				points = append(points, float32(centre[k]+0.3*random.NormFloat64()))
			}
		}
	}
	return points
}

// nearest finds neighbours by comparing all.
func nearest(points []float32, dim, k int) [][]neighbor {
	n := len(points) / dim
	near := make([][]neighbor, n)
	for i := range near {
		for j := range n {
			if i == j {
				continue
			}
			d := 0.0
			for c := range dim {
				x := float64(points[i*dim+c] - points[j*dim+c])
				d += x * x
			}
			near[i] = append(near[i], neighbor{j, d})
		}
		slices.SortFunc(near[i], func(a, b neighbor) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), a.Point-b.Point) })
		near[i] = near[i][:k]
	}
	return near
}

// TestPCA: points in a plane of three dimensions keep their distances, and the first
// direction has the larger variance.
func TestPCA(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var points []float32
	var want []Place
	for range 50 {
		a, b := 5*random.NormFloat64(), random.NormFloat64()
		points = append(points, float32(7+a*0.6), float32(a*0.8), float32(b-2))
		want = append(want, Place{a, b})
	}
	got := pca(points, 3)
	var x, y []float64
	for i := range got {
		x, y = append(x, got[i].X), append(y, got[i].Y)
		for j := range got {
			d := math.Hypot(got[i].X-got[j].X, got[i].Y-got[j].Y)
			if w := math.Hypot(want[i].X-want[j].X, want[i].Y-want[j].Y); math.Abs(d-w) > 1e-4 {
				t.Fatalf("distance %v, want %v", d, w)
			}
		}
	}
	if first, second := stat.Variance(x, nil), stat.Variance(y, nil); first < 4*second {
		t.Errorf("variances %v and %v", first, second)
	}
	for _, p := range pca([]float32{1, 2, 4}, 1) {
		if !p.finite() || p.Y != 0 {
			t.Errorf("one dimension gives %v", p)
		}
	}
}

// TestAffinities: rows are symmetric, sum to 1, and have the perplexity.
func TestAffinities(t *testing.T) {
	near := nearest(cloud(3, 20, 5, 2), 5, 30)
	for i := range near {
		entropy := 0.0
		for _, p := range conditional(near[i], 10) {
			if p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		if math.Abs(math.Exp(entropy)-10) > 1e-6 {
			t.Errorf("point %d has perplexity %v", i, math.Exp(entropy))
		}
	}
	p, err := newAffinities(t.Context(), 3, near, 10)
	if err != nil {
		t.Fatal(err)
	}
	sum, all := 0.0, map[[2]int]float64{}
	for i := range p.points {
		for k, j := range p.points[i] {
			sum += p.weights[i][k]
			all[[2]int{i, j}] = p.weights[i][k]
		}
	}
	for pair, w := range all {
		if math.Abs(all[[2]int{pair[1], pair[0]}]-w) > 1e-15 {
			t.Fatalf("p%v is %v, the other way %v", pair, w, all[[2]int{pair[1], pair[0]}])
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the sum is %v", sum)
	}
}

// places draws places; some are the same, some nearly.
func places(n int, seed uint64) []Place {
	random := rand.New(rand.NewPCG(seed, 2))
	list := make([]Place, n)
	for i := range list {
		list[i] = Place{5 * random.NormFloat64(), 5 * random.NormFloat64()}
		switch {
		case i > 0 && i%7 == 0:
			list[i] = list[i-1]
		case i > 0 && i%11 == 0:
			list[i] = Place{list[i-1].X + 1e-13, list[i-1].Y}
		}
	}
	return list
}

// divergence is t-SNE's cost, computed from all pairs, with affinities times a factor.
func divergence(p affinities, list []Place, factor float64) float64 {
	z := 0.0
	for i := range list {
		_, zi := repel(list, i)
		z += zi
	}
	cost := 0.0
	for i := range p.points {
		for k, j := range p.points[i] {
			w := factor * p.weights[i][k]
			d := (list[i].X-list[j].X)*(list[i].X-list[j].X) + (list[i].Y-list[j].Y)*(list[i].Y-list[j].Y)
			cost += w * math.Log(w*(1+d))
		}
	}
	return cost + math.Log(z) // Σp is 1 where the factor is
}

// TestGradient compares the gradient with differences of the cost.
func TestGradient(t *testing.T) {
	near := nearest(cloud(3, 8, 4, 3), 4, 12)
	p, err := newAffinities(t.Context(), 2, near, 4)
	if err != nil {
		t.Fatal(err)
	}
	list := places(len(near), 4)
	for i := range list { // differences need places that are not the same
		list[i].X += 0.01 * float64(i)
	}
	gradient := make([]Place, len(list))
	if err := gradientOf(t.Context(), p, list, 1, 2, gradient); err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	for i := range list {
		for axis, got := range []float64{gradient[i].X, gradient[i].Y} {
			moved := func(by float64) float64 {
				other := slices.Clone(list)
				if axis == 0 {
					other[i].X += by
				} else {
					other[i].Y += by
				}
				return divergence(p, other, 1)
			}
			if want := (moved(h) - moved(-h)) / (2 * h); math.Abs(got-want) > 1e-6 {
				t.Errorf("place %d, axis %d: %v, by differences %v", i, axis, got, want)
			}
		}
	}
}

// TestTSNE: groups come apart, the cost falls below that of PCA, and the places are the
// same for any number of threads and for every run of a seed.
func TestTSNE(t *testing.T) {
	const groups, each, dim = 5, 30, 10
	points := cloud(groups, each, dim, 5)
	near, start := nearest(points, dim, neighborCount(10, groups*each)), pca(points, dim)
	run := func(o tsneOptions) []Place {
		o.Perplexity, o.Iterations = 10, 300
		got, err := tsne(t.Context(), near, start, o)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := run(tsneOptions{Threads: 1, Seed: 1})
	for i := range got {
		best, at := math.Inf(1), 0
		for j := range got {
			if d := math.Hypot(got[i].X-got[j].X, got[i].Y-got[j].Y); j != i && d < best {
				best, at = d, j
			}
		}
		if i/each != at/each {
			t.Errorf("point %d of group %d is nearest to group %d", i, i/each, at/each)
		}
	}
	p, err := newAffinities(t.Context(), 1, near, 10)
	if err != nil {
		t.Fatal(err)
	}
	if before, after := divergence(p, start, 1), divergence(p, got, 1); after > before-0.5 {
		t.Errorf("divergence %v, of PCA %v", after, before)
	}
	if again := run(tsneOptions{Threads: 3, Seed: 1}); !slices.Equal(got, again) {
		t.Error("three threads give other places than one")
	}
	if other := run(tsneOptions{Threads: 3, Seed: 2}); slices.Equal(got, other) {
		t.Error("another seed gives the same places")
	}
}

// TestTSNEEdges: few points, equal points, and an end.
func TestTSNEEdges(t *testing.T) {
	for n := range 5 {
		points := make([]float32, 3*n) // all the same
		near := make([][]neighbor, n)
		if n > 1 {
			near = nearest(points, 3, neighborCount(2, n))
		}
		got, err := tsne(t.Context(), near, pca(points, 3), tsneOptions{Perplexity: 2, Iterations: 20})
		if err != nil || len(got) != n {
			t.Errorf("%d points: %v, %v", n, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tsne(ctx, [][]neighbor{{{1, 1}}, {{0, 1}}}, make([]Place, 2), tsneOptions{}); err == nil {
		t.Error("a cancelled context is no error")
	}
}
