package simd

import "fmt"

// A dot product is a sum of lanes: lane t has the products of every 16th column, and the
// lanes are summed in a tree. So ranks that have some columns each can compute it together,
// to the bit: PartOf tells who has which, PartialDots gives a rank's part of the tree, and
// SumPartials joins the parts. Plain Go has eight lanes, the vector levels have 16.
const lanes = 16

// MostParts returns the most parts that a dot product can be computed in at this level.
func MostParts() int {
	if current == Go {
		return lanes / 2
	}
	return lanes
}

// PartOf returns which of some parts, a power of two and at most MostParts, column j of a row
// belongs to. A part has its columns in rising order.
func PartOf(j, parts int) int {
	place := j%8<<1 | j/8%2 // in the order of the tree
	return place * parts / lanes
}

// PartColumns returns how many columns a part of rows of n columns has. All parts have as
// many: some of the last columns are not there, and are zero.
func PartColumns(n, parts int) int { return (n + lanes - 1) / lanes * lanes / parts }

// PartialDots is Dots for one of some parts of all rows: left and the rows of the table have
// the part's columns, len(left) = PartColumns(n, parts). With one part it is Dots.
func PartialDots(out, left, table []float32, rows []uint32, parts int) {
	n := len(left)
	switch {
	case parts == 1:
		Dots(out, left, table, rows)
		return
	case parts < 1 || parts > MostParts() || parts&(parts-1) != 0 || n%(lanes/parts) != 0:
		panic(fmt.Sprintf("simd: a dot product of %d columns in %d parts", n, parts))
	case current == Go || n == 0:
		partialDotsGo(out, left, table, rows, max(lanes/2/parts, 1))
		return
	}
	_ = out[:len(rows)]
	for len(rows) >= group {
		partialDots6(&out[0], &left[0], &table[0], &rows[0], n, parts)
		out, rows = out[group:], rows[group:]
	}
	if len(rows) > 0 {
		var r [group]uint32
		var o [group]float32
		for k := copy(r[:], rows); k < group; k++ {
			r[k] = r[0]
		}
		partialDots6(&o[0], &left[0], &table[0], &r[0], n, parts)
		copy(out, o[:len(rows)])
	}
}

// SumPartials adds the parts up into the first: parts[0][i] is the dot product of which
// parts[g][i] is part g. It changes the others.
func SumPartials(parts [][]float32) {
	for ; len(parts) > 1; parts = parts[:len(parts)/2] {
		for g := range len(parts) / 2 {
			to, x, y := parts[g], parts[2*g], parts[2*g+1][:len(parts[g])]
			for i := range to {
				to[i] = x[i] + y[i]
			}
		}
	}
}

// partialDotsGo computes dot products in the given number of lanes.
func partialDotsGo(out, left, table []float32, rows []uint32, lanes int) {
	n := len(left)
	for k, r := range rows {
		var s [8]float32
		row := table[int(r)*n:][:n]
		for j := 0; j < n; j += lanes {
			for lane := range lanes {
				s[lane] += left[j+lane] * row[j+lane]
			}
		}
		for width := lanes; width > 1; width /= 2 {
			for i := range width / 2 {
				s[i] = s[2*i] + s[2*i+1]
			}
		}
		out[k] = s[0]
	}
}
