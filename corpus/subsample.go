package corpus

import "math"

// KeepThresholds returns the thresholds of subsampling, (V): a token is kept if its
// 32 random bits, as a number, are at most the threshold of its word. A word of
// relative frequency f is kept with the probability
//
//	min(1, (sqrt(f/t) + 1) · t/f)
//
// where t is sample (Mikolov et al. 2013, "Distributed Representations of Words and
// Phrases", section 2.3, in the form of word2vec.c). A sample of 0 or less, or NaN,
// keeps every token.
//
// The random bits of token i in pass p, on every device, are
//
//	Philox(seed, StreamSubsample.Sub(p), i/4)[i%4]
func KeepThresholds(counts []uint64, sample float64) []uint32 {
	var total float64
	for _, n := range counts {
		total += float64(n)
	}
	thresholds := make([]uint32, len(counts))
	for i, n := range counts {
		thresholds[i] = math.MaxUint32
		if n == 0 || !(sample > 0) {
			continue
		}
		ratio := float64(n) / (sample * total) // f/t
		keep := (math.Sqrt(ratio) + 1) / ratio
		if keep < 1 {
			// keep·2^32 of the numbers 0 ... 2^32-1 are at most the threshold.
			thresholds[i] = uint32(max(math.Round(keep*(1<<32)), 1) - 1)
		}
	}
	return thresholds
}

// CountPower returns the counts raised to the exponent, (V): the weights of the
// words as negatives (Mikolov et al. 2013, section 2.2, with exponent 0.75). A
// count of zero has weight zero.
func CountPower(counts []uint64, exponent float64) []float64 {
	weights := make([]float64, len(counts))
	for i, n := range counts {
		x := float64(n)
		switch {
		case n == 0: // stays zero, for exponent 0, too
		// The recipes' exponents use square roots, because every processor rounds these
		// in the same way. It does not round math.Pow so, and negatives must be the same
		// everywhere.
		case exponent == 0.75:
			weights[i] = math.Sqrt(x) * math.Sqrt(math.Sqrt(x))
		case exponent == 0.5:
			weights[i] = math.Sqrt(x)
		default:
			weights[i] = math.Pow(x, exponent)
		}
	}
	return weights
}
