package walk

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// rows are the edges of a sparse matrix in the form CSR, as the file has them: those of node i lead to ends[starts[i]:starts[i+1]].
// They are a graph nearly as it lies in memory, so that a large one is neither cut into pairs of nodes nor sorted twice.
type rows struct {
	starts  []int
	ends    []uint32
	weights []float32 // nil: all are 1
}

// readRows reads the arrays indptr, indices and data.
func (e *edges) readRows(ctx context.Context, files map[string]*zip.File, o ReadOptions) error {
	var arrays []*array
	defer func() {
		for _, a := range arrays {
			_ = a.values.Close() // it was only read
		}
	}()
	for _, name := range []string{"indptr", "indices", "data"} {
		f := files[name+".npy"]
		if f == nil {
			return fmt.Errorf("the archive has no array %q, which a matrix in CSR form has", name)
		}
		a, err := openArray(ctx, f)
		if err != nil {
			return err
		}
		a.store = &e.store
		arrays = append(arrays, a)
	}
	starts, ends, values := arrays[0], arrays[1], arrays[2]
	if nodes := starts.count - 1; nodes < 1 || nodes > maxNodes || values.count != ends.count {
		return fmt.Errorf("the arrays do not fit together: indptr has %d values, indices %d, data %d", starts.count, ends.count, values.count)
	}
	r := &rows{}
	e.rows, e.given = r, uint64(starts.count-1)
	err := r.readStarts(starts, ends.count)
	if err != nil {
		return err
	}
	if r.ends, err = allocate[uint32](&e.store, ends.count); err != nil {
		return fmt.Errorf("%s: %w", ends.name, err)
	}
	defer e.store.settle()
	if err := r.readEnds(ends); err != nil {
		return err
	}
	if !o.Weighted {
		otherValues, err := values.others()
		e.noteValues("data", otherValues)
		return err
	}
	if r.weights, err = allocate[float32](&e.store, values.count); err != nil {
		return fmt.Errorf("%s: %w", values.name, err)
	}
	return values.eachNumber(func(i int, x float64) error {
		if err := checkWeight(x); err != nil {
			row, _ := slices.BinarySearch(r.starts, i+1)
			return fmt.Errorf("data[%d], in row %d: %w", i, row-1, err)
		}
		r.weights[i] = float32(x)
		return nil
	})
}

// readStarts reads where the rows begin, of so many entries in all.
func (r *rows) readStarts(a *array, entries int) error {
	done, err := memory.Room(8 * int64(a.count))
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	defer done()
	r.starts = make([]int, a.count)
	last := 0
	err = a.eachNumber(func(i int, x float64) error {
		switch {
		case i == 0 && x != 0:
			return fmt.Errorf("indptr[0] is %v, not 0", x)
		case !(x >= float64(last) && x <= float64(entries)) || x != math.Trunc(x):
			return fmt.Errorf("indptr[%d]: row %d ends before it starts, or behind the last entry", i, i-1)
		}
		last = int(x)
		r.starts[i] = last
		return nil
	})
	if err == nil && last != entries {
		return fmt.Errorf("the arrays do not fit together: the last row ends at entry %d of %d", last, entries)
	}
	return err
}

// readEnds reads the columns.
func (r *rows) readEnds(a *array) error {
	nodes := len(r.starts) - 1
	wrong := func(i int, x float64) error {
		return fmt.Errorf("indices[%d] is %v, but the matrix has %d columns", i, x, nodes)
	}
	if a.order != binary.LittleEndian || a.size != 4 || a.kind != 'i' && a.kind != 'u' {
		return a.eachNumber(func(i int, x float64) error {
			if !(x >= 0 && x < float64(nodes)) || x != math.Trunc(x) {
				return wrong(i, x)
			}
			r.ends[i] = uint32(x)
			return nil
		})
	}
	return a.each(func(first int, values []byte) error { // as they lie in memory; numbers below 0 are larger than all nodes
		to := r.ends[first:][:len(values)/4]
		copy(memory.BytesOf(to), values)
		if int(slices.Max(to)) < nodes {
			return nil
		}
		at := slices.IndexFunc(to, func(x uint32) bool { return int(x) >= nodes })
		x, _ := a.number(values[4*at:][:4])
		return wrong(first+at, x)
	})
}

