package step

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/team"
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
			return noise.Draw(corpus.Philox(s.Seed, s.stream(), uint64(i/4))[i%4])
		}
		want := make([]uint32, 5*k)
		noise.DrawSpread(want, s.Seed, s.Iteration, s.Step)
		if got := s.DrawShared(); !slices.Equal(got, want) {
			t.Fatalf("shared negatives are %v, want %v", got, want)
		}
		s.Shared = 0
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
	s := &Sampler{Slots: []uint32{0, 2, 2, 3, 5, 6}, Samples: []uint32{4, none, none, 7, 8, wordcontext.NoContext}, Negatives: 1}
	for i, want := range [][]uint32{{4, 100}, {}, {}, {7, 8, 103}, {}} {
		share := s.Share(i)
		got, samples := s.AppendTargets(nil, i, 0, []uint32{100, 101, 102, 103, 104})
		if !slices.Equal(got, want) || samples != len(share) {
			t.Errorf("row %d has the targets %v of a share of %v, want %v", i, got, share, want)
		}
	}
}

// Samples may be vectors that are computed before the step: more of them than rows, and
// with shares that differ from run to run.
func TestFrozenVectors(t *testing.T) {
	const rows, vectors, n, k = 5, 40, 7, 3
	uniform := make([]float64, vectors)
	for i := range uniform {
		uniform[i] = 1
	}
	noise, err := corpus.NewAlias(uniform)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []int{0, 16} {
		sampler := &Sampler{Noise: noise, Seed: rand.Uint64(), Negatives: k, Shared: shared, Bias: float32(rand.NormFloat64())}
		s := &Step{Sampler: sampler, Team: team.New(1), Dim: n, Blocks: []int{0, 2, rows}}
		for run := range 3 {
			left, frozen := random(rows*n), random(vectors*n)
			sampler.Iteration, sampler.Slots, sampler.Samples = run, []uint32{0}, nil
			for range rows {
				for range rand.IntN(9) {
					sampler.Samples = append(sampler.Samples, uint32(rand.IntN(vectors)))
				}
				sampler.Slots = append(sampler.Slots, uint32(len(sampler.Samples)))
			}
			got := make([]float32, rows*n)
			s.Give = func(row, _ int, gradient []float32) { copy(got[row*n:], gradient) }
			loss, err := s.Run(left, frozen)
			if err != nil {
				t.Fatal(err)
			}
			wantLoss, want := plain(sampler, left, frozen, rows, n)
			if math.Abs(loss-wantLoss) > 1e-5*wantLoss {
				t.Errorf("%d shared: loss %v, want %v", shared, loss, wantLoss)
			}
			for i, x := range want {
				if math.Abs(float64(got[i])-x) > 1e-5 {
					t.Fatalf("%d shared: value %d of the gradient is %v, want %v", shared, i, got[i], x)
				}
			}
		}
	}
}

func random(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rand.NormFloat64() / 2)
	}
	return x
}

// plain is the loss of a step and the gradient in float64.
func plain(s *Sampler, left, frozen []float32, rows, n int) (loss float64, gradient []float64) {
	gradient = make([]float64, rows*n)
	for i := range rows {
		share := s.Share(i)
		if len(share) == 0 {
			continue
		}
		negatives := s.DrawShared()
		if s.Shared == 0 {
			negatives = s.DrawOwn(i, i+1, nil)
		}
		for p, target := range slices.Concat(share, negatives) {
			f, score := frozen[int(target)*n:][:n], float64(s.Bias)
			for j, x := range f {
				score += float64(left[i*n+j]) * float64(x)
			}
			sign, weight := 1.0, s.Weight()
			if p < len(share) {
				sign, weight = -1, 1/float64(len(share))
			}
			loss += weight * float64(len(share)) * math.Log1p(math.Exp(sign*score))
			for j, x := range f {
				gradient[i*n+j] += weight * sign / (1 + math.Exp(-sign*score)) * float64(x)
			}
		}
	}
	return loss, gradient
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
