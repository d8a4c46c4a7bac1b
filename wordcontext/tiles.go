package wordcontext

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// A piece suffices for about so many iterations: so many are read at a time. Of a
	// long epoch it suffices for more, so that no row has more than so many pieces.
	pieceIterations = 64
	mostPieces      = 4096

	leastPiece = 32   // contexts: a cache line or two
	groupRows  = 4096 // at most
)

// Groups end after so many contexts: the last row may exceed it. MaxGroup makes tiles of
// half a megabyte in an M of rows of 8,192 wide contexts.
const (
	minGroup = 64 << 10
	maxGroup = 16 << 20
)

// groupContextsOf returns the number of contexts after which a group ends in a file of so
// many: M has 64 groups or more, unless it is small.
func groupContextsOf(stored uint64) uint64 { return min(max(stored/64, minGroup), maxGroup) }

// A tileLayout is the order of the contexts in a tiled file. Places count contexts from
// the first one of the file.
//
// Training reads some contexts of every row at a time. In a file with one row after
// the other they lie far from each other, and the disk reads a page for each row. So
// rows are cut into pieces of as many contexts as some iterations need, and the pieces
// that are read together stand together, in a tile:
//
//	group 0: rows 0 ... 2047      tile 0: first pieces of these rows
//	                              tile 1: second pieces
//	                              ...
//	group 1: rows 2048 ...        tile 0: first pieces
//
// A group is so small that it can be made in memory, and so large that a tile is some
// hundred kilobytes, which a disk reads as fast as any.
type tileLayout struct {
	offsets []uint64 // V+1 of them: row i has offsets[i+1]-offsets[i] contexts

	// A piece of row i has 1<<shifts[i] contexts, the last one perhaps fewer. Piece k of
	// row i is at within[i] of tile k of its group, but for the last one, which is at
	// last[i] of the file.
	shifts []uint8
	within []uint64
	last   []uint64

	groups  []int      // first rows of the groups, and V
	starts  [][]uint64 // by group: the places of its tiles, and the end of the group
	groupOf []uint32   // by row
}

// newLayout computes the layout of rows that store offsets[i+1]-offsets[i] contexts each,
// V+1 offsets, and have so many entries in an epoch of l iterations. The layout keeps
// offsets. Groups end after groupContexts contexts.
func newLayout(offsets []uint64, lengths []uint32, l int, groupContexts uint64) *tileLayout {
	rows := len(lengths)
	t := &tileLayout{
		offsets: offsets, shifts: make([]uint8, rows), within: make([]uint64, rows), last: make([]uint64, rows),
		groupOf: make([]uint32, rows),
	}
	atATime := max(pieceIterations, uint64(l)/mostPieces)
	for i, length := range lengths {
		// The samples of row i in so many iterations, rounded up to a power of two.
		piece := max((atATime*uint64(length)+uint64(l)-1)/uint64(l), leastPiece)
		t.shifts[i] = uint8(bits.Len64(piece - 1))
	}
	var order []int
	for first := 0; first < rows; {
		end := first + 1
		for end < rows && end-first < groupRows && offsets[end]-offsets[first] < groupContexts {
			end++
		}
		t.groups = append(t.groups, first)
		order = t.place(first, end, order)
		first = end
	}
	t.groups = append(t.groups, rows)
	return t
}

// place sets the places of the rows of a group. order is memory to use.
func (t *tileLayout) place(first, end int, order []int) []int {
	order = order[:0]
	for i := first; i < end; i++ {
		order = append(order, i)
		t.groupOf[i] = uint32(len(t.starts))
	}
	// Rows of more pieces come first: so the full pieces of a tile are those of the
	// first rows, and each row stands at one place in all of them.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.pieces(b), t.pieces(a)) })
	sum := uint64(0)
	for _, i := range order {
		t.within[i] = sum
		sum += 1 << t.shifts[i]
	}
	tiles := t.pieces(order[0])
	starts := make([]uint64, 1, tiles+1)
	starts[0] = t.offsets[first]
	full := len(order) // rows whose piece of the tile is full and not their last
	next := t.offsets[first]
	for k := range tiles {
		lasts := full // rows before have this piece, or a later one, as their last
		for full > 0 && t.pieces(order[full-1]) <= k+1 {
			full--
		}
		if full > 0 {
			next += t.within[order[full-1]] + 1<<t.shifts[order[full-1]]
		}
		for _, i := range order[full:lasts] {
			t.last[i] = next
			if n := t.pieces(i); n > 0 {
				next += t.stored(i) - uint64(n-1)<<t.shifts[i]
			}
		}
		starts = append(starts, next)
	}
	if tiles == 0 {
		starts = append(starts, next)
	}
	t.starts = append(t.starts, starts)
	return order
}

func (t *tileLayout) stored(i int) uint64 { return t.offsets[i+1] - t.offsets[i] }

func (t *tileLayout) pieces(i int) int {
	return int((t.stored(i) + 1<<t.shifts[i] - 1) >> t.shifts[i])
}

// Groups returns the number of groups.
func (t *tileLayout) Groups() int { return len(t.groups) - 1 }

// Group returns the rows of a group, first ... end-1. Its contexts are one part of
// the file: from the first of row first to the last of row end-1, if rows followed
// each other.
func (t *tileLayout) Group(group int) (first, end int) { return t.groups[group], t.groups[group+1] }

// Contexts returns the place of the first context of the rows first ... end-1, which
// are whole groups, and the number of their contexts.
func (t *tileLayout) Contexts(first, end int) (place, count uint64) {
	return t.offsets[first], t.offsets[end] - t.offsets[first]
}

// GroupOf returns the group of a row.
func (t *tileLayout) GroupOf(row int) int { return int(t.groupOf[row]) }

// tiledRow returns where the contexts of a row are.
func (t *tileLayout) Row(row int) tiledRow {
	return tiledRow{
		starts: t.starts[t.groupOf[row]], within: t.within[row], last: t.last[row],
		shift: t.shifts[row], final: max(t.pieces(row)-1, 0), stored: t.stored(row),
	}
}

// A tiledRow says where the contexts of one row are.
type tiledRow struct {
	starts       []uint64 // of tiles
	within, last uint64
	stored       uint64
	final        int // its last piece
	shift        uint8
}

// wholeRow is a row whose contexts follow each other, at first ... end-1.
func wholeRow(first, end uint64) tiledRow { return tiledRow{last: first, stored: end - first} }

// Whole reports whether the contexts follow each other, at place and after.
func (r *tiledRow) Whole() (place uint64, whole bool) { return r.last, r.final == 0 }

// Place returns the place of a context of the row by its number.
func (r *tiledRow) Place(number uint32) uint64 {
	if k := int(number >> r.shift); k < r.final {
		return r.starts[k] + r.within + uint64(number&(1<<r.shift-1))
	}
	return r.last + uint64(number) - uint64(r.final)<<r.shift
}

// Run returns the place of a context of the row, and how many follow each other from
// there on.
func (r *tiledRow) Run(number uint32) (place uint64, count uint32) {
	place = r.Place(number)
	if k := number >> r.shift; int(k) < r.final {
		return place, (k+1)<<r.shift - number
	}
	return place, uint32(r.stored) - number
}

// layoutBytes returns the memory of a layout of so many rows that store so many contexts,
// without its offsets.
func layoutBytes(rows int, stored uint64) int64 {
	return 21*int64(rows) + 8*int64(stored/(leastPiece*64)+1)
}
