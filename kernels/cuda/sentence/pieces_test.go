//go:build gpu

package sentence

import (
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// TestPieces needs no GPU: pieces are those of a list of all of them, whatever is asked for in which
// order, and sentences without tokens are pieces, too.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 0))
	for _, sentences := range []int{1, 2, perBase - 1, perBase, perBase + 1, 3*perBase + 7} {
		for _, tokens := range []int{1, 7, 41} {
			bounds, units := []int{0}, []int{0}
			for range sentences {
				bounds = append(bounds, bounds[len(bounds)-1]+r.IntN(4*tokens))
			}
			for u := r.IntN(sentences + 1); u < sentences; u += 1 + r.IntN(sentences) {
				units = append(units, u)
			}
			units = append(units, sentences)
			var starts, unitStarts []int
			var around [][2]uint32
			longest := 0
			for s := range sentences {
				for _, u := range units {
					if u == s {
						unitStarts = append(unitStarts, len(starts))
					}
				}
				length := bounds[s+1] - bounds[s]
				longest = max(longest, length)
				count := max(1, (length+tokens-1)/tokens)
				for i := range count {
					from, to := i*length/count, (i+1)*length/count
					starts, around = append(starts, bounds[s]+from), append(around, [2]uint32{uint32(from), uint32(length - to)})
				}
			}
			unitStarts = append(unitStarts, len(starts))
			starts = append(starts, bounds[sentences])

			p, got := newPieces(memoryText{sentences: bounds}, units, tokens)
			if p.Sentences() != len(around) || p.LongestSentence() != longest || len(got) != len(units) {
				t.Fatalf("%d sentences: %d pieces, longest %d, %d bounds of units; want %d, %d, %d", sentences, p.Sentences(), p.LongestSentence(), len(got), len(around), longest, len(units))
			}
			for u := range got {
				if got[u] != unitStarts[u] {
					t.Fatalf("unit %d of %v begins with piece %d, want %d", u, units, got[u], unitStarts[u])
				}
			}
			check := func(piece int) {
				if got := p.Start(piece); got != starts[piece] {
					t.Fatalf("%d sentences, %d tokens: piece %d starts at %d, want %d", sentences, tokens, piece, got, starts[piece])
				}
				if piece < len(around) && p.around(piece) != around[piece] {
					t.Fatalf("%d sentences, %d tokens: around piece %d are %v, want %v", sentences, tokens, piece, p.around(piece), around[piece])
				}
			}
			for piece := range starts {
				check(piece)
			}
			for range 2000 {
				check(r.IntN(len(starts)))
			}
			// Several goroutines fill a buffer, each a part of it.
			all := make([]uint32, 2*len(starts))
			brought := &text{tokens: p}
			cuda.Parallel(len(starts), func(first, end int) { brought.startsOf(all[2*first:2*end], first) })
			for i, start := range starts {
				if got := int(all[2*i]) | int(all[2*i+1])<<32; got != start {
					t.Fatalf("%d sentences, %d tokens: piece %d is brought as starting at %d, want %d", sentences, tokens, i, got, start)
				}
			}
		}
	}
}
