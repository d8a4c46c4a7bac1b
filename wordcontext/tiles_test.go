package wordcontext

import (
	"math/rand/v2"
	"testing"
)

// TestPlaces: every context of every row has a place of its own, runs agree with places,
// and a group is one part of the file.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 5))
	for range 60 {
		rows, l := 1+rng.IntN(300), 1+rng.IntN(3000)
		offsets, lengths := []uint64{0}, make([]uint32, rows)
		for i := range lengths {
			lengths[i] = uint32(rng.IntN(4 * l))
			offsets = append(offsets, offsets[i]+min(uint64(rng.IntN(2*l+1)*rng.IntN(2)), uint64(lengths[i])))
		}
		layout := newLayout(offsets, lengths, l, 1+rng.Uint64N(20*uint64(l)))
		used := make([]bool, offsets[rows])
		group := 0
		for i := range lengths {
			from, to := layout.Group(group)
			if i >= to {
				group++
				from, to = layout.Group(group)
			}
			if layout.GroupOf(i) != group || i < from {
				t.Fatalf("row %d is in group %d", i, layout.GroupOf(i))
			}
			start, count := layout.Contexts(from, to)
			row, n := layout.Row(i), uint32(offsets[i+1]-offsets[i])
			if place, whole := row.Whole(); whole && n > 0 && place != row.Place(0) {
				t.Fatalf("row %d begins at %d, not %d", i, place, row.Place(0))
			}
			for k := range n {
				place := row.Place(k)
				if place < start || place >= start+count || used[place] {
					t.Fatalf("context %d of %d of row %d: place %d in %d and %d more", k, n, i, place, start, count)
				}
				used[place] = true
				first, run := row.Run(k)
				if first != place || run < 1 || k+run > n || row.Place(k+run-1) != place+uint64(run-1) {
					t.Fatalf("context %d of %d of row %d: a run of %d from %d on", k, n, i, run, first)
				}
			}
		}
		if layout.Groups() != group+1 {
			t.Fatalf("%d groups, want %d", layout.Groups(), group+1)
		}
	}
}

// What some iterations read of rows of one length stands together.
func TestTilesAreTogether(t *testing.T) {
	const rows, l = 100, 1000
	offsets, lengths := []uint64{0}, make([]uint32, rows)
	for i := range lengths {
		lengths[i] = l
		offsets = append(offsets, offsets[i]+l)
	}
	layout := newLayout(offsets, lengths, l, maxGroup)
	for i := range lengths {
		row := layout.Row(i)
		for k := range uint32(l) {
			piece := k / 64
			if place := row.Place(k); place/(rows*64) != uint64(piece) {
				t.Fatalf("context %d of row %d is at %d, not in tile %d", k, i, place, piece)
			}
		}
	}
}
