//go:build gpu

package cl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// For the steps of any iteration the device draws the samples of M, in
// rows of any length.
func TestColumns(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []struct{ words, vocabulary, contexts int }{
		{3000, 40, 50}, {20_000, 600, 333}, {200_000, 3000, 1000}, {400_000, 200_000, 77}, // the last one has ids of 32 bits
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			c, noise := corpustest.Read(t, corpustest.Zipf(seed, x.words, x.vocabulary, 40)+"alone")
			m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{Window: 3, Contexts: x.contexts, Passes: 1, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			v := m.Rows()
			k, err := New(d, Config{Rows: v, Dim: 1, Negatives: 1, Alias: noise.Table(), Method: string(optim.SGD)})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			if err := k.SetMatrix(m); err != nil {
				t.Fatal(err)
			}
			got, want := make([]uint32, 2*SeriesLength*v), make([]uint32, v)
			for _, first := range []int{0, x.contexts/2 - 3, 7 * x.contexts, 1<<31 - 40} {
				for _, count := range []int{1, 13, SeriesLength} {
					err := d.Do(func() error {
						if err := k.reader.draw(k, first, count); err != nil {
							return err
						}
						if err := d.Stream().Synchronize(); err != nil {
							return err
						}
						return cuda.Receive(got, k.columns)
					})
					if err != nil {
						t.Fatal(err)
					}
					for step := range 2 {
						for i := range count {
							m.Samples(step, first+i, 1, 0, v, want)
							if !slices.Equal(got[(step*SeriesLength+i)*v:][:v], want) {
								t.Fatalf("iteration %d, step %d: a wrong column", first+i, step)
							}
						}
					}
				}
			}
		})
	}
}
