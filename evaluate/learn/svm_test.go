package learn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSVM: the loss, which is convex, is least at the weights; hingeLoss has the same.
func TestSVM(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, c := range []struct {
		examples, dim int
		scale         float64
	}{{2, 1, 1}, {30, 3, 1}, {300, 20, 0.1}, {400, 33, 3}} {
		x := NewExamples(c.dim)
		var labels []BinaryLabel
		for i := range c.examples {
			v := make([]float32, c.dim)
			for k := range v {
				v[k] = float32(c.scale * random.NormFloat64())
			}
			x.Add(v)
			labels = append(labels, BinaryLabel{uint32(i), i%2 == 0 || float64(v[0]) > c.scale})
		}
		loss := func(w []float64) (sum float64) {
			for _, v := range w {
				sum += v * v / 2
			}
			for _, l := range labels {
				y, score := -1.0, 0.0
				if l.Positive {
					y = 1
				}
				for k, v := range x.Of(l.Example) {
					score += w[k] * v
				}
				if short := 1 - y*score; short > 0 {
					sum += short * short
				}
			}
			return sum
		}
		w := SVM(x, labels)
		least := loss(w)
		for k := range w {
			for _, step := range []float64{-1e-3, 1e-3} {
				moved := append([]float64(nil), w...)
				moved[k] += step
				if near := loss(moved); near < least {
					t.Errorf("%+v: loss %v, but %v where weight %d is %v more", c, least, near, k, step)
				}
			}
		}
		if at := newHingeLoss(x, labels).at(w); math.Abs(at-least) > 1e-9*least {
			t.Errorf("%+v: loss %v, want %v", c, at, least)
		}
	}
}
