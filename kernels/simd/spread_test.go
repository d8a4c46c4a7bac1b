package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// AddToRows gives the bits of its loop, also for rows that are there twice, and touches no other.
func TestAddToRows(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, n := range sizes {
			for _, count := range append([]int{0, 1, 2, 25}, counts...) {
				const tableRows = 9
				table, all := guarded(tableRows * n)
				x, _ := guarded(n)
				coefficients, _ := guarded(count)
				random(r, table)
				random(r, x)
				random(r, coefficients)
				rows, next := make([]uint32, count), make([]uint32, r.IntN(2*count+2))
				for k := range rows {
					rows[k] = uint32(r.IntN(tableRows))
				}
				for k := range next {
					next[k] = uint32(r.IntN(tableRows))
				}
				want := slices.Clone(table)
				addToRowsGo(want, rows, coefficients, x)
				AddToRows(table, rows, coefficients, x, next)
				checkGuards(t, "AddToRows", tableRows*n, all)
				if !slices.Equal(table, want) {
					t.Fatalf("AddToRows n=%d count=%d: other bits than plain Go", n, count)
				}
			}
		}
	})
}
