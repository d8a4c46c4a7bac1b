package learn

import (
	"math"
	"slices"
)

// A convexLoss is a function to minimise, twice differentiable. gradient and
// curvature hold for the w that at was last called with.
type convexLoss interface {
	at(w []float64) float64
	gradient(w []float64) []float64
	curvature(v []float64) []float64 // H·v, H the second derivative
}

// minimise moves w to the minimum of f by Newton's method, each step solved by
// conjugate gradients. It is deterministic and stores no matrix. curvature needs
// only a few right digits.
func minimise(f convexLoss, w []float64) {
	const steps, tolerance = 100, 1e-7
	loss := f.at(w)
	for range steps {
		g := f.gradient(w)
		size := math.Sqrt(Dot(g, g))
		if size <= tolerance {
			break
		}
		direction := solve(f, g, min(0.03, math.Sqrt(size))*size)
		slope := Dot(g, direction) // the loss falls along -direction
		if slope <= 1e-13*loss {
			add(w, -1, direction) // rounding hides how much better this is
			break
		}
		step, next := 1.0, loss
		for ; step > 1e-10; step /= 2 {
			add(w, -step, direction)
			if next = f.at(w); next <= loss-1e-4*step*slope {
				break
			}
			add(w, step, direction)
		}
		if next >= loss { // as good as rounding allows
			break
		}
		loss = next
	}
}

// solve returns d with H·d = g up to a residual.
func solve(f convexLoss, g []float64, residual float64) []float64 {
	d := make([]float64, len(g))
	r := slices.Clone(g)
	p := slices.Clone(g)
	rr := Dot(r, r)
	for range 2 * len(g) {
		if math.Sqrt(rr) <= residual {
			break
		}
		hp := f.curvature(p)
		step := rr / Dot(p, hp)
		add(d, step, p)
		add(r, -step, hp)
		before := rr
		rr = Dot(r, r)
		for i := range p {
			p[i] = r[i] + rr/before*p[i]
		}
	}
	return d
}

// Dot is the dot product, with four sums for speed.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// add adds s·b to a.
func add(a []float64, s float64, b []float64) {
	b = b[:len(a)]
	for i := range a {
		a[i] += s * b[i]
	}
}
