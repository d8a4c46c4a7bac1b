package cl

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every value of a row is in the part of one device, and parts have about as many.
func TestParts(t *testing.T) {
	for _, dim := range []int{1, 3, 4, 7, 32, 50, 100, 128, 129, 300, 500, 1000, 1024} {
		const rows = 3
		values := make([]float32, rows*dim)
		for i := range values {
			values[i] = 1 + rand.Float32()
		}
		for _, of := range []int{2, 4, 8} {
			got, kept := make([]float32, rows*dim), 0
			for number := range of {
				p := part{number, of}
				if most := 32 / of * ((dim + 127) / 128); (dim+4*of-1)/(4*of) > most {
					t.Errorf("N = %d: a part of %d has more quads than %d lanes hold", dim, of, 32/of)
				}
				packed := p.pack(values, dim)
				if len(packed) != rows*PaddedDim(dim, of) {
					t.Errorf("N = %d: rows of %d values, want %d", dim, len(packed)/rows, PaddedDim(dim, of))
				}
				for _, x := range packed {
					if x != 0 {
						kept++
					}
				}
				p.unpack(got, packed, dim)
			}
			if !slices.Equal(got, values) || kept != len(values) {
				t.Errorf("N = %d on %d devices: %d of %d values, or others", dim, of, kept, len(values))
			}
		}
	}
}

// Rows go to the parts and come back.
func TestRowsOfParts(t *testing.T) {
	for _, rows := range []int{1, 2, 7, 8, 9, 100} {
		for _, of := range []int{1, 2, 4, 8} {
			const width = 3
			values, got, count := make([]float32, rows*width), make([]float32, rows*width), 0
			for i := range values {
				values[i] = 1 + rand.Float32()
			}
			for number := range of {
				p := part{number, of}
				own := pickRows(values, p, width)
				if len(own) != width*p.count(rows) {
					t.Errorf("%d rows: part %d of %d has %d values of %d rows", rows, number, of, len(own), p.count(rows))
				}
				putRows(got, own, p, width)
				count += p.count(rows)
			}
			if count != rows || !slices.Equal(got, values) {
				t.Errorf("%d rows: %d parts have %d, or others", rows, of, count)
			}
		}
	}
}
