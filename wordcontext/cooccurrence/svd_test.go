package cooccurrence

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// sparse returns a random matrix of which a part of the entries is not 0: counts have a logarithm.
func sparse(rows int, part float64) *Matrix {
	m := &Matrix{contexts: make([][]uint32, rows), values: make([][]float32, rows)}
	for i := range rows {
		for j := range rows {
			if rand.Float64() < part {
				m.contexts[i], m.values[i] = append(m.contexts[i], uint32(j)), append(m.values[i], (1-rand.Float32())*float32(1+i%7))
			}
		}
	}
	return m
}

func train(t *testing.T, s trainer.Trainer, from int) {
	t.Helper()
	for unit := from; unit < s.Units(); unit++ {
		if _, err := s.Advance(t.Context(), unit, 0.05); err != nil {
			t.Fatal(err)
		}
	}
	if err := trainer.Refresh(s); err != nil {
		t.Fatal(err)
	}
}

func TestSVDEqualsGonum(t *testing.T) {
	for _, rows := range []int{1, 5, 16, 17, 100, 400} {
		for _, part := range []float64{0, 0.02, 0.3, 1} {
			m := sparse(rows, part)
			o := SVDOptions{Dim: min(rows, 1+rand.IntN(20)), Seed: rand.Uint64(), Threads: 2}
			s, err := NewSVD(m, o)
			if err != nil {
				t.Fatal(err)
			}
			train(t, s, 0)
			var exact mat.SVD
			d := mat.NewDense(rows, rows, nil)
			for i, row := range dense(m) {
				d.SetRow(i, row)
			}
			if !exact.Factorize(d, mat.SVDNone) {
				t.Fatal("gonum has no result")
			}
			want := exact.Values(nil)
			for k, got := range s.values {
				if math.Abs(got-want[k]) > 1e-4*want[0] {
					t.Errorf("%d rows, %v full: value %d is %v, want %v", rows, part, k, got, want[k])
				}
			}
			// W Cᵀ is the best approximation of its rank.
			w, c := s.Tables()
			rest, best := 0.0, 0.0
			for i := range rows {
				for j := range rows {
					x := d.At(i, j)
					for k := range o.Dim {
						x -= float64(w[i*o.Dim+k]) * float64(c[j*o.Dim+k])
					}
					rest += x * x
				}
			}
			for _, value := range want[o.Dim:] {
				best += value * value
			}
			if math.Abs(rest-best) > 1e-4*(want[0]*want[0]+1) {
				t.Errorf("%d rows, %v full, %+v: squared error %v, at best %v", rows, part, o, rest, best)
			}
		}
	}
}

// TestSVDLastValues: where singular values fall as slowly as those of texts, the last ones are exact,
// too. The matrix is diagonal, which Lanczos does not see, so its values are known.
func TestSVDLastValues(t *testing.T) {
	const rows, dim = 3000, 100
	m := &Matrix{contexts: make([][]uint32, rows), values: make([][]float32, rows)}
	for i := range rows {
		m.contexts[i], m.values[i] = []uint32{uint32(i)}, []float32{float32(500/float64(i+1) + 100 - float64(i+1)/100)}
	}
	s, err := NewSVD(m, SVDOptions{Dim: dim, Seed: 1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	train(t, s, 0)
	for k, got := range s.values {
		if want := float64(m.values[k][0]); math.Abs(got-want) > 1e-4*want {
			t.Errorf("value %d is %v, want %v", k+1, got, want)
		}
	}
}

// TestSVDGoesOn: threads do not matter, nor does an interruption.
func TestSVDGoesOn(t *testing.T) {
	m := sparse(300, 0.2)
	o := SVDOptions{Dim: 7, Seed: 3, Threads: 1}
	whole, err := NewSVD(m, o)
	if err != nil {
		t.Fatal(err)
	}
	train(t, whole, 0)
	o.Threads = 5
	goesOn(t, whole, func() trainer.Trainer {
		s, err := NewSVD(m, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// goesOn compares a trainer that trained all units with two that share them.
func goesOn(t *testing.T, whole trainer.Trainer, another func() trainer.Trainer) {
	t.Helper()
	first, second := another(), another()
	half := whole.Units() / 2
	for unit := range half {
		if _, err := first.Advance(t.Context(), unit, 0.05); err != nil {
			t.Fatal(err)
		}
	}
	state := first.State()
	for i, tensor := range second.State() {
		copy(tensor.Data, state[i].Data)
	}
	train(t, second, half)
	want := whole.State()
	for i, tensor := range second.State() {
		for k, x := range tensor.Data {
			if x != want[i].Data[k] {
				t.Fatalf("value %d of %s is %v, want %v", k, tensor.Name, x, want[i].Data[k])
			}
		}
	}
}
