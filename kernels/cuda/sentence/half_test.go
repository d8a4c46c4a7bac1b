//go:build gpu

package sentence

import (
	"fmt"
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
)

// halved are the choices of kernels with C, or both tables, in float16.
var halved = map[string]choice{"C": {half: true}, "W and C": {both: true}}

// In half precision a table has 11 binary digits and every step is rounded. So tables differ from
// those of the CPU by a part in some hundreds.
func TestFullW2VHalf(t *testing.T) {
	d := cudatest.Open(t)
	var tests []sequential.Options
	for _, dim := range cudatest.Dims() {
		tests = append(tests, sequential.Options{Dim: dim, Window: 5, Negatives: 5})
	}
	for _, k := range []int{1, 3, 7} {
		tests = append(tests, sequential.Options{Dim: 20, Window: 5, Negatives: k}, sequential.Options{Dim: 300, Window: 5, Negatives: k})
	}
	for _, w := range []int{1, 2, 3, 10, 14} {
		tests = append(tests, sequential.Options{Dim: 128, Window: w, Negatives: 5}, sequential.Options{Dim: 300, Window: w, Negatives: 5})
	}
	for _, c := range tests {
		for _, vocabulary := range []int{20, 400} {
			for name, choice := range halved {
				t.Run(fmt.Sprintf("%s/N=%d/W=%d/K=%d/V=%d", name, c.Dim, c.Window, c.Negatives, vocabulary), func(t *testing.T) {
					c.Seed, c.Epochs = cudatest.FreshSeed(t), 2
					reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 1500, vocabulary, 40), c, 1, choice)
					same(t, reference, f, 2e-2)
				})
			}
		}
	}
}

// Steps far below the last digit of a table are not lost: a thousand and more of them
// move it as far as on the CPU.
func TestFullW2VHalfSmallSteps(t *testing.T) {
	for name, choice := range halved {
		t.Run(name, func(t *testing.T) { testSmallSteps(t, choice) })
	}
}

func testSmallSteps(t *testing.T, choice choice) {
	t.Helper()
	d := cudatest.Open(t)
	c := sequential.Options{Dim: 128, Window: 5, Negatives: 5, Epochs: 4, Seed: cudatest.FreshSeed(t)}
	reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 20_000, 50, 40), c, 1, choice)
	words, contexts := reference.Tables()
	for i := range contexts { // no rounding on the way to the device
		contexts[i] = float(half(contexts[i]))
		if choice.both {
			words[i] = float(half(words[i]))
		}
	}
	before := tables{words, contexts}.clone()
	if err := f.SetTables(words, contexts); err != nil {
		t.Fatal(err)
	}
	const rate = 1e-5
	trainAll(t, f, rate)
	for unit := range reference.Units() {
		if _, err := reference.Advance(t.Context(), unit, rate); err != nil {
			t.Fatal(err)
		}
	}
	got := before.clone()
	if err := f.Tables(got[0], got[1]); err != nil {
		t.Fatal(err)
	}
	for k, after := range [][]float32{words, contexts} {
		var moved, norm, largest float64
		for i := range after {
			want := float64(after[i] - before[k][i])
			moved, norm = moved+want*float64(got[k][i]-before[k][i]), norm+want*want
			largest = max(largest, math.Abs(want))
		}
		t.Logf("table %d moved %.4f of the way; the longest way is %.1e", k, moved/norm, largest)
		if !(math.Abs(moved/norm-1) < .02) {
			t.Errorf("table %d moved %v of the way it should have", k, moved/norm)
		}
	}
}
