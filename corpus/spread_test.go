package corpus

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// spreadDefinition is DrawSpread in whole numbers without bounds. shares sum to
// len(shares)*2^32.
func spreadDefinition(shares []uint64, h int, seed uint64, iteration, step int) []uint32 {
	number := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	all := new(big.Int).Lsh(big.NewInt(int64(len(shares))), 32)
	drawn := make([]uint32, h)
	for k := range drawn {
		random := Philox(seed, StreamShared, uint64(1024*step+k))
		v := number(0x9E3779B97F4A7C15)
		v.Mul(v, big.NewInt(int64(iteration)))
		v.Add(v, number(uint64(random[0])+uint64(random[1])<<32))
		v.Mod(v, two64)
		y := new(big.Int).Mul(big.NewInt(int64(k)), two64)
		y.Add(y, v).Div(y, big.NewInt(int64(h)))
		limit := y.Mul(y, all) // of sums times 2^64
		sum := new(big.Int)
		for w, share := range shares {
			sum.Add(sum, number(share))
			if new(big.Int).Mul(sum, two64).Cmp(limit) > 0 {
				drawn[k] = uint32(w)
				break
			}
		}
	}
	return drawn
}

func wholeOf(t *testing.T, weights []float64) []uint64 {
	t.Helper()
	shares, err := wholeWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

func newAlias(t *testing.T, weights []float64) *Alias {
	t.Helper()
	a, err := NewAlias(weights)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDrawSpreadDefinition(t *testing.T) {
	check := func(name string, weights []float64, h int) {
		t.Helper()
		a, shares := newAlias(t, weights), wholeOf(t, weights)
		seed, iteration, step := rand.Uint64(), rand.IntN(1<<20), rand.IntN(2)
		got := make([]uint32, h)
		a.DrawSpread(got, seed, iteration, step)
		if want := spreadDefinition(shares, h, seed, iteration, step); !slices.Equal(got, want) {
			t.Errorf("%s, H %d, seed %#x, iteration %d, step %d:\n%v, want\n%v", name, h, seed, iteration, step, got, want)
		}
		for _, w := range got {
			if weights[w] == 0 {
				t.Errorf("%s: number %d of weight zero was drawn", name, w)
			}
		}
	}
	for _, test := range aliasTests {
		if len(test.weights) > 1000 {
			continue // the definition is slow
		}
		for _, h := range []int{1, 2, 3, 64, 1000, MaxSpread} {
			check(test.name, test.weights, h)
		}
	}
	for range 200 {
		weights := make([]float64, 1+rand.IntN(60))
		for i := range weights {
			weights[i] = math.Max(0, rand.NormFloat64())
		}
		weights[rand.IntN(len(weights))] = 1
		check("random", weights, 1+rand.IntN(100))
	}
	var none []uint32
	newAlias(t, []float64{1}).DrawSpread(none, 1, 2, 0)
}

// Each part of the distribution has one number in each step. So the words before any
// word are drawn H times their probability, give or take one.
func TestDrawSpreadParts(t *testing.T) {
	weights := zipf(5000)
	a, shares := newAlias(t, weights), wholeOf(t, weights)
	for _, h := range []int{1, 7, 64, MaxSpread} {
		dst := make([]uint32, h)
		for range 50 {
			a.DrawSpread(dst, rand.Uint64(), rand.IntN(1<<30), rand.IntN(2))
			if !slices.IsSorted(dst) {
				t.Fatalf("H %d: %v is not in order", h, dst)
			}
			var sum uint64
			drawn := 0
			for w, share := range shares {
				sum += share
				for drawn < h && dst[drawn] <= uint32(w) {
					drawn++
				}
				expected := float64(sum) / float64(len(shares)) / (1 << 32) * float64(h)
				if math.Abs(float64(drawn)-expected) > 1+1e-9 {
					t.Fatalf("H %d: %d numbers up to word %d, want %.3f", h, drawn, w, expected)
				}
			}
		}
	}
}
