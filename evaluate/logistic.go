package evaluate

import "math"

// An answer says of one of the features whether it is a positive example.
type answer struct {
	example  uint32
	positive bool
}

// fitLogistic returns the weights w that minimise
//
//	|w|²/2 + Σ_i weight_i·log(1 + exp(∓w·x_i))
//
// where the intercept, the last of w, is not in |w|². Balanced, both classes have
// the same total weight; else every weight is 1: scikit-learn's
// LogisticRegression(C=1) with and without class_weight="balanced". There must
// be examples of both classes. start is where to begin, nil for zero; the minimum
// is the same.
func fitLogistic(x *features, answers []answer, balanced bool, start []float64) []float64 {
	w := make([]float64, x.dim)
	copy(w, start)
	minimise(newLogisticLoss(x, answers, balanced), w)
	return w
}

// logisticLoss is the function that fitLogistic minimises. at(w) also leaves
// the probabilities that gradient and curvature use.
type logisticLoss struct {
	x             *features
	answers       []answer
	examples      []uint32   // of the answers
	weights       [2]float64 // of a negative and a positive example
	probabilities []float64
}

func newLogisticLoss(x *features, answers []answer, balanced bool) *logisticLoss {
	f := &logisticLoss{x: x, answers: answers, weights: [2]float64{1, 1}, probabilities: make([]float64, len(answers))}
	positive := 0.0
	for _, a := range answers {
		f.examples = append(f.examples, a.example)
		if a.positive {
			positive++
		}
	}
	if n := float64(len(answers)); balanced {
		f.weights = [2]float64{n / 2 / (n - positive), n / 2 / positive}
	}
	return f
}

func (f *logisticLoss) weight(a answer) float64 {
	if a.positive {
		return f.weights[1]
	}
	return f.weights[0]
}

// at returns the loss at w.
func (f *logisticLoss) at(w []float64) float64 {
	free := w[:len(w)-1]
	loss := product(free, free) / 2
	for i, a := range f.answers {
		z := product(w, f.x.of(a.example))
		f.probabilities[i] = sigmoid(z)
		if a.positive {
			z = -z
		}
		loss += f.weight(a) * softplus(z)
	}
	return loss
}

// gradient returns the gradient at the w of the last at(w).
func (f *logisticLoss) gradient(w []float64) []float64 {
	g := make([]float64, len(w))
	copy(g, w[:len(w)-1])
	for i, a := range f.answers {
		d := f.probabilities[i]
		if a.positive {
			d--
		}
		add(g, f.weight(a)*d, f.x.of(a.example))
	}
	return g
}

// curvature returns H·v.
func (f *logisticLoss) curvature(v []float64) []float64 {
	h := f.x.curvature(v, f.examples, func(first, _ int, scores []float32) {
		for j := range scores {
			p := f.probabilities[first+j]
			scores[j] *= float32(f.weight(f.answers[first+j]) * p * (1 - p))
		}
	})
	add(h[:len(h)-1], 1, v[:len(v)-1])
	return h
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus is log(1+exp(z)), for large z too: -log σ(-z).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
