package bench

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/embedding"
)

// WriteArchive writes the graph as the symmetric matrix that SciPy's save_npz writes: the arrays indptr, indices and data, not compressed.
// An edge that was drawn again counts once. The bytes do not depend on the number of threads. The graph takes about 18 bytes of
// memory for an edge and 4 for a node.
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
		_, _ = w.Write(embedding.NPYHeader(a.kind, a.shape)) // Flush returns the error
		if err := a.fill(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeStarts writes where the rows begin and end.
func (r *graphRows) writeStarts(w *bufio.Writer) error {
	var number [8]byte
	start := uint64(0)
	for v := range len(r.degrees) + 1 {
		binary.LittleEndian.PutUint64(number[:], start)
		if _, err := w.Write(number[:]); err != nil {
			return err
		}
		if v < len(r.degrees) {
			start += uint64(r.degrees[v])
		}
	}
	return nil
}

// writeEnds writes the neighbours of all nodes.
func (r *graphRows) writeEnds(w *bufio.Writer) error {
	for _, pieces := range r.ends {
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
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
