package step

import "github.com/w2vcl/w2vcl/kernels/simd"

// A blockLoss is the loss of a block. A logarithm costs much. So the negatives of rows
// with equally many samples, which have one weight, share a sum. Rows of a block have
// similar frequencies, so they have few different numbers of samples.
type blockLoss struct {
	single    simd.Loss      // of weight 1: of positives, and of own negatives of rows with one sample
	negatives [8]samplesLoss // number s of samples in place s mod 8
	done      float64        // of negatives of numbers that lost their place, in samples
}

// A samplesLoss is the loss of the negatives of rows with so many samples.
type samplesLoss struct {
	samples int // 0: none
	loss    simd.Loss
}

func (b *blockLoss) reset() { *b = blockLoss{single: simd.NewLoss()} }

// ofNegatives returns the sum for the negatives of a row with the given samples.
func (b *blockLoss) ofNegatives(samples int) *simd.Loss {
	of := &b.negatives[samples%len(b.negatives)]
	if of.samples != samples {
		b.done += of.total()
		*of = samplesLoss{samples: samples, loss: simd.NewLoss()}
	}
	return &of.loss
}

func (s *samplesLoss) total() float64 {
	if s.samples == 0 {
		return 0
	}
	return float64(s.samples) * s.loss.Total()
}

// total returns the loss. A negative has the given weight for each sample of its row.
func (b *blockLoss) total(weight float64) float64 {
	sum := b.done
	for i := range b.negatives {
		sum += b.negatives[i].total()
	}
	return b.single.Total() + weight*sum
}
