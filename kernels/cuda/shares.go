//go:build gpu

package cuda

import "math"

// A sentence works on copies of its context words' rows, each from the window where
// the word enters to the one where it leaves. What every copy changed is added to
// the row, so nothing is lost; but a step that many copies take at once, none knowing
// of the others, is a step several times too long, and training with a high rate, a
// wide window or little subsampling then diverges. copiesInFull is how many copies
// add all they changed; those of a more frequent word, of which 1,584 sentences hold
// up to 50, add as much as that many would.
const copiesInFull = 8

// shares returns for every word the part of what a sentence changed that is added to
// its row, given how often it is in the text and its threshold of subsampling.
func shares(counts []uint64, keep []uint32, inFlight, half int) []float32 {
	kept := make([]float64, len(counts))
	total := 0.0
	for w, n := range counts {
		kept[w] = float64(n) * (float64(keep[w]) + 1) / (1 << 32)
		total += kept[w]
	}
	all := make([]float32, len(counts))
	for w := range all {
		holds := -math.Expm1(float64(2*half+1) * math.Log1p(-kept[w]/total)) // a sentence's windows hold the word
		all[w] = float32(min(1, copiesInFull/(float64(inFlight)*holds)))
	}
	return all
}
