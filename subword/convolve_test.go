package subword

import (
	"math"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/tensor"
)

// A convolution of which only some filters have tables in memory at a time is the same, to the bit forward and to
// rounding backward, and does not depend on the threads either.
func TestGroups(t *testing.T) {
	r := newRand(t)
	alphabet, err := NewAlphabet(words, SpellingOptions{Gram: []int{1, 2, 3}, Limit: 9, MinCount: 1})
	if err != nil {
		t.Fatal(err)
	}
	spelt, filters := alphabet.Spell(words, 9), []int{50, 7, 33}
	in := []*tensor.Dense{randomMatrix(r, alphabet.Len(), 5)}
	for i, width := range []int{1, 2, 4} {
		in = append(in, randomMatrix(r, width*5+1, filters[i]))
	}
	o := Convolution{Widths: []int{1, 2, 4}, Activation: Tanh}
	run := func(most, threads int) (groups int, values []float32, gradients [][]float32) {
		o.most = most
		c := newConvolution(o, spelt, filters, alphabet.Len(), 5, team.New(threads))
		result, err := c.forward(in)
		if err != nil {
			t.Fatal(err)
		}
		g := result.Clone().(*tensor.Dense)
		for range 2 { // the second time in memory that was used
			all, err := c.backward(in, g)
			if err != nil {
				t.Fatal(err)
			}
			gradients = nil
			for _, x := range all {
				gradients = append(gradients, slices.Clone(x.Float32s()))
			}
		}
		return len(c.groups), result.Float32s(), gradients
	}
	groups, want, gradients := run(tableFloats, 1)
	if groups != 1 {
		t.Errorf("%d groups of a small alphabet", groups)
	}
	few := 40 * alphabet.Len()
	groups, got, some := run(few, 1)
	if groups < 3 {
		t.Errorf("%d groups", groups)
	}
	if !slices.Equal(got, want) {
		t.Error("groups change features")
	}
	for i, x := range gradients {
		largest := largestOf(x)
		for j := range x {
			if math.Abs(float64(some[i][j]-x[j])) > 1e-5*largest {
				t.Fatalf("groups change gradient %d, value %d, from %v to %v", i, j, x[j], some[i][j])
			}
		}
	}
	_, threaded, of := run(few, 3)
	if !slices.Equal(threaded, want) {
		t.Error("threads change features")
	}
	for i, x := range some {
		if !slices.Equal(of[i], x) {
			t.Errorf("threads change gradient %d", i)
		}
	}
}
