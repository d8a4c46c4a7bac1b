package tempered

import "github.com/w2vcl/w2vcl/kernels/simd"

// A blockLoss is the loss of a block. A logarithm costs much. So the negatives of rows
// with equally many samples, which have one weight, share a sum.
type blockLoss struct {
	positives simd.Loss
	negatives [16]simd.Loss // by the number of samples
	used      [16]bool
	long      float64 // of negatives of rows with more samples, weighed
}

func (s *blockLoss) reset() {
	s.positives, s.used, s.long = simd.NewLoss(), [16]bool{}, 0
}

// ofNegatives returns the sum for the negatives of a row with the given samples; nil
// if there is none.
func (s *blockLoss) ofNegatives(samples int) *simd.Loss {
	if samples >= len(s.negatives) {
		return nil
	}
	if !s.used[samples] {
		s.used[samples], s.negatives[samples] = true, simd.NewLoss()
	}
	return &s.negatives[samples]
}

// total returns the loss. A negative has the given weight for each sample of its row.
func (s *blockLoss) total(weight float64) float64 {
	sum := s.positives.Total() + s.long
	for samples, used := range s.used {
		if used {
			sum += float64(samples) * weight * s.negatives[samples].Total()
		}
	}
	return sum
}
