//go:build gpu

package cl

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Both planes of a table give back every bit.
func TestSplit(t *testing.T) {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-38, math.MaxFloat32, float32(math.Inf(-1)), .1, 1.00390625, 65504.7}
	for bits := uint32(0); bits < math.MaxUint32-99_991; bits += 99_991 {
		values = append(values, math.Float32frombits(bits))
	}
	for _, x := range values {
		high, low := splitValue(x)
		if got := joinValue(high, low); math.Float32bits(got) != math.Float32bits(x) {
			t.Fatalf("%v becomes %v", x, got)
		}
		rounded := math.Float32frombits(uint32(high) << 16)
		if size := math.Abs(float64(x)); size > 1e-37 && size < 1e38 && math.Abs(float64(rounded-x)) > size/256 {
			t.Fatalf("%v is rounded to %v", x, rounded)
		}
	}
	for _, dim := range []int{1, 7, 8, 9, 33} {
		table := values[:dim*(1000/dim)]
		high, low := split(table, dim)
		got := make([]float32, len(table))
		join(got, high, low, dim, whole)
		if !slices.EqualFunc(got, table, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Errorf("dimension %d: the table has changed", dim)
		}
		moments := narrow(table, dim)
		widen(got, moments, dim)
		if again := narrow(got, dim); !slices.Equal(again, moments) {
			t.Errorf("dimension %d: moments change when they are sent and received", dim)
		}
	}
}

// halfReference computes in plain Go as the kernels of rounded.cuh do.
type halfReference struct {
	Options
	noise                 *corpus.Alias
	tables, first, second [2][]float32
	secondOfRow           [2][]float32
}

func newHalfReference(c Options, noise *corpus.Alias, words, contexts []float32) *halfReference {
	r := &halfReference{Options: c, noise: noise}
	for side, table := range [][]float32{words, contexts} {
		r.tables[side] = slices.Clone(table)
		r.first[side], r.second[side] = make([]float32, len(table)), make([]float32, len(table))
		r.secondOfRow[side] = make([]float32, c.Rows)
	}
	return r
}

func (r *halfReference) optimizer() cuda.Optimizer {
	return cuda.Optimizer{Method: methodOf(r.Method), Beta1: r.Beta1, Beta2: r.Beta2, Epsilon: r.Epsilon, WeightDecay: r.WeightDecay}
}

// step returns the numbers of the step of an iteration, counted from 0.
func (r *halfReference) step(iteration, side int, rate float64) cuda.StepNumbers {
	s := r.optimizer().Step(iteration+1, rate)
	s.Stream = uint32(2*iteration + side)
	return s
}

func bfloat16(x float32) float32 {
	high, _ := splitValue(x)
	return math.Float32frombits(uint32(high) << 16)
}

func mixed(x uint32) uint32 {
	x ^= x >> 15
	x *= 0x2c1b3c6d
	return x ^ x>>12
}

const golden = 0x9e3779b9

// atRandom rounds value number j of a row to bfloat16 with the random numbers of the row.
func atRandom(x float32, ofRow uint32, j int) float32 {
	random := mixed(ofRow + uint32(j/2)*golden) // of two values
	if j%2 == 1 {
		random >>= 16
	}
	return math.Float32frombits((math.Float32bits(x) + random&0xffff) &^ 0xffff)
}

// train runs both steps of an iteration and returns its loss.
func (r *halfReference) train(it iteration) (loss float64) {
	for side := range 2 {
		s := r.step(it.number, side, it.rate)
		for i := range r.Rows {
			gradient, rowLoss := r.gradient(s, side, i, it.columns[side][i])
			loss += rowLoss
			r.update(s, side, i, gradient)
		}
	}
	return loss
}

func (r *halfReference) gradient(s cuda.StepNumbers, side, i int, positive uint32) (g []float32, loss float64) {
	g = make([]float32, r.Dim)
	if positive == wordcontext.NoContext {
		return g, 0
	}
	left, right := r.tables[side][i*r.Dim:][:r.Dim], r.tables[1-side]
	for k := range 1 + r.Negatives {
		target := positive
		if k > 0 {
			n := uint64(i*r.Negatives + k - 1)
			target = r.noise.Draw(corpus.Philox(r.Seed, corpus.StreamNegatives.Sub(s.Stream), n/4)[n%4])
		}
		row := right[int(target)*r.Dim:][:r.Dim]
		score := 0.0
		for j, x := range row {
			score += float64(left[j]) * float64(bfloat16(x))
		}
		coefficient := 1 / (1 + math.Exp(-score))
		if k == 0 {
			coefficient--
			score = -score
		}
		loss += math.Log1p(math.Exp(score))
		for j, x := range row {
			g[j] += float32(coefficient * float64(bfloat16(x)))
		}
	}
	return g, loss
}

