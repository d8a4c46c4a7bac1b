package wordcontext

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// rowCosts say what memory it takes to build rows: some for all of them, and some for
// those that are built at a time.
type rowCosts struct {
	Totals  []uint64 // contexts found, by row
	Lengths []uint32 // entries, by row: of more contexts a row keeps so many
	Threads int      // each has the place of the next context of each row
	Spans   int      // parts of the text, each with the number of contexts kept from those before
	IDBytes int64    // of a context
	Fixed   int64    // beside a range and the layouts
}

// row returns the memory of building row i, in bytes.
func (c *rowCosts) row(i int) int64 {
	n, cost := c.Totals[i], int64(8+16*c.Threads)
	if length := uint64(c.Lengths[i]); n > length {
		cost += int64(n/8) + 16 + 4*int64(c.Spans) // a bit for each context says whether it is kept
		n = length
	}
	return cost + int64(n)*c.IDBytes
}

// A rowRange is the rows First ... End-1, whole groups.
type rowRange struct{ First, End int }

// Ranges cuts the rows into ranges that are built in so many bytes, and returns how many
// building takes. The error wraps [ErrMemory].
func (c rowCosts) Ranges(t *tileLayout, bytes int64) (ranges []rowRange, peak int64, err error) {
	group := int64(0) // memory to write the largest one
	for g := range t.Groups() {
		if first, end := t.Group(g); end > first+1 {
			_, count := t.Contexts(first, end)
			group = max(group, c.IDBytes*int64(count))
		}
	}
	rows := len(t.groupOf)
	fixed := c.Fixed + 2*layoutBytes(rows, t.offsets[rows]) + group
	left, most := int64(-1), int64(0)
	for g := range t.Groups() {
		first, end := t.Group(g)
		cost := int64(0)
		for i := first; i < end; i++ {
			cost += c.row(i)
		}
		most = max(most, cost)
		if left < cost {
			ranges = append(ranges, rowRange{first, first})
			left = bytes - fixed
		}
		ranges[len(ranges)-1].End = end
		left -= cost
		peak = max(peak, bytes-left)
	}
	if most > bytes-fixed {
		return nil, 0, fmt.Errorf("%w: it takes %s, and %s are left", ErrMemory, terminal.Bytes(fixed+most), terminal.Bytes(max(bytes, 0)))
	}
	return ranges, peak, nil
}
