package learn

// SVM returns the weights w of the linear support vector machine that minimise
//
//	|w|²/2 + Σ_i max(0, 1 - y_i·w·x_i)²,   y = 1 for a positive example, else -1
//
// where the intercept, the last of w, is in |w|²: scikit-learn's LinearSVC(C=1), which is
// LIBLINEAR's.
func SVM(x *Examples, labels []BinaryLabel) []float64 {
	w := make([]float64, x.dim)
	minimise(newHingeLoss(x, labels), w)
	return w
}

// hingeLoss is the function that SVM minimises. at(w) also leaves how far each example is
// short of the margin, 0 if it is not; those short of it have a second derivative (Keerthi and
// DeCoste 2005).
type hingeLoss struct {
	x        *Examples
	labels   []BinaryLabel
	examples []uint32 // of the labels
	short    []float64
}

func newHingeLoss(x *Examples, labels []BinaryLabel) *hingeLoss {
	f := &hingeLoss{x: x, labels: labels, short: make([]float64, len(labels))}
	for _, l := range labels {
		f.examples = append(f.examples, l.Example)
	}
	return f
}

func (l BinaryLabel) sign() float64 {
	if l.Positive {
		return 1
	}
	return -1
}

// at returns the loss at w.
func (f *hingeLoss) at(w []float64) float64 {
	loss := Dot(w, w) / 2
	for i, l := range f.labels {
		f.short[i] = max(0, 1-l.sign()*Dot(w, f.x.Of(l.Example)))
		loss += f.short[i] * f.short[i]
	}
	return loss
}

// gradient returns the gradient at the w of the last at(w).
func (f *hingeLoss) gradient(w []float64) []float64 {
	g := append([]float64(nil), w...)
	for i, l := range f.labels {
		if f.short[i] > 0 {
			add(g, -2*l.sign()*f.short[i], f.x.Of(l.Example))
		}
	}
	return g
}

// curvature returns H·v.
func (f *hingeLoss) curvature(v []float64) []float64 {
	h := f.x.curvature(v, f.examples, func(first, _ int, scores []float32) {
		for j := range scores {
			if f.short[first+j] > 0 {
				scores[j] *= 2
			} else {
				scores[j] = 0
			}
		}
	})
	add(h, 1, v)
	return h
}
