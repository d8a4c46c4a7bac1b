package bench

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// graphRows are the neighbours of each node, in rising order and without repetitions. Those of node v begin at ends[starts[v]] and
// are degrees[v].
type graphRows struct {
	starts  []uint64
	degrees []uint32
	ends    []uint32
}

// WriteArchive writes the graph as the symmetric matrix that SciPy's save_npz writes: the arrays indptr, indices and data, not compressed.
// An edge that was drawn again counts once. The bytes do not depend on the number of threads. The graph takes 16 bytes of
// memory for an edge and 20 for a node.
func (g GeneratedGraph) WriteArchive(ctx context.Context, w io.Writer, threads int, progress func(done, total int64)) error {
	r, err := g.rows(ctx, threads, progress)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	if err := r.write(z); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return z.Close()
}

// rows makes the rows. It stores the edges in between, because to draw one takes longer than to read it.
func (g GeneratedGraph) rows(ctx context.Context, threads int, progress func(done, total int64)) (*graphRows, error) {
	done, err := memory.Room(16*g.Edges + 20*g.Nodes)
	if err != nil {
		return nil, fmt.Errorf("a graph of %d edges: %w", g.Edges, err)
	}
	defer done()
	r := &graphRows{starts: make([]uint64, g.Nodes+1), degrees: make([]uint32, g.Nodes)}
	edges := make([][2]uint32, g.Edges)
	if err := g.each(ctx, threads, func(first, end int64) {
		for i := first; i < end; i++ {
			from, to := g.edge(i)
			edges[i] = [2]uint32{uint32(from), uint32(to)}
			atomic.AddUint32(&r.degrees[from], 1)
			atomic.AddUint32(&r.degrees[to], 1)
		}
	}, progress); err != nil {
		return nil, err
	}
	next := make([]uint64, g.Nodes)
	for v, degree := range r.degrees {
		next[v], r.starts[v+1] = r.starts[v], r.starts[v]+uint64(degree)
	}
	r.ends = make([]uint32, 2*g.Edges)
	if err := g.each(ctx, threads, func(first, end int64) {
		for _, e := range edges[first:end] {
			r.ends[atomic.AddUint64(&next[e[0]], 1)-1] = e[1]
			r.ends[atomic.AddUint64(&next[e[1]], 1)-1] = e[0]
		}
	}, nil); err != nil {
		return nil, err
	}
	const together = 1 << 12
	nodes := int(g.Nodes)
	return r, parallel.Do(ctx, threads, (nodes+together-1)/together, func(k int) {
		for v := k * together; v < min((k+1)*together, nodes); v++ {
			row := r.ends[r.starts[v]:r.starts[v+1]]
			slices.Sort(row)
			r.degrees[v] = uint32(len(slices.Compact(row)))
		}
	})
}

// each calls visit for all edges, some at a time, on several goroutines. One of them says now and then how many are done.
func (g GeneratedGraph) each(ctx context.Context, threads int, visit func(first, end int64), progress func(done, total int64)) error {
	const together = 1 << 16
	var all atomic.Int64
	return parallel.Try(ctx, threads, int((g.Edges+together-1)/together), func(worker, k int) error {
		first := int64(k) * together
		end := min(first+together, g.Edges)
		visit(first, end)
		if n := all.Add(end - first); worker == 0 && progress != nil {
			progress(n, g.Edges)
		}
		return nil
	})
}

// write writes the arrays of the matrix.
func (r *graphRows) write(z *zip.Writer) error {
	entries, nodes := uint64(0), len(r.degrees)
	for _, degree := range r.degrees {
		entries += uint64(degree)
	}
	small := func(values ...any) func(w *bufio.Writer) error {
		return func(w *bufio.Writer) error {
			for _, v := range values {
				if err := binary.Write(w, binary.LittleEndian, v); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, a := range []struct {
		name, kind, shape string
		fill              func(w *bufio.Writer) error
	}{
		{"format", "|S3", "()", small([]byte("csr"))},
		{"shape", "<i8", "(2,)", small(int64(nodes), int64(nodes))},
		{"indptr", "<i8", fmt.Sprintf("(%d,)", nodes+1), r.writeStarts},
		{"indices", "<i4", fmt.Sprintf("(%d,)", entries), r.writeEnds},
		{"data", "|b1", fmt.Sprintf("(%d,)", entries), func(w *bufio.Writer) error { return writeOnes(w, entries) }},
	} {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(entry, 1<<20)
		writeArrayHead(w, a.kind, a.shape)
		if err := a.fill(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeArrayHead writes the head of a file of NumPy. Its length is a multiple of 64.
func writeArrayHead(w *bufio.Writer, kind, shape string) {
	const before = 10 // bytes
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	length := (before+len(text)+1+63)/64*64 - before
	_, _ = w.WriteString("\x93NUMPY\x01\x00") // Flush returns the error
	_, _ = w.Write(binary.LittleEndian.AppendUint16(nil, uint16(length)))
	_, _ = fmt.Fprintf(w, "%-*s\n", length-1, text)
}

func (r *graphRows) writeStarts(w *bufio.Writer) error {
	var bytes [8]byte
	start := uint64(0)
	for v := range len(r.degrees) + 1 {
		binary.LittleEndian.PutUint64(bytes[:], start)
		if _, err := w.Write(bytes[:]); err != nil {
			return err
		}
		if v < len(r.degrees) {
			start += uint64(r.degrees[v])
		}
	}
	return nil
}

func (r *graphRows) writeEnds(w *bufio.Writer) error {
	var bytes []byte
	for v, degree := range r.degrees {
		bytes = bytes[:0]
		for _, end := range r.ends[r.starts[v]:][:degree] {
			bytes = binary.LittleEndian.AppendUint32(bytes, end)
		}
		if _, err := w.Write(bytes); err != nil {
			return err
		}
	}
	return nil
}

func writeOnes(w *bufio.Writer, count uint64) error {
	ones := bytes.Repeat([]byte{1}, 1<<16)
	for count > 0 {
		n := min(count, uint64(len(ones)))
		if _, err := w.Write(ones[:n]); err != nil {
			return err
		}
		count -= n
	}
	return nil
}
