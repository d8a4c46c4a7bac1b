package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWordLosses compares with the definition, in float64, for sizes around
// the unrolled product's.
func TestWordLosses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, dim := range []int{1, 3, 4, 5, 8, 101} {
		const v = 7
		p := SamplePairs{PerWord: 3, Negatives: 2}
		words, contexts := make([]float32, v*dim), make([]float32, v*dim)
		for i := range words {
			words[i], contexts[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
		}
		for range v * 3 * 3 {
			p.Contexts = append(p.Contexts, uint32(random.IntN(v)))
		}
		p.Contexts[2*9+3] = NoWord // sample 1 of word 2
		for s := range 3 {
			p.Contexts[5*9+3*s] = NoWord // all samples of word 5
		}
		got := WordLosses(words, contexts, dim, p)
		for i := range v {
			var sum float64
			count := 0
			for s := range 3 {
				sample := p.Contexts[(i*3+s)*3:][:3]
				if sample[0] == NoWord {
					continue
				}
				count++
				for k, row := range sample {
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
					t.Errorf("a word without samples has loss %v", got[i])
				}
				continue
			}
			near(t, "loss", got[i], sum/float64(count), 1e-4)
		}
	}
}

func TestWordLossesOfLargeScores(t *testing.T) {
	p := SamplePairs{PerWord: 1, Negatives: 1, Contexts: []uint32{0, 0}}
	near(t, "loss", WordLosses([]float32{1e4}, []float32{1}, 1, p)[0], 1e4, 1e-6)
	near(t, "loss", WordLosses([]float32{-1e4}, []float32{1}, 1, p)[0], 1e4, 1e-6)
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
	near(t, "mean", high.Mean, 2, 1e-12)
	near(t, "variance", high.Variance, 2.0/3, 1e-12)
	near(t, "median", low.Quantiles[2], 8, 1e-12)
	near(t, "upper quartile", low.Quantiles[3], 8.5, 1e-12)
	if n := len(Bands(losses, counts, 20)); n != 7 {
		t.Errorf("%d bands of 7 words, want 7", n)
	}
	if empty := Bands([]float64{math.NaN()}, []uint64{1}, 1)[0]; empty.Words != 0 || empty.Mean != 0 {
		t.Errorf("a band without losses: %+v", empty)
	}
}
