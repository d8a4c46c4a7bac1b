package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// graphRows are the neighbours of each node, in rising order and without repetitions.
type graphRows struct {
	degrees []uint32
	ends    [][][]byte // of the nodes of each range in turn: pieces, with four bytes for a neighbour
}

// An arcTable holds arcs, the two directions of edges, by ranges of 2^shift nodes that they lead from. Rows are then made of one range at a
// time, whose nodes a processor's cache holds. A piece has 8 bytes for an arc.
type arcTable struct {
	shift  int
	pieces [][][]byte // of each range
}

const pieceBytes = 8 << 10

// newArcTable returns a table for a graph.
func (g GeneratedGraph) newArcTable() arcTable {
	const arcs = 1 << 13 // of a range, at least, on average
	most := int(min(max(2*g.Edges/arcs, 1), 1<<10))
	shift := max(bits.Len64(uint64(g.Nodes-1))-bits.Len(uint(most))+1, 0)
	return arcTable{shift: shift, pieces: make([][][]byte, (g.Nodes-1)>>shift+1)}
}

// add adds an arc.
func (t *arcTable) add(from, to int64) {
	pieces := &t.pieces[from>>t.shift]
	last := len(*pieces) - 1
	if last < 0 || len((*pieces)[last]) == pieceBytes {
		*pieces = append(*pieces, make([]byte, 0, pieceBytes))
		last++
	}
	(*pieces)[last] = binary.LittleEndian.AppendUint64((*pieces)[last], uint64(from)<<32|uint64(to))
}

// rows makes the rows.
func (g GeneratedGraph) rows(ctx context.Context, threads int, progress func(done, total int64)) (*graphRows, error) {
	threads = max(threads, 1)
	halfFull := int64(threads*len(g.newArcTable().pieces)) * pieceBytes / 2 // the last piece of each range
	done, err := memory.Room(18*g.Edges + 4*g.Nodes + halfFull)
	if err != nil {
		return nil, fmt.Errorf("a graph of %d edges: %w", g.Edges, err)
	}
	defer done()
	tables := make([]arcTable, threads)
	for i := range tables {
		tables[i] = g.newArcTable()
	}
	const together = 1 << 16
	var drawn atomic.Int64
	if err := parallel.Try(ctx, threads, int((g.Edges+together-1)/together), func(worker, k int) error {
		first := int64(k) * together
		end := min(first+together, g.Edges)
		for i := first; i < end; i++ {
			from, to := g.edge(i)
			tables[worker].add(from, to)
			tables[worker].add(to, from)
		}
		if n := drawn.Add(end - first); worker == 0 && progress != nil {
			progress(n, g.Edges)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r := &graphRows{degrees: make([]uint32, g.Nodes), ends: make([][][]byte, len(tables[0].pieces))}
	makers := make([]rowMaker, len(tables))
	return r, parallel.Try(ctx, threads, len(r.ends), func(worker, k int) error {
		for _, t := range tables {
			r.ends[k], t.pieces[k] = append(r.ends[k], t.pieces[k]...), nil
		}
		first := k << tables[0].shift
		makers[worker].make(r.degrees[first:min(first+1<<tables[0].shift, len(r.degrees))], uint64(first), r.ends[k])
		return nil
	})
}

// A rowMaker makes the rows of a range at a time.
type rowMaker struct {
	next []int    // where the next neighbour of each node goes
	ends []uint32 // of all nodes of the range
}

// make makes the rows of the nodes from first on, whose degrees it sets. The neighbours take the place of the arcs in the pieces.
func (m *rowMaker) make(degrees []uint32, first uint64, pieces [][]byte) {
	clear(degrees)
	each := func(visit func(node uint64, to uint32)) {
		for _, piece := range pieces {
			for ; len(piece) > 0; piece = piece[8:] {
				arc := binary.LittleEndian.Uint64(piece)
				visit(arc>>32-first, uint32(arc))
			}
		}
	}
	each(func(node uint64, _ uint32) { degrees[node]++ })
	m.next = m.next[:0]
	all := 0
	for _, degree := range degrees {
		m.next = append(m.next, all)
		all += int(degree)
	}
	m.ends = slices.Grow(m.ends[:0], all)[:all]
	each(func(node uint64, to uint32) {
		m.ends[m.next[node]] = to
		m.next[node]++
	})
	out := pieceWriter{pieces: pieces}
	for v, end := range m.next {
		row := m.ends[end-int(degrees[v]) : end]
		slices.Sort(row)
		row = slices.Compact(row)
		degrees[v] = uint32(len(row))
		for _, to := range row {
			out.write(to)
		}
	}
	out.close()
}

// A pieceWriter overwrites pieces.
type pieceWriter struct {
	pieces [][]byte
	piece  int // that is written to
	at     int // in it
}

func (w *pieceWriter) write(x uint32) {
	if w.at == len(w.pieces[w.piece]) {
		w.piece, w.at = w.piece+1, 0
	}
	binary.LittleEndian.PutUint32(w.pieces[w.piece][w.at:], x)
	w.at += 4
}

// close empties what was not written to.
func (w *pieceWriter) close() {
	for i := range w.pieces {
		switch {
		case i == w.piece:
			w.pieces[i] = w.pieces[i][:w.at]
		case i > w.piece:
			w.pieces[i] = nil
		}
	}
}
