//go:build gpu

package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShares needs no GPU. Of sentences that are drawn here, so many hold a word at
// a time as its share says.
func TestShares(t *testing.T) {
	const words, inFlight, half, trials = 50, 300, 3, 40_000
	r := rand.New(rand.NewPCG(freshSeed(t), 1))
	counts, keep := make([]uint64, words), make([]uint32, words)
	var text []int // after subsampling
	for w := range counts {
		counts[w] = uint64(2000 / (w + 1))
		keep[w] = math.MaxUint32
		if w < 5 {
			keep[w] = math.MaxUint32 / 2
		}
		for range counts[w] * (uint64(keep[w]) + 1) >> 32 {
			text = append(text, w)
		}
	}
	got := shares(counts, keep, inFlight, half)
	if !slices.IsSorted(got[5:]) {
		t.Errorf("a rarer word has a smaller share: %v", got)
	}
	copies := make([]float64, words) // at a time
	for range trials {
		held := map[int]bool{}
		for range 2*half + 1 {
			held[text[r.IntN(len(text))]] = true
		}
		for w := range held {
			copies[w] += inFlight / float64(trials)
		}
	}
	for w, share := range got {
		if want := min(1, copiesInFull/max(copies[w], 1e-9)); math.Abs(float64(share)-want) > .25*want {
			t.Errorf("word %d: share %.3f, with %.1f copies at a time it should be %.3f", w, share, copies[w], want)
		}
	}
	for w, share := range shares(counts, keep, copiesInFull, half) {
		if share != 1 {
			t.Errorf("word %d: share %v with %d sentences in flight, want 1", w, share, copiesInFull)
		}
	}
}
