package evaluate

import "math"

// An example of logistic regression: features whose last value is the
// constant 1 that carries the intercept.
type example struct {
	features []float64
	positive bool
}

// fitLogistic returns the weights w that minimise
//
//	|w|²/2 + Σ_i weight_i·log(1 + exp(∓w·x_i))
//
// where the intercept, the last of w, is not in |w|² and both classes have the
// same total weight: scikit-learn's LogisticRegression(C=1,
// class_weight="balanced"). There must be examples of both classes. start is
// where to begin, nil for zero; the minimum is the same. Newton's method, each
// step solved by conjugate gradients: deterministic, no matrix is stored.
func fitLogistic(examples []example, start []float64) []float64 {
	const steps, tolerance = 100, 1e-7
	f := newLogisticLoss(examples)
	w := make([]float64, len(examples[0].features))
	copy(w, start)
	loss := f.at(w)
	for range steps {
		g := f.gradient(w)
		size := norm(g)
		if size <= tolerance {
			break
		}
		direction := f.solve(g, min(0.1, math.Sqrt(size))*size)
		slope := product(g, direction) // the loss falls along -direction
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
	return w
}

// logisticLoss is the function that fitLogistic minimises. at(w) also leaves
// the probabilities that gradient and solve use.
type logisticLoss struct {
	examples      []example
	weights       [2]float64 // of a negative and a positive example
	probabilities []float64
}

func newLogisticLoss(examples []example) *logisticLoss {
	positive := 0
	for _, e := range examples {
		if e.positive {
			positive++
		}
	}
	n := float64(len(examples))
	return &logisticLoss{
		examples:      examples,
		weights:       [2]float64{n / 2 / (n - float64(positive)), n / 2 / float64(positive)},
		probabilities: make([]float64, len(examples)),
	}
}

func (f *logisticLoss) weight(e example) float64 {
	if e.positive {
		return f.weights[1]
	}
	return f.weights[0]
}

// at returns the loss at w.
func (f *logisticLoss) at(w []float64) float64 {
	free := w[:len(w)-1]
	loss := product(free, free) / 2
	for i, e := range f.examples {
		z := product(w, e.features)
		f.probabilities[i] = sigmoid(z)
		if !e.positive {
			z = -z
		}
		// log(1+exp(-z)), for large -z too
		loss += f.weight(e) * (math.Log1p(math.Exp(-math.Abs(z))) + max(0, -z))
	}
	return loss
}

// gradient returns the gradient at the w of the last at(w).
func (f *logisticLoss) gradient(w []float64) []float64 {
	g := make([]float64, len(w))
	copy(g, w[:len(w)-1])
	for i, e := range f.examples {
		d := f.probabilities[i]
		if e.positive {
			d--
		}
		add(g, f.weight(e)*d, e.features)
	}
	return g
}

// solve returns d with H·d = g up to a residual, H the second derivative at
// the w of the last at(w).
func (f *logisticLoss) solve(g []float64, residual float64) []float64 {
	d := make([]float64, len(g))
	r := append([]float64(nil), g...)
	p := append([]float64(nil), g...)
	rr := product(r, r)
	for range 2 * len(g) {
		if math.Sqrt(rr) <= residual {
			break
		}
		hp := f.curvature(p)
		step := rr / product(p, hp)
		add(d, step, p)
		add(r, -step, hp)
		before := rr
		rr = product(r, r)
		for i := range p {
			p[i] = r[i] + rr/before*p[i]
		}
	}
	return d
}

// curvature returns H·v.
func (f *logisticLoss) curvature(v []float64) []float64 {
	h := make([]float64, len(v))
	copy(h, v[:len(v)-1])
	for i, e := range f.examples {
		p := f.probabilities[i]
		add(h, f.weight(e)*p*(1-p)*product(v, e.features), e.features)
	}
	return h
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func norm(v []float64) float64 { return math.Sqrt(product(v, v)) }

// product is the dot product, with four sums for speed.
func product(a, b []float64) float64 {
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
