package tempered

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// The tests of package graph hold the steps to their definition.

func TestBalanced(t *testing.T) {
	costs := []float64{10, 1, 1, 1, 1, 2, 1, 0, 0, 5}
	got := balanced(len(costs), 3, func(i int) float64 { return costs[i] })
	if want := []int{0, 1, 4, 6, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("blocks begin at %v, want %v", got, want)
	}
}

// Draws are those of the streams, wherever drawing begins.
func TestDraws(t *testing.T) {
	noise, err := corpus.NewAlias([]float64{1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k < 8; k++ {
		s := &Sampler{Noise: noise, Seed: rand.Uint64(), Negatives: k, Shared: 5 * k, Iteration: rand.IntN(1 << 20), Step: rand.IntN(2)}
		number := func(i int) uint32 {
			return noise.Draw(corpus.Philox(s.Seed, s.Stream(), uint64(i/4))[i%4])
		}
		want := make([]uint32, 5*k)
		noise.DrawSpread(want, s.Seed, s.Iteration, s.Step)
		if got := s.DrawShared(); !slices.Equal(got, want) {
			t.Fatalf("shared negatives are %v, want %v", got, want)
		}
		var memory []uint32
		for range 20 {
			first := rand.IntN(100)
			memory = s.DrawOwn(first, first+1+rand.IntN(50), memory)
			for i, x := range memory {
				if want := number(first*k + i); x != want {
					t.Fatalf("%d negatives from row %d on: number %d is %d, want %d", k, first, i, x, want)
				}
			}
		}
	}
}

func TestShare(t *testing.T) {
	const none = wordcontext.NoSample
	s := &Sampler{Slots: []uint32{0, 2, 2, 3, 5}, Samples: []uint32{4, none, none, 7, 8}}
	for i, want := range [][]uint32{{4}, {}, {}, {7, 8}} {
		if got := s.Share(i); !slices.Equal(got, want) {
			t.Errorf("row %d has the share %v, want %v", i, got, want)
		}
	}
}

func TestIterations(t *testing.T) {
	for _, c := range []struct {
		slots  int
		tables int64
		want   int
	}{{0, 0, 1}, {1000, 0, 1}, {1000, 8000 * 5, 5}, {10, 1 << 30, MaxIterations}, {1 << 20, 1 << 40, 8}, {1 << 30, 1 << 50, 1}} {
		if got := Iterations(c.slots, c.tables); got != c.want {
			t.Errorf("%d slots, tables of %d bytes: %d iterations, want %d", c.slots, c.tables, got, c.want)
		}
	}
}
