//go:build gpu

package cuda

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Columns that are drawn on the device are those of M, in rows of any length.
func TestColumns(t *testing.T) {
	d := open(t)
	for _, x := range []struct{ words, vocabulary, contexts int }{
		{3000, 40, 50}, {20_000, 600, 333}, {200_000, 3000, 1000}, {400_000, 200_000, 77}, // the last one has ids of 32 bits
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			seed := freshSeed(t)
			c, noise := read(t, zipf(seed, x.words, x.vocabulary)+"alone")
			m, err := wordcontext.Build(context.Background(), c, wordcontext.Options{Window: 3, Contexts: x.contexts, Passes: 1, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			v := m.Rows()
			cl, err := d.NewCL(CLConfig{Rows: v, Dim: 1, Negatives: 1, Alias: noise.Table(), Method: string(optim.SGD)})
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			offsets, narrow, wide := m.Layout()
			if err := cl.SetMatrix(CLMatrix{offsets, narrow, wide, m.Contexts(), seed}); err != nil {
				t.Fatal(err)
			}
			got, want := make([]uint32, 2*CLBlock*v), make([]uint32, v)
			for _, first := range []int{0, x.contexts/2 - 3, 7 * x.contexts, 1<<31 - 40} {
				for _, count := range []int{1, 13, CLBlock} {
					err := d.do(func() error {
						if err := cl.reader.draw(cl, first, count); err != nil {
							return err
						}
						if err := d.stream.Synchronize(); err != nil {
							return err
						}
						return receive(got, cl.columns)
					})
					if err != nil {
						t.Fatal(err)
					}
					for side := range 2 {
						for i := range count {
							m.Block((first+i+side*x.contexts/2)%x.contexts, 1, 0, v, want)
							if !slices.Equal(got[(side*CLBlock+i)*v:][:v], want) {
								t.Fatalf("iteration %d, step %d: a wrong column", first+i, side)
							}
						}
					}
				}
			}
		})
	}
}
