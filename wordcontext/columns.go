package wordcontext

import "runtime"

// StepColumn returns the column of M that holds the positive contexts of one step
// of an iteration of W2V-CL. In iteration j, step 0 trains the words on column
// j mod l, and step 1 trains the contexts on column (j + l/2) mod l. So an epoch
// of l iterations trains each table on every column once.
func (m *Matrix) StepColumn(iteration, step int) int {
	l := m.Contexts()
	return (iteration + step*l/2) % l
}

// Columns collects entries in a tile, which is then copied to the columns of
// dst: so reads and writes both use whole cache lines.
const (
	tileRows    = 16
	tileColumns = 64
)

// Columns copies the columns first ... first+count-1 of the rows row0 ... row1-1
// to dst: dst[(j-first)·V + i] = At(i, j). dst has the shape (count, V), column by
// column. Entries of other rows stay as they are, so several goroutines may fill
// one dst, each with its own rows. Columns panics if a column is out of range or
// dst is too short.
//
// An entry costs less if count is large, since the memory of a row is then read
// once for all columns. It costs more below 64 columns, and no less above 256.
func (m *Matrix) Columns(first, count, row0, row1 int, dst []uint32) {
	if first < 0 || count < 0 || first+count > m.Contexts() {
		panic("wordcontext: columns out of range")
	}
	dst = dst[:count*m.Rows()]
	if m.narrow != nil {
		copyColumns(m, m.narrow, first, count, row0, row1, dst)
	} else {
		copyColumns(m, m.wide, first, count, row0, row1, dst)
	}
}

// copyColumns is Columns for stored contexts of one type.
func copyColumns[T id](m *Matrix, stored []T, first, count, row0, row1 int, dst []uint32) {
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

// touch reads one stored context, at position first, of each row with the given
// offsets. So the processor fetches the rows' cache lines together, and not one
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

// A reader reads entries of one row after the other. It holds the memory for
// them.
type reader[T id] struct {
	seed      uint64
	row       int // number of the row
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
		run := min(n-position, columns-c) // entries left in the round
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
