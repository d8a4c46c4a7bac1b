package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var _ gorgonia.Solver = (*Optimizer)(nil)

type parameter struct{ value, grad *tensor.Dense }

func (p parameter) Value() gorgonia.Value         { return p.value }
func (p parameter) Grad() (gorgonia.Value, error) { return p.grad, nil }

func random(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rand.NormFloat64())
	}
	return x
}

// reference is Adam, its row-wise form and SGD in float64, straight from the
// papers: bias-corrected moments, no folding of constants.
func reference(c Config, rows, columns int, w, m, v []float64, g []float32, t int, rate float64) {
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
	for _, method := range []Method{Adam, AdamRow, SGD} {
		for _, shape := range [][2]int{{1, 1}, {3, 1}, {1, 17}, {5, 100}} {
			rows, columns := shape[0], shape[1]
			c := Config{Method: method, Beta1: .9, Beta2: .99, Epsilon: 1e-6, WeightDecay: .1}
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

// The Solver and the row updater are the same optimizer.
func TestSolverEqualsRows(t *testing.T) {
	const rows, columns = 4, 19
	for _, method := range []Method{Adam, AdamRow, SGD} {
		c := Config{Method: method, WeightDecay: .01}
		a, _ := New(c, rows, columns)
		b, _ := New(c, rows, columns)
		w := random(rows * columns)
		p := parameter{
			tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(append([]float32(nil), w...))),
			tensor.New(tensor.WithShape(rows, columns), tensor.Of(tensor.Float32)),
		}
		b.Begin(0, .1)
		for step := 1; step <= 3; step++ {
			g := random(len(w))
			copy(p.grad.Float32s(), g)
			a.Begin(step, .1)
			for i := range rows {
				a.UpdateRow(i, w[i*columns:(i+1)*columns], g[i*columns:(i+1)*columns])
			}
			if err := b.Step([]gorgonia.ValueGrad{p}); err != nil {
				t.Fatal(err)
			}
		}
		for i, x := range p.value.Float32s() {
			if x != w[i] {
				t.Fatalf("%s: solver gives %v, rows %v", method, x, w[i])
			}
		}
	}
}

func TestSolverErrors(t *testing.T) {
	o, _ := New(Config{Method: SGD}, 2, 3)
	wrong := tensor.New(tensor.WithShape(2, 2), tensor.Of(tensor.Float32))
	right := tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Float32))
	for _, model := range [][]gorgonia.ValueGrad{nil, {parameter{wrong, right}}, {parameter{right, wrong}}} {
		if err := o.Step(model); err == nil {
			t.Errorf("no error for %v", model)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		config Config
		says   string
	}{
		{Config{}, "optimizer"},
		{Config{Method: "adagrad"}, "adagrad"},
		{Config{Method: Adam, Beta1: 1}, "beta1"},
		{Config{Method: Adam, Beta2: -1}, "beta2"},
		{Config{Method: Adam, Epsilon: math.NaN()}, "epsilon"},
		{Config{Method: SGD, WeightDecay: -1}, "weight decay"},
	} {
		if _, err := New(test.config, 1, 1); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: error %v, want one about %s", test.config, err, test.says)
		}
	}
	if _, err := New(Config{Method: Adam}, 0, 1); err == nil {
		t.Error("no error for a table without rows")
	}
}

func TestStateSize(t *testing.T) {
	for _, method := range []Method{Adam, AdamRow, SGD} {
		c := Config{Method: method}
		o, _ := New(c, 7, 5)
		var bytes int64
		for _, s := range o.State() {
			bytes += int64(4 * len(s.Data))
		}
		if bytes != c.Bytes(7, 5) {
			t.Errorf("%s: state has %d bytes, Bytes says %d", method, bytes, c.Bytes(7, 5))
		}
	}
}

func TestSchedule(t *testing.T) {
	s := Schedule{Start: .1, End: 0}
	for unit, want := range map[int]float64{0: .1, 5: .05, 10: 0} {
		if got := s.Rate(unit, 10); math.Abs(got-want) > 1e-15 {
			t.Errorf("rate of unit %d is %v, want %v", unit, got, want)
		}
	}
	if got := s.Rate(0, 0); got != .1 {
		t.Errorf("rate of no units is %v", got)
	}
}

// UpdateCombination is UpdateRow with the combined gradient, to the bit.
func TestUpdateCombination(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for _, method := range []Method{Adam, AdamRow, SGD} {
		for _, columns := range []int{1, 16, 50} {
			for _, terms := range []int{0, 1, 6, 9} {
				table, w := make([]float32, 4*columns), make([]float32, columns)
				coefficients, rows := make([]float32, terms), make([]uint32, terms)
				for _, x := range [][]float32{table, w, coefficients} {
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
				}
				for k := range rows {
					rows[k] = uint32(r.IntN(4))
				}
				var results [2][]float32
				for i := range results {
					o, err := New(Config{Method: method, WeightDecay: .1}, 3, columns)
					if err != nil {
						t.Fatal(err)
					}
					x, g := slices.Clone(w), make([]float32, columns)
					for step := range 3 {
						o.Begin(step+1, .01)
						if i == 0 {
							simd.Combine(g, coefficients, table, rows)
							o.UpdateRow(1, x, g)
						} else {
							o.UpdateCombination(1, x, coefficients, table, rows, g)
						}
					}
					results[i] = x
					for _, s := range o.State() {
						results[i] = append(results[i], s.Data...)
					}
				}
				if !slices.Equal(results[0], results[1]) {
					t.Fatalf("%s, %d columns, %d terms: %v, want %v", method, columns, terms, results[1], results[0])
				}
			}
		}
	}
}
