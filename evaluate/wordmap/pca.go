package wordmap

import "math"

// A Place is a point of the plane.
type Place struct{ X, Y float64 }

func (p Place) finite() bool {
	return !math.IsNaN(p.X+p.Y) && !math.IsInf(p.X+p.Y, 0)
}

const (
	pcaRounds    = 300
	pcaPrecision = 1e-10 // of a direction, when the rounds end
)

// pca projects n points of the given dimension, one after the other, on the two
// directions in which they vary most. It finds them by power iteration on the
// centred points; the larger part of each direction is positive, so that equal points
// have equal places.
func pca(points []float32, dim int) []Place {
	n := len(points) / dim
	mean := make([]float64, dim)
	for i, x := range points {
		mean[i%dim] += float64(x) / float64(n)
	}
	first := principal(points, mean, nil)
	second := principal(points, mean, first)
	places := make([]Place, n)
	for i := range places {
		p := points[i*dim : (i+1)*dim]
		places[i] = Place{along(p, mean, first), along(p, mean, second)}
	}
	return places
}

// along returns the coordinate of a point on a direction through the mean.
func along(p []float32, mean, direction []float64) float64 {
	sum := 0.0
	for k, x := range p {
		sum += (float64(x) - mean[k]) * direction[k]
	}
	return sum
}

// principal returns the direction of the largest variance, at right angles to another
// one that may be nil.
func principal(points []float32, mean, other []float64) []float64 {
	dim := len(mean)
	direction := make([]float64, dim)
	for k := range direction {
		direction[k] = 1 + 0.5*math.Sin(float64(3*k+1)) // no special direction, always the same
	}
	unit(direction, other)
	next := make([]float64, dim)
	for range pcaRounds {
		clear(next)
		for i := 0; i < len(points); i += dim {
			p := points[i : i+dim]
			a := along(p, mean, direction)
			for k, x := range p {
				next[k] += a * (float64(x) - mean[k])
			}
		}
		if !unit(next, other) {
			break // the points do not vary
		}
		change := 0.0
		for k := range next {
			change = max(change, math.Abs(next[k]-direction[k]))
		}
		direction, next = next, direction
		if change < pcaPrecision {
			break
		}
	}
	largest := 0
	for k, x := range direction {
		if math.Abs(x) > math.Abs(direction[largest]) {
			largest = k
		}
	}
	if direction[largest] < 0 {
		for k := range direction {
			direction[k] = -direction[k]
		}
	}
	return direction
}

// unit takes the part along other out of v and scales v to length 1. It returns false
// if nothing is left.
func unit(v, other []float64) bool {
	dot := 0.0
	for k := range other {
		dot += v[k] * other[k]
	}
	sum := 0.0
	for k := range v {
		if other != nil {
			v[k] -= dot * other[k]
		}
		sum += v[k] * v[k]
	}
	if sum < 1e-300 {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for k := range v {
		v[k] *= scale
	}
	return true
}
