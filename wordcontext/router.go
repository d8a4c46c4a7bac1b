package wordcontext

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// atATime is how many stored contexts of an owner's rows move together, so few that
// messages are small beside M.
const atATime = 1 << 20

// rowOwners returns R+1 numbers: rank r owns the rows from the r-th up to the next one. All
// store about equally much. offsets are those of the whole M, (V+1).
func rowOwners(offsets []uint64, ranks int) []int {
	return cutRows(offsets, 0, len(offsets)-1, ranks)
}

// cutRows cuts the rows first ... end-1 into parts that store about equally much.
func cutRows(offsets []uint64, first, end, parts int) []int {
	rows := make([]int, parts+1)
	base, stored := offsets[first], offsets[end]-offsets[first]
	for k := range rows {
		at := base + stored/uint64(parts)*uint64(k)
		rows[k] = first + sort.Search(end-first, func(i int) bool { return offsets[first+i] >= at })
	}
	rows[0], rows[parts] = first, end
	return rows
}

// A router moves contexts of M between ranks that share a text. A rank finds contexts of
// all rows, in its part of the text. The rows have owners, which draw the contexts to keep
// and collect them.
//
// Contexts of a row are in the order of the text, pass after pass: those of rank 0 in the
// first pass, of rank 1 in the first pass, and so on.
type router struct {
	comm    cluster.Comm
	passes  int
	threads int
	batches [][]int // of each owner: the rows of batch n are batches[owner][n] ... batches[owner][n+1]-1

	// Of the own rows, from first on: parts[pass·R + rank][i-first] is how many contexts of
	// row i that rank found in that pass; after Draw, how many of them the row keeps.
	first int
	parts [][]uint64
}

// newRouter tells the owners how many contexts this rank found in each pass, (passes, V).
// offsets are those of the whole M.
func newRouter(comm cluster.Comm, offsets []uint64, owners []int, found [][]uint64, threads int) (*router, error) {
	r := &router{comm: comm, passes: len(found), threads: threads, first: owners[comm.Rank()]}
	most := uint64(0)
	for o := range comm.Size() {
		most = max(most, offsets[owners[o+1]]-offsets[owners[o]])
	}
	batches := int(most/atATime) + 1
	parts := make([][]uint64, comm.Size())
	for o := range comm.Size() {
		r.batches = append(r.batches, cutRows(offsets, owners[o], owners[o+1], batches))
		for _, counts := range found {
			parts[o] = append(parts[o], counts[owners[o]:owners[o+1]]...)
		}
	}
	got, err := cluster.Exchange(comm, parts)
	if err != nil {
		return nil, err
	}
	own := owners[comm.Rank()+1] - r.first
	for pass := range r.passes {
		for _, counts := range got {
			if len(counts) != r.passes*own {
				return nil, fmt.Errorf("%d counts of %d rows in %d passes", len(counts), own, r.passes)
			}
			r.parts = append(r.parts, slices.Clone(counts[pass*own:][:own]))
		}
	}
	return r, nil
}

// Draw has the owners draw the contexts that long rows keep. draw returns a set bit for
// each kept context of an own row, nil for a row that keeps all. take gets, on each rank,
// which of its contexts of a row are kept: numbers in ascending order, where those of all
// passes together are numbered from 0.
func (r *router) Draw(ctx context.Context, draw func(row int) []uint64, take func(row int, kept []uint32)) error {
	for n := range r.batchCount() {
		first, end := r.batch(r.comm.Rank(), n)
		rows := make([][][]uint32, end-first) // of each rank
		err := parallel.Try(ctx, r.threads, end-first, func(_, i int) (err error) {
			if chosen := draw(first + i); chosen != nil {
				rows[i], err = r.cut(first+i, chosen)
			}
			return err
		})
		if err != nil {
			return err
		}
		parts := make([][]uint32, r.comm.Size())
		for _, kept := range rows {
			for rank, part := range kept {
				parts[rank] = append(parts[rank], part...)
			}
		}
		got, err := cluster.Exchange(r.comm, parts)
		if err != nil {
			return err
		}
		for _, list := range got {
			for len(list) > 0 {
				row, count := int(list[0]), int(list[1])
				take(row, list[2:][:count])
				list = list[2+count:]
			}
		}
	}
	return nil
}

// cut returns what each rank is told about the kept contexts of a row: the row, their
// number, and which.
func (r *router) cut(row int, chosen []uint64) ([][]uint32, error) {
	ranks, i := r.comm.Size(), row-r.first
	lists := make([][]uint32, ranks)
	before := make([]uint64, ranks) // contexts of each rank in the passes before
	for rank := range lists {
		lists[rank] = []uint32{uint32(row), 0}
	}
	at := uint64(0)
	for x, counts := range r.parts {
		rank, end, kept := x%ranks, at+counts[i], len(lists[x%ranks])
		if before[rank]+counts[i] > math.MaxUint32 {
			return nil, fmt.Errorf("rank %d has %d contexts of word %d, more than 32-bit numbers tell apart: take more ranks", rank, before[rank]+counts[i], row)
		}
		for from := at; from < end; {
			step := min(64-from%64, end-from)
			word := chosen[from/64] >> (from % 64) << (64 - step) >> (64 - step)
			for ; word != 0; word &= word - 1 {
				lists[rank] = append(lists[rank], uint32(before[rank]+from-at)+uint32(bits.TrailingZeros64(word)))
			}
			from += step
		}
		before[rank] += counts[i]
		at = end
		counts[i] = uint64(len(lists[rank]) - kept)
	}
	for rank := range lists {
		lists[rank][1] = uint32(len(lists[rank]) - 2)
	}
	return lists, nil
}

func (r *router) batchCount() int { return len(r.batches[0]) - 1 }

func (r *router) batch(owner, n int) (first, end int) {
	return r.batches[owner][n], r.batches[owner][n+1]
}

// collectContexts brings the kept contexts to the owners of their rows. found returns those of
// any row that this rank has; those of sent rows are not asked for again. place returns
// where the contexts of an own row go.
func collectContexts[T uint16 | uint32](ctx context.Context, r *router, found func(row int) []T, sent func(first, end int), place func(row int) []T) error {
	for n := range r.batchCount() {
		parts := make([][]T, r.comm.Size())
		for owner := range parts {
			first, end := r.batch(owner, n)
			for row := first; row < end; row++ {
				parts[owner] = append(parts[owner], found(row)...)
			}
			sent(first, end)
		}
		got, err := cluster.Exchange(r.comm, parts)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		first, end := r.batch(r.comm.Rank(), n)
		for row := first; row < end; row++ {
			to := place(row)
			for x, counts := range r.parts {
				count, from := counts[row-r.first], &got[x%len(got)]
				copy(to, (*from)[:count])
				to, *from = to[count:], (*from)[count:]
			}
			if len(to) > 0 {
				return fmt.Errorf("%d contexts of row %d are missing", len(to), row)
			}
		}
	}
	return nil
}
