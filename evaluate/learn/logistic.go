package learn

import "math"

// A BinaryLabel says whether an example is a positive one.
type BinaryLabel struct {
	Example  uint32 // its number
	Positive bool
}

// Logistic returns the weights w that minimise
//
//	|w|²/2 + Σ_i weight_i·log(1 + exp(∓w·x_i))
//
// where the intercept, the last of w, is not in |w|². Balanced, both classes have
// the same total weight; else every weight is 1: scikit-learn's
// LogisticRegression(C=1) with and without class_weight="balanced". There must
// be examples of both classes. The search begins at start, nil for zero; the
// minimum is the same.
func Logistic(x *Examples, labels []BinaryLabel, balanced bool, start []float64) []float64 {
	w := make([]float64, x.dim)
	copy(w, start)
	minimise(newLogisticLoss(x, labels, balanced), w)
	return w
}

// logisticLoss is the function that Logistic minimises. at(w) also leaves
// the probabilities that gradient and curvature use.
type logisticLoss struct {
	x             *Examples
	labels        []BinaryLabel
	examples      []uint32   // of the labels
	weights       [2]float64 // of a negative and a positive example
	probabilities []float64
}

func newLogisticLoss(x *Examples, labels []BinaryLabel, balanced bool) *logisticLoss {
	f := &logisticLoss{x: x, labels: labels, weights: [2]float64{1, 1}, probabilities: make([]float64, len(labels))}
	positive := 0.0
	for _, l := range labels {
		f.examples = append(f.examples, l.Example)
		if l.Positive {
			positive++
		}
	}
	if n := float64(len(labels)); balanced {
		f.weights = [2]float64{n / 2 / (n - positive), n / 2 / positive}
	}
	return f
}

func (f *logisticLoss) weight(l BinaryLabel) float64 {
	if l.Positive {
		return f.weights[1]
	}
	return f.weights[0]
}

// at returns the loss at w.
func (f *logisticLoss) at(w []float64) float64 {
	free := w[:len(w)-1]
	loss := Dot(free, free) / 2
	for i, l := range f.labels {
		z := Dot(w, f.x.Of(l.Example))
		f.probabilities[i] = Sigmoid(z)
		if l.Positive {
			z = -z
		}
		loss += f.weight(l) * Softplus(z)
	}
	return loss
}

// gradient returns the gradient at the w of the last at(w).
func (f *logisticLoss) gradient(w []float64) []float64 {
	g := make([]float64, len(w))
	copy(g, w[:len(w)-1])
	for i, l := range f.labels {
		d := f.probabilities[i]
		if l.Positive {
			d--
		}
		add(g, f.weight(l)*d, f.x.Of(l.Example))
	}
	return g
}

// curvature returns H·v.
func (f *logisticLoss) curvature(v []float64) []float64 {
	h := f.x.curvature(v, f.examples, func(first, _ int, scores []float32) {
		for j := range scores {
			p := f.probabilities[first+j]
			scores[j] *= float32(f.weight(f.labels[first+j]) * p * (1 - p))
		}
	})
	add(h[:len(h)-1], 1, v[:len(v)-1])
	return h
}

// Sigmoid is σ(z) = 1/(1+exp(-z)).
func Sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// Softplus is log(1+exp(z)) = -log σ(-z), for large z too.
func Softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
