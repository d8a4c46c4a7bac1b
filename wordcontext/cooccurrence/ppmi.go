package cooccurrence

import (
	"context"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// PPMIOptions says which associations a matrix keeps.
type PPMIOptions struct {
	Smoothing float64 // contexts weigh as their count to this power; 1: as their count. Levy et al. 2015, section 3.2.2
	Shift     float64 // associations are less by the logarithm of this, as if a word had so many negatives; at least 1
	Threads   int
}

// PPMI replaces counts by positive pointwise mutual information, and drops what is not
// above 0:
//
//	max(log(#(w,c) / (#(w) P(c))) - log(Shift), 0),  P(c) = #(c)^Smoothing / sum of all
//
// (Levy et al. 2015, section 2.2 and equation 3).
func (m *Matrix) PPMI(ctx context.Context, o PPMIOptions) error {
	counts := make([]float64, m.Rows()) // m is symmetric: of words and of contexts
	err := parallel.Do(ctx, o.Threads, m.Rows(), func(i int) {
		for _, x := range m.values[i] {
			counts[i] += float64(x)
		}
	})
	if err != nil {
		return err
	}
	all := 0.0
	of := make([]float64, m.Rows()) // log P(c) + log Shift
	for j, n := range counts {
		of[j] = math.Pow(n, o.Smoothing)
		all += of[j]
	}
	for j, n := range of {
		of[j] = math.Log(n/all) + math.Log(o.Shift)
	}
	return parallel.Do(ctx, o.Threads, m.Rows(), func(i int) {
		contexts, values := m.Row(i)
		word := math.Log(counts[i])
		kept := 0
		for at, j := range contexts {
			if x := math.Log(float64(values[at])) - word - of[j]; x > 0 {
				contexts[kept], values[kept] = j, float32(x)
				kept++
			}
		}
		// In memory of their own: what is dropped is given back.
		m.contexts[i], m.values[i] = slices.Clone(contexts[:kept]), slices.Clone(values[:kept])
	})
}

// transpose returns the matrix with rows and columns exchanged, each row in ascending
// order.
func (m *Matrix) transpose() *Matrix {
	lengths := make([]int, m.Rows())
	for _, row := range m.contexts {
		for _, j := range row {
			lengths[j]++
		}
	}
	t := &Matrix{contexts: make([][]uint32, m.Rows()), values: make([][]float32, m.Rows())}
	contexts, values := make([]uint32, m.Entries()), make([]float32, m.Entries())
	for j, n := range lengths {
		t.contexts[j], t.values[j] = contexts[:0:n], values[:0:n]
		contexts, values = contexts[n:], values[n:]
	}
	for i, row := range m.contexts {
		for at, j := range row {
			t.contexts[j], t.values[j] = append(t.contexts[j], uint32(i)), append(t.values[j], m.values[i][at])
		}
	}
	return t
}
