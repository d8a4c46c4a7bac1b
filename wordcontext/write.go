package wordcontext

import (
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/container"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Save writes the matrix to a file that Open reads. It replaces the file at path
// completely or not at all. It returns an error if the matrix was closed or the
// file cannot be written.
func (m *Matrix) Save(path string) error {
	if m.offsets == nil {
		return fmt.Errorf("cannot write %s: the matrix was closed", path)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return m.write(w, groupContextsOf(m.Stored())) })
}

// write writes the file of the matrix, with groups that end after so many contexts.
func (m *Matrix) write(w io.Writer, groupContexts uint64) error {
	f, err := m.beginFile(w, groupContexts)
	if err != nil {
		return err
	}
	if m.narrow != nil {
		err = writeRows(f, 0, m.Rows(), func(i int) []uint16 { return rowOf(m, m.narrow, i) })
	} else {
		err = writeRows(f, 0, m.Rows(), func(i int) []uint32 { return rowOf(m, m.wide, i) })
	}
	if err != nil {
		return err
	}
	return f.end()
}

// rowOf returns the stored contexts of row i one after the other.
func rowOf[T id](m *Matrix, stored []T, i int) []T {
	row, n := m.row(i), uint32(m.offsets[i+1]-m.offsets[i])
	if place, whole := row.Whole(); whole {
		return stored[place:][:n]
	}
	contexts := make([]T, 0, n)
	for at := uint32(0); at < n; at = uint32(len(contexts)) {
		place, count := row.Run(at)
		contexts = append(contexts, stored[place:][:count]...)
	}
	return contexts
}

// untiled returns the stored contexts row after row.
func untiled[T id](m *Matrix, stored []T) []T {
	rows := make([]T, len(stored))
	parallel.Ranges(runtime.GOMAXPROCS(0), m.Rows(), 64, func(first, end int) {
		for i := first; i < end; i++ {
			copy(rows[m.offsets[i]:m.offsets[i+1]], rowOf(m, stored, i))
		}
	})
	return rows
}

// A fileWriter writes a matrix file from its first byte to its last.
type fileWriter struct {
	w      io.Writer
	sum    *container.Sum
	body   io.Writer // w and sum
	layout *tileLayout
	group  []byte // memory for a group
}

// beginFile writes all that stands before the stored contexts.
func (m *Matrix) beginFile(w io.Writer, groupContexts uint64) (*fileWriter, error) {
	h := m.header(groupContexts)
	if _, err := w.Write(container.Encode(&h)); err != nil {
		return nil, err
	}
	sum := new(container.Sum)
	f := &fileWriter{
		w: w, sum: sum, body: io.MultiWriter(w, sum),
		layout: newLayout(m.offsets, m.lengths, m.Contexts(), groupContexts),
	}
	for _, part := range [][]byte{memory.BytesOf(m.totals), memory.BytesOf(m.contextCounts), memory.BytesOf(m.lengths)} {
		if _, err := f.body.Write(part); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// writeRows writes the groups of the rows first ... end-1, which are whole groups. row
// returns the contexts of a row.
func writeRows[T id](f *fileWriter, first, end int, row func(i int) []T) error {
	var x T
	size := int(unsafe.Sizeof(x))
	for first < end {
		from, to := f.layout.Group(f.layout.GroupOf(first))
		if to == from+1 { // its pieces follow each other
			if _, err := f.body.Write(memory.BytesOf(row(from))); err != nil {
				return err
			}
			first = to
			continue
		}
		place, count := f.layout.Contexts(from, to)
		if need := int(count) * size; need > len(f.group) {
			f.group = memory.BytesOf(make([]uint32, need/4+1))
		}
		group := memory.NumbersOf[T](f.group[:int(count)*size])
		parallel.Ranges(runtime.GOMAXPROCS(0), to-from, 64, func(first, end int) {
			for i := from + first; i < from+end; i++ {
				contexts, r := row(i), f.layout.Row(i)
				for at := uint32(0); int(at) < len(contexts); {
					to, run := r.Run(at)
					copy(group[to-place:][:run], contexts[at:])
					at += run
				}
			}
		})
		if _, err := f.body.Write(f.group[:int(count)*size]); err != nil {
			return err
		}
		first = to
	}
	return nil
}

// end writes all that stands after the stored contexts.
func (f *fileWriter) end() error {
	_, err := f.w.Write(f.sum.Tail())
	return err
}
