package learn

import (
	"math"
	"slices"
)

// A ClassLabel says which class an example belongs to.
type ClassLabel struct {
	Example uint32 // its number
	Class   int
}

// Softmax returns the weights W, (K, N) row-major, of multinomial logistic
// regression over K classes, which minimise
//
//	|W|²/2 - Σ_i log softmax(W·x_i)[class_i]
//
// where the intercepts, the last of each row, are not in |W|²: scikit-learn's
// LogisticRegression(C=1).
func Softmax(x *Examples, labels []ClassLabel, classes int) []float64 {
	w := make([]float64, classes*x.dim)
	minimise(newSoftmaxLoss(x, labels, classes), w)
	return w
}

// softmaxLoss is the function that Softmax minimises. at(W) also leaves the
// probabilities that gradient and curvature use.
type softmaxLoss struct {
	x             *Examples
	labels        []ClassLabel
	examples      []uint32 // of the labels
	classes       int
	probabilities []float64 // (labels, classes)
}

func newSoftmaxLoss(x *Examples, labels []ClassLabel, classes int) *softmaxLoss {
	f := &softmaxLoss{x: x, labels: labels, classes: classes, probabilities: make([]float64, len(labels)*classes)}
	for _, l := range labels {
		f.examples = append(f.examples, l.Example)
	}
	return f
}

func (f *softmaxLoss) of(i int) []float64 {
	return f.probabilities[i*f.classes : (i+1)*f.classes]
}

func (f *softmaxLoss) at(w []float64) float64 {
	loss := 0.0
	for k := range f.classes {
		free := w[k*f.x.dim : (k+1)*f.x.dim-1]
		loss += Dot(free, free) / 2
	}
	for i, l := range f.labels {
		p := f.of(i)
		Dots(p, f.x.Of(l.Example), w)
		loss -= p[l.Class] // a score still: softmax changes p to probabilities
		loss += softmax(p)
	}
	return loss
}

// softmax changes scores to probabilities and returns the logarithm of the sum
// of their exponentials.
func softmax(scores []float64) float64 {
	top, sum := slices.Max(scores), 0.0
	for k, s := range scores {
		scores[k] = math.Exp(s - top)
		sum += scores[k]
	}
	for k := range scores {
		scores[k] /= sum
	}
	return top + math.Log(sum)
}

// regularise adds the part of |W|²/2 to a derivative at w, or to its product with
// w.
func (f *softmaxLoss) regularise(g, w []float64) []float64 {
	for k := range f.classes {
		first, last := k*f.x.dim, (k+1)*f.x.dim-1
		add(g[first:last], 1, w[first:last])
	}
	return g
}

func (f *softmaxLoss) gradient(w []float64) []float64 {
	g := make([]float64, len(w))
	for i, l := range f.labels {
		x := f.x.Of(l.Example)
		for k, p := range f.of(i) {
			if k == l.Class {
				p--
			}
			add(g[k*len(x):(k+1)*len(x)], p, x)
		}
	}
	return f.regularise(g, w)
}

func (f *softmaxLoss) curvature(v []float64) []float64 {
	h := f.x.curvature(v, f.examples, func(first, n int, scores []float32) {
		for j := range n {
			p, mean := f.of(first+j), float32(0)
			for k := range p {
				mean += float32(p[k]) * scores[k*n+j]
			}
			for k := range p {
				scores[k*n+j] = float32(p[k]) * (scores[k*n+j] - mean)
			}
		}
	})
	return f.regularise(h, v)
}

// Dots writes the dot products of x with all rows:
//
//	for k := range dst { dst[k] = Dot(x, rows[k*len(x):][:len(x)]) }
//
// Four rows at a time share the loads of x.
func Dots(dst, x, rows []float64) {
	n, k := len(x), 0
	for ; k+4 <= len(dst); k += 4 {
		a, b := rows[k*n:(k+1)*n], rows[(k+1)*n:(k+2)*n]
		c, d := rows[(k+2)*n:(k+3)*n], rows[(k+3)*n:(k+4)*n]
		a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
		var sa, sb, sc, sd float64
		for i, v := range x {
			sa += v * a[i]
			sb += v * b[i]
			sc += v * c[i]
			sd += v * d[i]
		}
		dst[k], dst[k+1], dst[k+2], dst[k+3] = sa, sb, sc, sd
	}
	for ; k < len(dst); k++ {
		dst[k] = Dot(x, rows[k*n:(k+1)*n])
	}
}
