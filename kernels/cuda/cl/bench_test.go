//go:build gpu

package cl

import (
	"math"
	"math/rand/v2"
)

// zipfShares are shares as those of a text: contexts of a word in proportion to 1/(rank + 3),
// frequent words subsampled at 1e-4.
func zipfShares(rows int, tempering, positives, most float64) *Shares {
	const contexts = 4096
	var sum float64
	for i := range rows {
		sum += 1 / float64(i+3)
	}
	powers, mean := make([]float64, rows), 0.0
	for i := range powers {
		f := 1 / float64(i+3) / sum
		n := f * min(1, math.Sqrt(1e-4/f)+1e-4/f)
		powers[i] = math.Pow(n, tempering)
		mean += powers[i] / float64(rows)
	}
	s := &Shares{Contexts: contexts, Slots: make([]uint32, rows+1)}
	for i, p := range powers {
		length := uint32(max(1, math.Round(contexts*min(most, positives*p/mean))))
		s.Lengths = append(s.Lengths, length)
		s.Phases = append(s.Phases, rand.Uint32N(contexts))
		s.Slots[i+1] = s.Slots[i] + (length+contexts-1)/contexts
	}
	return s
}

const noSample = math.MaxUint32 - 1