// others reports whether some number is not 1.
func (a *array) others() (others bool, err error) {
	if a.size > 1 || a.kind == 'S' || a.kind == 'f' {
		return others, a.eachNumber(func(_ int, x float64) error {
			others = others || x != 1
			return nil
		})
	}
	return others, a.each(func(_ int, values []byte) error {
		others = others || bytes.Count(values, []byte{1}) < len(values)
		return nil
	})
}

// symmetric reports whether each edge leads back, too, as often and with the same weight. It compares the sums of a hash over both halves of
// the matrix, because to look for each edge's way back would take longer than all else. The rows may lie in a store.
func (r *rows) symmetric(ctx context.Context, threads int, s *store) (bool, error) {
	sums := make([]uint64, threads) // the one half minus the other
	err := eachNode(ctx, threads, len(r.starts)-1, s, func(worker int, node uint32) error {
		i, sum := uint64(node), uint64(0)
		for at := r.starts[node]; at < r.starts[node+1]; at++ {
			weight := uint64(0)
			if r.weights != nil {
				weight = uint64(math.Float32bits(r.weights[at]))
			}
			switch to := uint64(r.ends[at]); {
			case to > i:
				sum += mixed(i<<32|to, weight)
			case to < i:
				sum -= mixed(to<<32|i, weight)
			}
		}
		sums[worker] += sum
		return nil
	})
	difference := uint64(0)
	for _, sum := range sums {
		difference += sum
	}
	return difference == 0, err
}

// mixed is a hash of an edge: the end of SplitMix64, twice.
func mixed(nodes, weight uint64) uint64 {
	x := nodes*0x9e3779b97f4a7c15 + weight
	for range 2 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// spread makes a list of the edges, for a matrix that holds some edges in one direction only.
func (e *edges) spread() error {
	const bytesPerEdge = 16
	r := e.rows
	done, err := memory.Room(bytesPerEdge * int64(len(r.ends)))
	if err != nil {
		return err
	}
	defer done()
	c := edgeChunk{from: make([]uint64, len(r.ends)), to: make([]uint64, len(r.ends)), weights: r.weights}
	for i := range len(r.starts) - 1 {
		for at := r.starts[i]; at < r.starts[i+1]; at++ {
			c.from[at], c.to[at] = uint64(i), uint64(r.ends[at])
		}
	}
	e.chunks, e.rows = []edgeChunk{c}, nil
	if e.names != nil {
		e.rename(e.names)
	}
	return nil
}

// namesBelow returns the numbers 0 ... count-1 as names.
func namesBelow(ctx context.Context, threads, count int) ([]string, error) {
	names := make([]string, count)
	return names, numberNames(ctx, threads, names, func(first, end int, visit func(key uint64)) {
		for i := first; i < end; i++ {
			visit(uint64(i))
		}
	})
}

// fromRows takes the arcs from rows. The arcs may lie in the store of the edges.
func (b *builder[A]) fromRows(ctx context.Context, e *edges) error {
	r := e.rows
	nodes := len(r.starts) - 1
	b.starts, b.degrees, b.names = r.starts, make([]int, nodes), e.names
	if b.names == nil {
		var err error
		if b.names, err = namesBelow(ctx, b.threads, nodes); err != nil {
			return err
		}
	} else {
		_, b.places = inOrder(b.names)
	}
	for i := range b.degrees {
		b.degrees[i] = r.starts[i+1] - r.starts[i]
	}
	var ok bool
	if b.arcs, ok = any(r.ends).([]A); ok {
		b.store = &e.store
		return nil
	}
	var err error
	if b.arcs, err = allocate[A](b.store, len(r.ends)); err != nil {
		return err
	}
	err = b.rows(ctx, func(_ int, i uint32) error {
		for at := r.starts[i]; at < r.starts[i+1]; at++ {
			b.arcs[at] = newArc[A](r.ends[at], r.weights[at])
		}
		if i%8 == 7 {
			e.store.giveBack()
		}
		return nil
	})
	r.ends, r.weights = nil, nil // the graph needs their memory
	return errors.Join(err, e.store.close())
}
