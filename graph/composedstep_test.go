package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A composedCase is W2V-CL with rows that are means of parts.
type composedCase struct {
	stepCase
	own  bool
	seed uint64
}

func (x composedCase) options(threads, words int) Options {
	c := x.stepCase.options(threads)
	c.Composition = randomParts(rand.New(rand.NewPCG(x.seed, 3)), words, x.dim, x.own)
	return c
}

func composedCases(r *rand.Rand) (cases []composedCase) {
	for _, own := range []bool{true, false} {
		for _, x := range []stepCase{
			{v: 60, l: 20, mean: 1, dim: 16, own: 5},
			{v: 60, l: 20, mean: 3, tempering: .75, most: 20, dim: 7, own: 3, shared: 16},
			{v: 40, l: 20, mean: .4, tempering: 1, most: 20, dim: 33, own: 2, shared: 5},
		} {
			x.method = []optim.Method{optim.Adam, optim.AdamRow, optim.SGD}[r.IntN(3)]
			cases = append(cases, composedCase{x, own, r.Uint64()})
		}
	}
	return cases
}

// Any number of threads, a break and Reset give the same bits of rows that are means.
func TestComposedCL(t *testing.T) {
	r := freshRandom(t)
	for _, x := range composedCases(r) {
		m := x.matrix(t, r)
		first, _ := train(t, m, x.options(1, m.Rows()), 0, 6, nil)
		half, _ := train(t, m, x.options(3, m.Rows()), 0, 3, nil)
		second, _ := train(t, m, x.options(2, m.Rows()), 3, 6, copyState(half))
		for i, tensor := range first.State() {
			if !slices.Equal(tensor.Data, second.State()[i].Data) {
				t.Errorf("%+v: %s has other bits with more threads and a break", x, tensor.Name)
			}
		}
		for _, s := range []*CL{first, second} {
			if err := s.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		a, _ := first.Tables()
		checkComposed(t, first.options.Composition, matrixOf(a, x.dim))
		fresh := copyState(newCL(t, m, 6, x.options(1, m.Rows())))
		first.Reset()
		for i, tensor := range first.State() {
			if !slices.Equal(tensor.Data, fresh[i].data) {
				t.Errorf("%+v: after Reset, %s is not as it was", x, tensor.Name)
			}
		}
	}
}

// Words that have no parts are rows of a table, and so are words that have a part each and no row of their own: their first iteration
// is the same to the bit. (Then step 2 has met other rows.) A part without a gradient is left alone, a row of a table decays.
func TestComposedOfOne(t *testing.T) {
	r := freshRandom(t)
	x := stepCase{v: 80, l: 20, mean: 1, dim: 16, own: 5, method: optim.Adam}
	m := x.matrix(t, r)
	v, n := m.Rows(), x.dim
	plain, _ := train(t, m, x.options(2), 0, 1, nil)
	want, _ := plain.Tables()
	ofWords := &composed.Composition{Dim: n, Starts: make([]uint32, v+1), Parts: make([]float32, n), Own: make([]float32, v*n), Rate: 1}
	ofWords.Randomize = func(seed uint64) { trainer.Randomize(ofWords.Own, n, seed) }
	ofParts := &composed.Composition{Dim: n, Starts: []uint32{0}, Parts: make([]float32, v*n), Rate: 1}
	for word := range uint32(v) {
		ofParts.Symbols, ofParts.Starts = append(ofParts.Symbols, word), append(ofParts.Starts, word+1)
	}
	ofParts.Randomize = func(seed uint64) { trainer.Randomize(ofParts.Parts, n, seed) }
	for name, composition := range map[string]*composed.Composition{"own rows": ofWords, "parts": ofParts} {
		c := x.options(2)
		c.Composition = composition
		s, _ := train(t, m, c, 0, 1, nil)
		if err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		got, _ := s.Tables()
		start := make([]float32, v*n)
		trainer.Randomize(start, n, c.Seed)
		for word := range v {
			row := got[word*n:][:n]
			alone := name == "parts" && slices.Equal(row, start[word*n:][:n])
			if !alone && !slices.Equal(row, want[word*n:][:n]) {
				t.Errorf("%s: row %d differs from that of a table", name, word)
			}
		}
	}
}
