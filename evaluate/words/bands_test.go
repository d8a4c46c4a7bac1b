package words

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// TestLosses compares with the definition, in float64, for sizes around
// the unrolled product's.
func TestLosses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{1, 3, 4, 5, 8, 101} {
		const v = 7
		p := LossPairs{PerWord: 3, Negatives: 2}
		words, contexts := make([]float32, v*dim), make([]float32, v*dim)
		for i := range words {
			words[i], contexts[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
		}
		for range v * 3 * 3 {
			p.Targets = append(p.Targets, uint32(random.IntN(v)))
		}
		p.Targets[2*9+3] = NoWord // context 1 of word 2
		for s := range 3 {
			p.Targets[5*9+3*s] = NoWord // all contexts of word 5
		}
		got := Losses(words, contexts, dim, p)
		for i := range v {
			var sum float64
			count := 0
			for s := range 3 {
				targets := p.Targets[(i*3+s)*3:][:3]
				if targets[0] == NoWord {
					continue
				}
				count++
				for k, row := range targets {
					var score float64
					for d := range dim {
						score += float64(words[i*dim+d]) * float64(contexts[int(row)*dim+d])
					}
					sign := 1.0
					if k > 0 {
						sign = -1
					}
					sum -= math.Log(1 / (1 + math.Exp(-sign*score)))
				}
			}
			if i == 5 {
				if !math.IsNaN(got[i]) {
					t.Errorf("a word without contexts has loss %v", got[i])
				}
				continue
			}
			evaluatetest.Near(t, "loss", got[i], sum/float64(count), 1e-4)
		}
	}
}

func TestLossesOfLargeScores(t *testing.T) {
	p := LossPairs{PerWord: 1, Negatives: 1, Targets: []uint32{0, 0}}
	evaluatetest.Near(t, "loss", Losses([]float32{1e4}, []float32{1}, 1, p)[0], 1e4, 1e-6)
	evaluatetest.Near(t, "loss", Losses([]float32{-1e4}, []float32{1}, 1, p)[0], 1e4, 1e-6)
}

func TestBands(t *testing.T) {
	losses := []float64{1, 3, 2, math.NaN(), 7, 9, 8}
	counts := []uint64{100, 50, 20, 20, 5, 4, 3}
	bands := Bands(losses, counts, 2)
	if len(bands) != 2 {
		t.Fatalf("%d bands, want 2", len(bands))
	}
	high, low := bands[0], bands[1]
	if high.MinCount != 20 || high.MaxCount != 100 || high.Words != 3 || low.MinCount != 3 || low.MaxCount != 20 || low.Words != 3 {
		t.Errorf("bands %+v", bands)
	}
	evaluatetest.Near(t, "mean", high.Mean, 2, 1e-12)
	evaluatetest.Near(t, "variance", high.Variance, 2.0/3, 1e-12)
	evaluatetest.Near(t, "median", low.Quantiles[2], 8, 1e-12)
	evaluatetest.Near(t, "upper quartile", low.Quantiles[3], 8.5, 1e-12)
	if n := len(Bands(losses, counts, 20)); n != 7 {
		t.Errorf("%d bands of 7 words, want 7", n)
	}
	if empty := Bands([]float64{math.NaN()}, []uint64{1}, 1)[0]; empty.Words != 0 || empty.Mean != 0 {
		t.Errorf("a band without losses: %+v", empty)
	}
}