func (r *halfReference) update(s cuda.StepNumbers, side, i int, gradient []float32) {
	row := i * r.Dim
	w, m, v := r.tables[side][row:][:r.Dim], r.first[side][row:][:r.Dim], r.second[side][row:][:r.Dim]
	beta1, beta2, square := float32(r.Beta1), float32(r.Beta2), float32(0)
	for _, g := range gradient {
		square += g * g
	}
	ofRow := &r.secondOfRow[side][i]
	*ofRow = beta2**ofRow + float32(1-r.Beta2)*square/float32(r.Dim)
	rounding := corpus.Philox(r.Seed, corpus.StreamRounding.Sub(s.Stream), 0)[0]
	random := mixed(rounding + uint32(i)*golden)
	for j, g := range gradient {
		if r.Method == "sgd" {
			w[j] = s.Keep*w[j] - s.Rate*g
			continue
		}
		if method := optim.Method(r.Method); method == optim.AdaGrad || method == optim.RMSProp {
			second := v[j] + g*g
			if method == optim.RMSProp {
				second = beta2*v[j] + float32(1-r.Beta2)*g*g
			}
			v[j] = atRandom(second, random, j)
			w[j] = s.Keep*w[j] - s.Rate*g/(float32(math.Sqrt(float64(second)))+float32(r.Epsilon))
			continue
		}
		mean := beta1*m[j] + float32(1-r.Beta1)*g
		m[j] = bfloat16(mean)
		second := *ofRow
		if r.Method == "adam" {
			second = beta2*v[j] + float32(1-r.Beta2)*g*g
			v[j] = atRandom(second, random, j)
		}
		w[j] = s.Keep*w[j] - s.Scale*mean/(float32(math.Sqrt(float64(second)))+s.Epsilon)
	}
}

// With half precision, too, tables and moments equal those of plain Go. But another order of
// sums rounds some moments to the other side, and these differ more and more: run as C++ on
// the CPU, with errors like a GPU's, the kernels were within a third of the tolerances.
func TestCLHalf(t *testing.T) {
	d := cudatest.Open(t)
	type test struct {
		dim, negatives int
		method         optim.Method
	}
	var tests []test
	for _, dim := range append(cudatest.Dims(), 33, 200, 700) {
		tests = append(tests, test{dim, 5, optim.Adam}, test{dim, 3, optim.SGD}, test{dim, 5, optim.AdamRow}, test{dim, 5, optim.RMSProp}, test{dim, 5, optim.AdaGrad})
	}
	for _, k := range []int{1, 2, 7, 10, 40} {
		tests = append(tests, test{20, k, optim.Adam}, test{600, k, optim.Adam})
	}
	for _, x := range tests {
		t.Run(fmt.Sprintf("%s/N=%d/K=%d", x.method, x.dim, x.negatives), func(t *testing.T) {
			const series, count = 32, 40 // in the second call a graph and a rest; in more iterations rounding grows
			seed := cudatest.FreshSeed(t)
			text := loneWord + corpustest.Zipf(seed, 6000, 300, 40)
			start, k, m := newCase(t, d, text, x.dim, x.negatives, seed, optim.Options{Method: x.method, WeightDecay: .1, Epsilon: smooth}, true)
			k.series = series
			_, noise := corpustest.Read(t, text)
			words, contexts := start.Tables()
			reference := newHalfReference(k.options, noise, words, contexts)
			all := iterations(m, count, 1e-3)
			for _, part := range []struct {
				iterations      []iteration
				tables, moments float64 // tolerances
			}{{all[:2], 1.5e-3, 4e-3}, {all[2:], 4e-3, 8e-3}} {
				losses := train(t, k, part.iterations)
				for n, it := range part.iterations {
					if want := reference.train(it); math.Abs(losses[n]-want) > 1e-4*want {
						t.Fatalf("iteration %d: loss %v, want %v", it.number, losses[n], want)
					}
				}
				if x.method == optim.SGD {
					part.tables = 5e-4 // no moments; but a frozen value may round to the other side
				}
				reference.compare(t, k, part.tables, part.moments)
			}
		})
	}
}

// compare fails unless the state of training is the reference's within tolerances.
func (r *halfReference) compare(t *testing.T, k *Kernels, tables, moments float64) {
	t.Helper()
	for side, name := range []string{"words", "contexts"} {
		got := make([]float32, r.Rows*r.Dim)
		receive := func(tensor string) []float32 {
			if err := k.Receive(tensor, got); err != nil {
				t.Fatal(err)
			}
			return got
		}
		cudatest.Near(t, name, receive(name), r.tables[side], tables)
		m := methodOf(r.Method)
		if m.First {
			cudatest.Near(t, name+", first moments", receive(name+".first-moment"), r.first[side], moments)
		}
		if m.Second {
			cudatest.Near(t, name+", second moments", receive(name+".second-moment"), r.second[side], moments)
		}
	}
}

// Tables come back as they were sent, to the bit, and moments rounded once.
func TestCLHalfState(t *testing.T) {
	d := cudatest.Open(t)
	start, k, _ := newCase(t, d, corpustest.Zipf(3, 3000, 200, 40), 37, 5, 1, optim.Options{Method: optim.Adam}, true)
	sent, _ := start.Tables()
	for _, name := range []string{"words", "contexts", "words.first-moment", "contexts.second-moment"} {
		want := slices.Clone(sent)
		if name != "words" && name != "contexts" {
			for i, x := range want {
				want[i] = bfloat16(x)
			}
		}
		if err := k.Send(name, sent); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(sent))
		if err := k.Receive(name, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: received other values than sent", name)
		}
	}
}
