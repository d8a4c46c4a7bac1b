package wordcontext

import "runtime"

// The tile is the part of a block that is put together before it is written to
// the columns: rows are read along and columns are written along whole cache
// lines.
const (
	tileRows    = 16
	tileColumns = 64
)

// Block copies the columns first ... first+count-1 of the rows row0 ... row1-1 to dst:
// dst[(j-first)·V + i] = At(i, j). dst holds count whole columns, count·V
// entries; the other rows' entries are left alone. Goroutines may thus fill one
// dst together, each its own rows.
//
// Columns are cheaper many at a time: a row's memory is then read once for all
// of them. Below 64 columns an entry costs more, above 256 no less.
func (m *Matrix) Block(first, count, row0, row1 int, dst []uint32) {
	if first < 0 || count < 0 || first+count > m.Contexts() {
		panic("wordcontext: columns out of range")
	}
	dst = dst[:count*m.Rows()]
	if m.narrow != nil {
		block(m, m.narrow, first, count, row0, row1, dst)
	} else {
		block(m, m.wide, first, count, row0, row1, dst)
	}
}

func block[T id](m *Matrix, stored []T, first, count, row0, row1 int, dst []uint32) {
	rows := m.Rows()
	r := reader[T]{seed: m.options.Seed}
	for i0 := row0; i0 < row1; i0 += tileRows {
		i1 := min(i0+tileRows, row1)
		touch(stored, m.offsets[i0:i1+1], first)
		for c0 := 0; c0 < count; c0 += tileColumns {
			columns := min(tileColumns, count-c0)
			for i := i0; i < i1; i++ {
				r.row, r.stored = i, stored[m.offsets[i]:m.offsets[i+1]]
				r.read(r.tile[i-i0:], first+c0, columns)
			}
			for c := range columns {
				copy(dst[(c0+c)*rows+i0:(c0+c)*rows+i1], r.tile[c*tileRows:])
			}
		}
	}
}

// touch reads the first entry of column first in each of the rows with the
// given offsets, so that the rows' cache lines are fetched together and not one
// after the other when each row is read.
func touch[T id](stored []T, offsets []uint64, first int) {
	var sum T
	for k, from := range offsets[:len(offsets)-1] {
		if from+uint64(first) < offsets[k+1] {
			sum += stored[from+uint64(first)]
		}
	}
	runtime.KeepAlive(sum)
}

// A reader reads entries of one row after the other. It holds the space that
// this takes.
type reader[T id] struct {
	seed      uint64
	row       int // its number
	stored    []T // its stored contexts
	order     order
	positions [tileColumns]uint32
	tile      [tileColumns * tileRows]uint32 // (tileColumns, tileRows)
}

// read writes the entries first ... first+columns-1 of the row to every
// tileRows-th element of dst.
func (r *reader[T]) read(dst []uint32, first, columns int) {
	n := len(r.stored)
	if n == 0 {
		for c := range columns {
			dst[c*tileRows] = NoContext
		}
		return
	}
	round, position := uint32(first)/uint32(n), int(uint32(first)%uint32(n))
	for c := 0; c < columns; round, position = round+1, 0 {
		run := min(n-position, columns-c) // what is left of the round
		if round == 0 {
			for _, context := range r.stored[position:][:run] {
				dst[c*tileRows] = uint32(context)
				c++
			}
			continue
		}
		r.order.set(r.seed, round, uint32(r.row), uint32(n))
		positions := r.positions[:run]
		r.order.fill(positions, uint32(position))
		for _, p := range positions {
			dst[c*tileRows] = uint32(r.stored[p])
			c++
		}
	}
}
