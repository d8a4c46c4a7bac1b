package optim

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func random(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rand.NormFloat64())
	}
	return x
}

// reference is Adam, its row-wise form, AdaGrad, RMSProp and SGD in float64, straight from the
// papers: bias-corrected moments, no folding of constants.
func reference(c Options, rows, columns int, w, m, v []float64, g []float32, t int, rate float64) {
	b1, b2 := c.Beta1, c.Beta2
	for i := range rows {
		var square float64
		for j := range columns {
			x := float64(g[i*columns+j])
			square += x * x / float64(columns)
		}
		for j := range columns {
			at := i*columns + j
			x := float64(g[at])
			w[at] -= rate * c.WeightDecay * w[at]
			if c.Method == SGD {
				w[at] -= rate * x
				continue
			}
			if c.Method == AdaGrad || c.Method == RMSProp {
				if v[at] += x * x; c.Method == RMSProp {
					v[at] = b2*(v[at]-x*x) + (1-b2)*x*x
				}
				w[at] -= rate * x / (math.Sqrt(v[at]) + c.Epsilon)
				continue
			}
			m[at] = b1*m[at] + (1-b1)*x
			s := square
			if c.Method == Adam {
				s = x * x
			}
			v[at] = b2*v[at] + (1-b2)*s
			mHat, vHat := m[at]/(1-math.Pow(b1, float64(t))), v[at]/(1-math.Pow(b2, float64(t)))
			w[at] -= rate * mHat / (math.Sqrt(vHat) + c.Epsilon)
		}
	}
}

func TestAgainstReference(t *testing.T) {
	for _, d := range Methods() {
		method := d.Name
		for _, shape := range [][2]int{{1, 1}, {3, 1}, {1, 17}, {5, 100}} {
			rows, columns := shape[0], shape[1]
			c := Options{Method: method, Beta1: .9, Beta2: .99, Epsilon: 1e-6, WeightDecay: .1}
			o, err := New(c, rows, columns)
			if err != nil {
				t.Fatal(err)
			}
			w := random(rows * columns)
			want := make([]float64, len(w))
			for i := range w {
				want[i] = float64(w[i])
			}
			m, v := make([]float64, len(w)), make([]float64, len(w))
			for step := 1; step <= 20; step++ {
				g := random(len(w))
				rate := .01 / float64(step)
				reference(c, rows, columns, want, m, v, g, step, rate)
				o.Begin(step, rate)
				for i := range rows {
					o.UpdateRow(i, w[i*columns:(i+1)*columns], g[i*columns:(i+1)*columns])
				}
			}
			for i := range w {
				if math.Abs(float64(w[i])-want[i]) > 1e-5 {
					t.Fatalf("%s %v: w[%d] = %v, want %v", method, shape, i, w[i], want[i])
				}
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		options Options
		says    string
	}{
		{Options{}, "optimizer"},
		{Options{Method: "lion"}, "lion"},
		{Options{Method: Adam, Beta1: 1}, "beta1"},
		{Options{Method: Adam, Beta2: -1}, "beta2"},
		{Options{Method: Adam, Epsilon: math.NaN()}, "epsilon"},
		{Options{Method: SGD, WeightDecay: -1}, "weight decay"},
	} {
		if _, err := New(test.options, 1, 1); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: error %v, want one about %s", test.options, err, test.says)
		}
	}
	if _, err := New(Options{Method: Adam}, 0, 1); err == nil {
		t.Error("no error for a table without rows")
	}
}
