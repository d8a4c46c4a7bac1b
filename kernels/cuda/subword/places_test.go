package subword

import (
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
)

// Every use of a symbol is in one piece, no piece is too long, and the slots of a symbol's pieces are its split's.
func TestPieces(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	e := Structure{Starts: []uint32{0}, Alphabet: 9}
	for range 900 {
		for range r.IntN(5) {
			e.Symbols = append(e.Symbols, min(r.Uint32N(7), r.Uint32N(7), r.Uint32N(7))) // 7 and 8 are in no word
		}
		e.Starts = append(e.Starts, uint32(len(e.Symbols)))
	}
	starts, uses := composed.Invert(e.Starts, e.Symbols, e.Alphabet, useOf)
	pieces, splits := piecesOf(starts)
	slots := map[uint32]uint32{} // of symbols
	for _, s := range splits {
		for slot := s.first; slot < s.last; slot++ {
			slots[slot] = s.symbol
		}
	}
	seen, next := make([]bool, len(uses)), uint32(0)
	for _, p := range pieces {
		if n := p.last - p.first; n == 0 || n > pieceUses {
			t.Fatalf("a piece of %d uses", n)
		}
		for u := p.first; u < p.last; u++ {
			at := uses[u]
			if got := e.Symbols[e.Starts[at.spelling]+at.place]; got != p.symbol || seen[u] {
				t.Fatalf("use %d is of symbol %d, the piece of %d; seen: %t", u, got, p.symbol, seen[u])
			}
			seen[u] = true
		}
		switch symbol, has := slots[p.slot]; {
		case p.slot == whole && starts[p.symbol+1]-starts[p.symbol] > pieceUses:
			t.Fatalf("a piece of symbol %d is all of it", p.symbol)
		case p.slot != whole && (p.slot != next || !has || symbol != p.symbol):
			t.Fatalf("piece %d of symbol %d has slot %d, which is of symbol %d", next, p.symbol, p.slot, symbol)
		case p.slot != whole:
			next++
		}
	}
	for u, in := range seen {
		if !in {
			t.Fatalf("use %d is in no piece", u)
		}
	}
	if int(next) != len(slots) || len(splits) == 0 || len(splits) == e.Alphabet {
		t.Errorf("%d slots of %d, %d symbols of several pieces", next, len(slots), len(splits))
	}
}

// A unit is the largest power of 2 that is at most the root of a symbol's uses, and 1 for a symbol without uses.
func TestUnits(t *testing.T) {
	counts := []uint32{0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 1<<20 - 1, 1 << 20, 1<<30 + 1}
	starts := []uint32{0}
	for _, n := range counts {
		starts = append(starts, starts[len(starts)-1]+n)
	}
	for i, unit := range unitsOf(starts) {
		want := 1.
		for 4*want*want <= float64(counts[i]) {
			want *= 2
		}
		if float64(unit) != want {
			t.Errorf("a symbol of %d uses has the unit %v, want %v", counts[i], unit, want)
		}
	}
}
