package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

func TestScikitLearnLogistic(t *testing.T) {
	var file struct {
		Logistic struct {
			Features [][]float64
			Positive int
			Weights  []float64
		}
	}
	evaluatetest.Golden(t, "../testdata/golden.json", &file)
	golden := file.Logistic
	x := NewExamples(len(golden.Features[0]) - 1)
	var labels []BinaryLabel
	for i, values := range golden.Features {
		var vector []float32
		for _, v := range values[:len(values)-1] {
			vector = append(vector, float32(v))
		}
		x.Add(vector)
		labels = append(labels, BinaryLabel{uint32(i), i < golden.Positive})
	}
	start := []float64{5, -5, 5, -5, 5, -5, 5, -5, 5}
	for _, from := range [][]float64{nil, start} {
		for k, w := range Logistic(x, labels, true, from) {
			evaluatetest.Near(t, "weight", w, golden.Weights[k], 1e-5)
		}
	}
}

// TestDerivatives compares gradient and curvature with differences of the loss
// and of the gradient.
func TestDerivatives(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, c := range []struct{ examples, dim, classes int }{{1, 1, 2}, {7, 3, 4}, {blockRows, 15, 3}, {blockRows + 1, 16, 7}, {3*blockRows + 5, 17, 6}} {
		x := NewExamples(c.dim)
		var answers []BinaryLabel
		var choices []ClassLabel
		for i := range c.examples {
			v := make([]float32, c.dim)
			for k := range v {
				v[k] = float32(random.NormFloat64())
			}
			x.Add(v)
			answers = append(answers, BinaryLabel{uint32(i), i%3 == 0})
			choices = append(choices, ClassLabel{uint32(i), random.IntN(c.classes)})
		}
		for name, f := range map[string]struct {
			loss   convexLoss
			length int
		}{
			"logistic": {newLogisticLoss(x, answers, false), x.dim},
			"softmax":  {newSoftmaxLoss(x, choices, c.classes), x.dim * c.classes},
			"svm":      {newHingeLoss(x, answers), x.dim},
		} {
			w, v := make([]float64, f.length), make([]float64, f.length)
			for k := range w {
				w[k], v[k] = random.NormFloat64(), random.NormFloat64()
			}
			f.loss.at(w)
			g, h := f.loss.gradient(w), f.loss.curvature(v)
			const step = 1e-5
			moved := func(by float64) []float64 {
				m := slices.Clone(w)
				add(m, by, v)
				return m
			}
			slope := (f.loss.at(moved(step)) - f.loss.at(moved(-step))) / (2 * step)
			evaluatetest.Near(t, fmt.Sprintf("%v %s: slope", c, name), Dot(g, v), slope, 1e-4*(1+math.Abs(slope)))
			f.loss.at(moved(step))
			forward := f.loss.gradient(moved(step))
			f.loss.at(moved(-step))
			back := f.loss.gradient(moved(-step))
			for k := range h {
				want := (forward[k] - back[k]) / (2 * step)
				evaluatetest.Near(t, fmt.Sprintf("%v %s: curvature %d", c, name, k), h[k], want, 1e-4*(1+math.Abs(want)))
			}
		}
	}
}
