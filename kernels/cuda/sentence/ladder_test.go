//go:build gpu

package sentence

import (
	"fmt"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence/ladder"
	"github.com/w2vcl/w2vcl/sequential"
)

// rungOf returns the kernel of a rung for windows of a radius.
func rungOf(name string, radius int) kernel {
	i := slices.IndexFunc(ladder.Rungs, func(r ladder.Rung) bool { return r.Name == name })
	r := ladder.Rungs[i]
	return kernel{ladder.Built, name, fmt.Sprintf("ladder_%s_%d", name, radius), r.Threads, r.Slot * slots(radius), false, 12}
}

// A few windows with every kind of kernel, for compute-sanitizer, which takes a
// thousand times as long.
func TestFullW2VShort(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []struct {
		dim, negatives int
		kernel         choice
	}{
		{128, 5, choice{}}, {300, 5, choice{}}, {500, 5, choice{}}, {300, 7, choice{}},
		{128, 5, choice{half: true}}, {128, 5, choice{rung: "register"}}, {128, 5, choice{rung: "ring"}},
		{128, 5, choice{rung: "warp"}}, {128, 5, choice{rung: "joint"}},
	} {
		t.Run(fmt.Sprintf("N=%d/K=%d/%+v", x.dim, x.negatives, x.kernel), func(t *testing.T) {
			c := sequential.Options{Dim: x.dim, Window: 5, Negatives: x.negatives, Epochs: 1, Seed: cudatest.FreshSeed(t)}
			reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 60, 20, 40), c, 2, x.kernel)
			words, _ := reference.Tables()
			before := slices.Clone(words)
			if _, pairs := trainAll(t, f, testRate); total(pairs) == 0 {
				t.Error("nothing was trained")
			}
			if err := f.Tables(words, slices.Clone(words)); err != nil {
				t.Fatal(err)
			}
			if slices.Equal(words, before) {
				t.Error("no word changed")
			}
		})
	}
}

// Every rung of the ladder gives the tables of the CPU.
func TestLadder(t *testing.T) {
	d := cudatest.Open(t)
	for _, rung := range ladder.Rungs {
		for _, window := range []int{5, 10} {
			for _, vocabulary := range []int{5, 400} {
				t.Run(fmt.Sprintf("%s/W=%d/V=%d", rung.Name, window, vocabulary), func(t *testing.T) {
					c := sequential.Options{Dim: ladder.Dim, Window: window, Negatives: ladder.Negatives, Epochs: 2, Seed: cudatest.FreshSeed(t)}
					reference, f := newCase(t, d, corpustest.Zipf(c.Seed, 1500, vocabulary, 40), c, 1, choice{rung: rung.Name})
					same(t, reference, f, 1e-4)
				})
			}
		}
	}
}
