package wordmap

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// tsneOptions of [TSNE]. The zero value is good for some thousand words.
type tsneOptions struct {
	Perplexity float64 // about how many neighbours count; 0 is 30
	Iterations int     // 0 is 750
	Seed       uint64  // of the small noise that tells equal points apart
	Threads    int     // 0 is GOMAXPROCS; the result does not depend on it

	// Progress, if not nil, is called after each iteration.
	Progress func(done, total int)
}

// The schedule of van der Maaten (2014), with the step size of A. Belkina and others
// (Automated optimized parameters for T-distributed stochastic neighbor embedding,
// Nature Communications 10, 2019).
const (
	exaggeration        = 12.0
	exaggeratedFraction = 1.0 / 3 // of the iterations
	slowMomentum        = 0.5
	momentum            = 0.8
	smallestStep        = 50.0
	startDeviation      = 1e-4
	noiseFraction       = 1e-2 // of startDeviation
	defaultPerplexity   = 30
	defaultIterations   = 750
	pointsOfTask        = 64
)

// neighborCount is how many neighbours of each point TSNE wants at a perplexity (0: the
// default) among n points.
func neighborCount(perplexity float64, n int) int {
	return max(1, min(n-1, int(3*cmp.Or(perplexity, defaultPerplexity))))
}

// tsne places points in the plane so that those that are near to each other stay so.
// near[i] lists the neighbours of point i, see [neighbors]. start has a place for each
// point to begin from, such as those of [pca]; only its shape matters.
//
// Errors: places that become infinite, a cancelled context.
func tsne(ctx context.Context, near [][]neighbor, start []Place, o tsneOptions) ([]Place, error) {
	o.Perplexity = cmp.Or(o.Perplexity, defaultPerplexity)
	o.Iterations = cmp.Or(o.Iterations, defaultIterations)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	p, err := newAffinities(ctx, o.Threads, near, o.Perplexity)
	if err != nil {
		return nil, err
	}
	return descend(ctx, p, begin(start, o.Seed), o)
}

// begin scales the start to a small spread around its centre, with a little noise.
func begin(start []Place, seed uint64) []Place {
	var mean Place
	n := float64(len(start))
	for _, p := range start {
		mean.X, mean.Y = mean.X+p.X/n, mean.Y+p.Y/n
	}
	variance := 0.0
	for _, p := range start {
		variance += ((p.X-mean.X)*(p.X-mean.X) + (p.Y-mean.Y)*(p.Y-mean.Y)) / (2 * n)
	}
	scale := startDeviation / math.Sqrt(max(variance, 1e-300))
	if variance < 1e-300 {
		scale = 0
	}
	random := rand.New(rand.NewPCG(seed, 0))
	places := make([]Place, len(start))
	for i, p := range start {
		places[i] = Place{
			(p.X-mean.X)*scale + noiseFraction*startDeviation*random.NormFloat64(),
			(p.Y-mean.Y)*scale + noiseFraction*startDeviation*random.NormFloat64(),
		}
	}
	return places
}

// descend moves the places down the gradient, with momentum and a gain for each
// coordinate that grows while the direction stays.
func descend(ctx context.Context, p affinities, places []Place, o tsneOptions) ([]Place, error) {
	n := len(places)
	gradient, speed := make([]Place, n), make([]Place, n)
	gains := slices.Repeat([]Place{{1, 1}}, n)
	step := max(smallestStep, float64(n)/exaggeration)
	for t := range o.Iterations {
		factor, keep := 1.0, momentum
		if float64(t) < exaggeratedFraction*float64(o.Iterations) {
			factor, keep = exaggeration, slowMomentum
		}
		if err := gradientOf(ctx, p, places, factor, o.Threads, gradient); err != nil {
			return nil, err
		}
		var mean Place
		for i := range places {
			speed[i].X, gains[i].X = moved(speed[i].X, gains[i].X, gradient[i].X, keep, step)
			speed[i].Y, gains[i].Y = moved(speed[i].Y, gains[i].Y, gradient[i].Y, keep, step)
			places[i].X += speed[i].X
			places[i].Y += speed[i].Y
			mean.X, mean.Y = mean.X+places[i].X/float64(n), mean.Y+places[i].Y/float64(n)
		}
		for i := range places {
			places[i].X -= mean.X
			places[i].Y -= mean.Y
			if !places[i].finite() {
				return nil, errors.New("t-SNE diverged: places became infinite")
			}
		}
		if o.Progress != nil {
			o.Progress(t+1, o.Iterations)
		}
	}
	return places, nil
}

// moved returns the speed and the gain of a coordinate after a step.
func moved(speed, gain, gradient, keep, step float64) (float64, float64) {
	if (gradient > 0) == (speed > 0) { // the last step went up here
		gain = max(0.01, gain*0.8)
	} else {
		gain += 0.2
	}
	return keep*speed - step*gain*gradient, gain
}

// gradientOf computes the gradient of the Kullback–Leibler divergence, with affinities
// times a factor: dC/dy_i = 4 Σ_j (factor·p_ij - q_ij)(y_i - y_j)/(1+d²).
func gradientOf(ctx context.Context, p affinities, places []Place, factor float64, threads int, gradient []Place) error {
	n := len(places)
	tasks := (n + pointsOfTask - 1) / pointsOfTask
	repulsion, parts := make([]Place, n), make([]float64, tasks)
	err := parallel.Do(ctx, threads, tasks, func(task int) {
		for i := task * pointsOfTask; i < min(n, (task+1)*pointsOfTask); i++ {
			var z float64
			repulsion[i], z = repel(places, i)
			parts[task] += z
			var pull Place
			for k, j := range p.points[i] {
				dx, dy := places[i].X-places[j].X, places[i].Y-places[j].Y
				w := p.weights[i][k] / (1 + dx*dx + dy*dy)
				pull.X, pull.Y = pull.X+w*dx, pull.Y+w*dy
			}
			gradient[i] = Place{factor * pull.X, factor * pull.Y}
		}
	})
	z := 0.0
	for _, part := range parts { // in order, so that rounding is the same every time
		z += part
	}
	for i := range gradient {
		gradient[i] = Place{4 * (gradient[i].X - repulsion[i].X/max(z, 1e-300)), 4 * (gradient[i].Y - repulsion[i].Y/max(z, 1e-300))}
	}
	return err
}

// repel returns the force of all other places on place i, times Z, and i's part of Z:
// the sums over j of (y_i - y_j)/(1+d²)² and of 1/(1+d²).
func repel(places []Place, i int) (force Place, z float64) {
	at := places[i]
	for _, p := range places {
		dx, dy := at.X-p.X, at.Y-p.Y
		q := 1 / (1 + dx*dx + dy*dy)
		z += q
		force.X += q * q * dx
		force.Y += q * q * dy
	}
	return force, z - 1 // itself adds no force
}
