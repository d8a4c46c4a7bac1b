package words

import (
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// LossPairs are the pairs of words that [Losses] computes a loss on: for each word
// PerWord contexts, and for each context Negatives random words. Tables are only
// comparable on the same pairs.
type LossPairs struct {
	PerWord   int
	Negatives int
	// Targets holds for word i and its context s first the context and then the
	// negatives, (V, PerWord, 1+Negatives). A context that is NoWord is left out,
	// with its negatives.
	Targets []uint32
}

// NoWord stands for a context that is not there.
const NoWord = math.MaxUint32

// Losses returns for each of the words, the rows of W, the mean over its contexts
// of
//
//	-log σ(W_i·C_context) - Σ_k log σ(-W_i·C_negative(k))
//
// words and contexts are the tables W and C, (V, dim). A word without contexts
// has NaN.
func Losses(words, contexts []float32, dim int, p LossPairs) []float64 {
	losses := make([]float64, len(words)/dim)
	// Without a context to cancel there is no error.
	_ = parallel.Do(context.Background(), runtime.GOMAXPROCS(0), len(losses), func(i int) {
		losses[i] = p.loss(i, words[i*dim:(i+1)*dim], contexts)
	})
	return losses
}

// loss returns the mean loss of word i with vector w.
func (p *LossPairs) loss(i int, w, contexts []float32) float64 {
	size := p.PerWord * (1 + p.Negatives)
	var sum float64
	count := 0
	for targets := range slices.Chunk(p.Targets[i*size:(i+1)*size], 1+p.Negatives) {
		if targets[0] == NoWord {
			continue
		}
		count++
		for k, row := range targets {
			score := float64(simd.Dot(w, contexts[int(row)*len(w):][:len(w)]))
			if k > 0 {
				score = -score
			}
			sum += learn.Softplus(-score)
		}
	}
	return sum / float64(count) // NaN without contexts
}

// A Band is a part of the vocabulary, words of similar frequency, and the
// distribution of their losses (figures 16 and 17 of the W2V-CL paper).
type Band struct {
	MinCount  uint64     `json:"min_count"` // of the words, in the text
	MaxCount  uint64     `json:"max_count"`
	Words     int        `json:"words"`    // that have a loss
	Mean      float64    `json:"mean"`     // of the words' losses
	Variance  float64    `json:"variance"` // likewise
	Quantiles [5]float64 `json:"quantiles"`
}

// bandQuantiles are the quantiles in a Band.
var bandQuantiles = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Bands cuts the vocabulary, sorted by falling counts, into n parts with the
// same number of words, or into single words if there are fewer, the most frequent
// ones first, and describes the losses of each part.
func Bands(losses []float64, counts []uint64, n int) []Band {
	n = min(n, len(counts))
	bands := make([]Band, n)
	for b := range bands {
		first, last := b*len(counts)/n, (b+1)*len(counts)/n
		band := Band{MinCount: counts[last-1], MaxCount: counts[first]}
		known := slices.DeleteFunc(slices.Clone(losses[first:last]), math.IsNaN)
		if band.Words = len(known); band.Words > 0 {
			slices.Sort(known)
			band.Mean, band.Variance = stat.PopMeanVariance(known, nil)
			for i, q := range bandQuantiles {
				band.Quantiles[i] = evaluate.Quantile(known, q)
			}
		}
		bands[b] = band
	}
	return bands
}
