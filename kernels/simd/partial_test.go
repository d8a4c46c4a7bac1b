package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPartialDots: the parts of dot products, joined, are the dot products, to the bit, at
// every level and for any number of columns.
func TestPartialDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	defer func(before Level) { _ = Use(before) }(Current())
	for _, level := range Levels() {
		if err := Use(level); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 7, 8, 15, 16, 17, 31, 33, 100, 128, 300, 500, 512, 1 + rng.IntN(700)} {
			const v = 9
			table, left := make([]float32, v*n), make([]float32, n)
			for i := range table {
				table[i] = float32(rng.NormFloat64())
			}
			for i := range left {
				left[i] = float32(rng.NormFloat64())
			}
			for _, count := range []int{0, 1, 5, 6, 7, 12, 20} {
				rows := make([]uint32, count)
				for i := range rows {
					rows[i] = rng.Uint32N(v)
				}
				want := make([]float32, count)
				Dots(want, left, table, rows)
				for parts := 1; parts <= MostParts(); parts *= 2 {
					got := partsOf(left, table, rows, n, parts)
					for i := range want {
						if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
							t.Fatalf("%s, n %d, %d parts: dot product %d is %v, not %v", level, n, parts, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// partsOf computes dot products in parts.
func partsOf(left, table []float32, rows []uint32, n, parts int) []float32 {
	columns := PartColumns(n, parts)
	all := make([][]float32, parts)
	for g := range all {
		own := func(row []float32) []float32 {
			part := make([]float32, 0, columns)
			for j, x := range row {
				if PartOf(j, parts) == g {
					part = append(part, x)
				}
			}
			return append(part, make([]float32, columns-len(part))...)
		}
		var t []float32
		for r := range len(table) / n {
			t = append(t, own(table[r*n:][:n])...)
		}
		all[g] = make([]float32, len(rows))
		if parts == 1 { // whole rows need no zeros behind them
			columns = n
			PartialDots(all[g], left, table, rows, 1)
			continue
		}
		PartialDots(all[g], own(left), t, rows, parts)
	}
	SumPartials(all)
	return all[0]
}

func BenchmarkPartialDots(b *testing.B) {
	const n, v = 500, 64
	for parts := 1; parts <= MostParts(); parts *= 2 {
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			columns := PartColumns(n, parts)
			if parts == 1 {
				columns = n
			}
			table, out := make([]float32, v*columns), make([]float32, 6)
			for b.Loop() {
				PartialDots(out, table[:columns], table, []uint32{1, 9, 17, 33, 5, 60}, parts)
			}
		})
	}
}
