package wordcontext

import (
	"runtime"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Samples collects the samples of a few rows in a tile, which is then copied to dst
// iteration by iteration: so reads and writes both use whole cache lines. A row with
// more slots than a tile goes to dst without one.
const (
	tileSlots      = 64
	tileIterations = 64
)

// copySamples is Samples for stored contexts of one type.
func copySamples[T id](m *Matrix, stored []T, step, first, count, row0, row1 int, dst []uint32) {
	size := int(m.slots[m.Rows()])
	if dst = dst[:count*size]; len(dst) == 0 {
		return
	}
	l := uint64(m.Contexts())
	plain := (uint64(first) + uint64(step)*(l/2)) % l
	r := reader[T]{matrix: m, stored: stored, step: uint64(step), first: uint64(first), plain: uint32(plain), inOrder: m.Tempered()}
	if m.bounded {
		defer release(m, stored, row0, row1)
	}
	for i0 := row0; i0 < row1; {
		i1 := i0 + 1
		for i1 < row1 && m.slots[i1+1]-m.slots[i0] <= tileSlots {
			i1++
		}
		from, to := int(m.slots[i0]), int(m.slots[i1])
		if to-from > tileSlots {
			r.copyLongRow(i0, count, size, dst[from:])
		} else {
			cursors := r.setCursors(i0, i1, min(count, tileIterations))
			for j0 := 0; j0 < count; j0 += tileIterations {
				n := min(tileIterations, count-j0)
				for k := range cursors {
					r.fillTile(&cursors[k], n)
				}
				for j := range n {
					copy(dst[(j0+j)*size+from:(j0+j)*size+to], r.tile[j*tileSlots:])
				}
			}
		}
		i0 = i1
	}
}

// A reader reads samples of one step. It holds the memory for them.
type reader[T id] struct {
	matrix *Matrix
	stored []T    // the matrix's narrow or wide
	step   uint64 // of an iteration
	first  uint64 // the first iteration
	plain  uint32 // the first entry of a row of l entries

	inOrder   bool       // every round has the order of the first one
	order     roundOrder // of a round after the first one
	row       int        // that order belongs to
	round     uint32
	positions [positionsPerFill]uint32

	cursors [tileSlots]cursor
	tile    [tileIterations * tileSlots]uint32 // (tileIterations, tileSlots)
	entries [tileIterations*tileSlots + 1]uint32
}

// A cursor stands in a row where the share of the next iteration begins.
type cursor struct {
	row, slot int // slot is the row's first one in the tile
	length    uint32
	entry     uint32
	// The quotient of which the entry follows, (j·l_i + f_i)/l, left this remainder.
	// Rows of l entries do without: their next entry is the next sample.
	remainder uint32
}

func (r *reader[T]) cursor(i int) cursor {
	m, l := r.matrix, uint64(r.matrix.Contexts())
	length := uint64(m.lengths[i])
	c := cursor{row: i, length: uint32(length), entry: r.plain}
	if length != l {
		reads := r.first*length + uint64(m.phases[i])
		c.entry = uint32((reads/l + r.step*(length/2)) % length)
		c.remainder = uint32(reads % l)
	}
	return c
}

// setCursors returns the cursors of the rows i0 ... i1-1 that have entries. It reads a
// context of each cache line of which the next count iterations read some in order: so the
// processor fetches the lines of all these rows together, and not one row's after another's,
// which may be far away.
func (r *reader[T]) setCursors(i0, i1, count int) []cursor {
	m, n := r.matrix, 0
	var sum T
	line := uint64(64 / unsafe.Sizeof(sum)) // contexts
	for i := i0; i < i1; i++ {
		if m.lengths[i] == 0 {
			continue
		}
		c := r.cursor(i)
		c.slot = int(m.slots[i] - m.slots[i0])
		r.cursors[n] = c
		n++
		if uint64(c.entry) < m.offsets[i+1]-m.offsets[i] {
			row := m.row(i)
			place, together := row.Run(c.entry)
			samples := uint64(count)*uint64(c.length)/uint64(m.Contexts()) + 1
			last := place + min(samples, uint64(together)) - 1
			for at := place; at < last; at += line {
				sum += r.stored[at]
			}
			sum += r.stored[last]
		}
	}
	runtime.KeepAlive(sum)
	return r.cursors[:n]
}

// fillTile puts the samples of a row in the next count iterations into the tile.
func (r *reader[T]) fillTile(c *cursor, count int) {
	l := uint32(r.matrix.Contexts())
	dst := r.tile[c.slot:]
	if c.length == l {
		r.fetch(c, count)
		r.read(c, count, dst, tileSlots)
		return
	}
	// An iteration has this many samples, and one more if the remainders add up to l.
	whole, part := int(c.length/l), c.length%l
	all := (uint64(c.remainder) + uint64(count)*uint64(c.length)) / uint64(l)
	r.fetch(c, int(all))
	r.read(c, int(all), r.entries[:], 1)
	remainder, entries := c.remainder, r.entries[:]
	for ; count > 0; count-- {
		copy(dst, entries[:whole])
		entries = entries[whole:]
		if part > 0 {
			// No branch depends on the remainder: it could not be predicted.
			last, more := entries[0], 1
			remainder += part
			rest := remainder - l
			if remainder < l {
				last, more, rest = NoSample, 0, remainder
			}
			dst[whole], entries, remainder = last, entries[more:], rest
		}
		dst = dst[min(tileSlots, len(dst)):]
	}
	c.remainder = remainder
}

// fetch reads a context of each cache line of a row, if most of the lines hold some of
// the next count entries. For a later round jumps from line to line, and the processor
// fetches lines in order several times as fast.
func (r *reader[T]) fetch(c *cursor, count int) {
	if r.inOrder {
		return
	}
	var sum T
	line := 64 / int(unsafe.Sizeof(sum)) // contexts
	offsets := r.matrix.offsets[c.row:]
	row := r.matrix.row(c.row)
	place, whole := row.Whole()
	if !whole {
		return
	}
	stored := r.stored[place:][:offsets[1]-offsets[0]]
	if int(c.entry)+count <= len(stored) || 2*count*line < len(stored) {
		return
	}
	for k := 0; k < len(stored); k += line {
		sum += stored[k]
	}
	runtime.KeepAlive(sum)
}

// copyLongRow copies the samples of row i in count iterations to dst. Two iterations
// are size samples apart.
func (r *reader[T]) copyLongRow(i, count, size int, dst []uint32) {
	m, l := r.matrix, uint32(r.matrix.Contexts())
	c := r.cursor(i)
	width := int(m.slots[i+1] - m.slots[i])
	for j := range count {
		slots := dst[j*size:][:width]
		share := int(c.length / l)
		if c.remainder += c.length % l; c.remainder >= l {
			c.remainder -= l
			share++
		}
		r.read(&c, share, slots, 1)
		for k := share; k < width; k++ {
			slots[k] = NoSample
		}
	}
}

// read writes the next count entries of a row to dst, stride elements apart.
func (r *reader[T]) read(c *cursor, count int, dst []uint32, stride int) {
	offsets := r.matrix.offsets[c.row:]
	n := uint32(offsets[1] - offsets[0])
	if n == 0 {
		for k := range count {
			dst[k*stride] = NoContext
		}
		return
	}
	row := r.matrix.row(c.row)
	round, position := c.entry/n, c.entry%n
	for at := 0; count > 0; {
		run := min(n-position, c.length-c.entry, uint32(count)) // entries left in the round
		if round == 0 || r.inOrder {
			place, together := row.Run(position)
			run = min(run, together)
			for _, context := range r.stored[place:][:run] {
				dst[at] = uint32(context)
				at += stride
			}
		} else {
			run = min(run, positionsPerFill)
			if r.row != c.row || r.round != round {
				r.order.Set(r.matrix.options.Seed, corpus.StreamDuplicate.Sub(round), uint32(c.row), n)
				r.row, r.round = c.row, round
			}
			positions := r.positions[:run]
			r.order.Fill(positions, position)
			at = gather(dst, at, stride, r.stored, &row, positions)
		}
		count -= int(run)
		position += run
		if position == n {
			round, position = round+1, 0
		}
		if c.entry += run; c.entry == c.length {
			c.entry, round, position = 0, 0, 0
		}
	}
}

// gather writes the contexts at some positions of a row to dst, stride elements apart
// from at on, and returns where the next one goes.
func gather[T id](dst []uint32, at, stride int, stored []T, row *tiledRow, positions []uint32) int {
	if place, whole := row.Whole(); whole {
		stored = stored[place:]
		for _, p := range positions {
			dst[at] = uint32(stored[p])
			at += stride
		}
		return at
	}
	for _, p := range positions {
		dst[at] = uint32(stored[row.Place(p)])
		at += stride
	}
	return at
}

// release gives back the pages of the rows row0 ... row1-1, and of others that stand
// among them.
func release[T id](m *Matrix, stored []T, row0, row1 int) {
	if row0 >= row1 {
		return
	}
	if m.tiles != nil {
		row0, _ = m.tiles.Group(m.tiles.GroupOf(row0))
		_, row1 = m.tiles.Group(m.tiles.GroupOf(row1 - 1))
	}
	memory.Release(memory.BytesOf(stored[m.offsets[row0]:m.offsets[row1]]))
}
