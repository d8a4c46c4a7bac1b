// Package matlab reads matrices of numbers from MATLAB files of version 5. MATLAB
// writes them with -v6 and -v7, scipy with scipy.io.savemat. The matrices may be full
// or sparse, compressed or not, of either byte order.
//
// Start at [Read]. "MAT-File Format" (The MathWorks) describes the format; element.go
// reads its elements and their numbers.
package matlab

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Matrix is a matrix of real numbers. It holds the entries that are not zero,
// column by column.
type Matrix struct {
	Rows, Columns int
	Entries       []Entry
}

// An Entry is one number of a matrix; rows and columns count from 0.
type Entry struct {
	Row, Column uint32
	Value       float64
}

// Read returns the matrix of the given name or, if name is "", the first matrix of
// real numbers. It returns an error if the file is not of version 5, is damaged or
// cut off; if it has no such matrix (the message names the others); or if the matrix
// is complex, has more than two dimensions or does not hold numbers. Few bytes may be a
// large matrix: it wraps memory.ErrRoom for one that the memory does not hold. It
// wraps the error of a context that is done.
func Read(ctx context.Context, r io.Reader, name string) (*Matrix, error) {
	order, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	var seen []string
	for {
		m, err := readVariable(ctx, &elements{r: r, order: order}, name)
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("no matrix %q in the file, which holds %s", name, orNothing(seen))
		case err != nil:
			return nil, err
		case m.matrix != nil:
			return m.matrix, nil
		case m.name != "":
			seen = append(seen, m.name)
		}
	}
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// readHeader reads the first 128 bytes: a text, the version, the byte order.
func readHeader(r io.Reader) (binary.ByteOrder, error) {
	header := make([]byte, 128)
	n, err := io.ReadFull(r, header)
	if bytes.HasPrefix(header, []byte("MATLAB 7.3")) {
		return nil, errors.New("this is a MATLAB file of version 7.3 (HDF5), which w2vcl cannot read: save it with -v7")
	}
	if !bytes.HasPrefix(header, []byte("MATLAB 5.0")) {
		return nil, errors.New("not a MATLAB file of version 5 (its first bytes are not \"MATLAB 5.0\")")
	}
	if err != nil {
		return nil, fmt.Errorf("the file is cut off after %d bytes: %w", n, io.ErrUnexpectedEOF)
	}
	switch string(header[126:]) {
	case "IM":
		return binary.LittleEndian, nil
	case "MI":
		return binary.BigEndian, nil
	default:
		return nil, fmt.Errorf("the byte order mark is %q, neither IM nor MI", header[126:])
	}
}

// A variable is a named value of the file. matrix is nil if the reader skipped it.
type variable struct {
	name   string
	matrix *Matrix
}

// readVariable reads the next variable, with its numbers if it is the wanted one.
// The error at the end of the file is io.EOF, unwrapped.
func readVariable(ctx context.Context, e *elements, wanted string) (variable, error) {
	t, err := e.tag()
	if err == io.EOF {
		return variable{}, err
	}
	if err != nil {
		return variable{}, damaged(err)
	}
	body := io.LimitReader(e.r, int64(t.size))
	inner := &elements{r: body, order: e.order}
	switch t.kind {
	case kindMatrix:
	case kindCompressed:
		inflated, err := zlib.NewReader(body)
		if err != nil {
			return variable{}, damaged(err)
		}
		inner.r = memory.NewReader(ctx, inflated)
		if t, err = inner.tag(); err != nil {
			return variable{}, damaged(err)
		}
	}
	var v variable
	if t.kind == kindMatrix {
		if v, err = readMatrix(inner, wanted); err != nil {
			return v, damaged(err)
		}
	}
	if v.matrix != nil && inner.r != body { // the checksum of compressed data comes at their end
		if _, err := io.ReadFull(inner.r, make([]byte, 1)); err != nil && err != io.EOF {
			return v, damaged(err)
		}
	}
	if _, err := io.Copy(io.Discard, body); err != nil { // skips the rest, up to the next variable
		return variable{}, damaged(err)
	}
	return v, nil
}

// damaged turns an early end of the data into an error that says so.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut off or damaged: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// The classes of arrays.
const (
	classSparse = 5
	classDouble = 6  // the first class of numbers
	classUint64 = 15 // the last
	flagComplex = 0x0800
)

// What an array may have; MATLAB's own limits are 63 bytes and fewer dimensions than
// anybody uses.
const (
	mostDimensions = 256
	mostName       = 4096
)

// readMatrix reads the elements of an array: flags, dimensions, name, numbers.
func readMatrix(e *elements, wanted string) (variable, error) {
	flags, err := e.few(mostDimensions)
	if err != nil {
		return variable{}, err
	}
	dims, err := e.few(mostDimensions)
	if err != nil {
		return variable{}, err
	}
	name, err := e.text(mostName)
	if err != nil {
		return variable{}, err
	}
	if len(flags) != 2 || len(dims) < 2 {
		return variable{}, fmt.Errorf("array %q has %d flags and %d dimensions", name, len(flags), len(dims))
	}
	v := variable{name: name}
	class, isComplex := int(flags[0])&0xff, int(flags[0])&flagComplex != 0
	numeric := (class == classSparse || class >= classDouble && class <= classUint64) && !isComplex && len(dims) == 2
	if name == "" || wanted != "" && name != wanted || wanted == "" && !numeric {
		return v, nil
	}
	if !numeric {
		return v, fmt.Errorf("%s is not a matrix of real numbers (class %d, complex %t, %d dimensions)", name, class, isComplex, len(dims))
	}
	for _, d := range dims {
		if !(d >= 0 && d < math.MaxUint32) {
			return v, fmt.Errorf("%s has a dimension of %g", name, d)
		}
	}
	m := &Matrix{Rows: int(dims[0]), Columns: int(dims[1])}
	if class == classSparse {
		err = m.readSparse(e)
	} else {
		err = m.readFull(e)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	v.matrix = m
	return v, nil
}

// readSparse reads the row numbers, the start of each column's entries, and the
// values.
func (m *Matrix) readSparse(e *elements) error {
	rows, err := m.readRows(e)
	if err != nil {
		return err
	}
	bounds, err := m.readBounds(e)
	if err != nil {
		return err
	}
	values, err := e.numbers()
	if err != nil {
		return err
	}
	stored, place := min(len(rows), values.count()), 0
	for column := range m.Columns {
		first, last := bounds[column], bounds[column+1]
		if !(first >= float64(place) && last >= first && last <= float64(stored)) { // NaN is refused, too
			return fmt.Errorf("column %d holds the entries %g to %g of %d", column+1, first, last, stored)
		}
		for ; place < int(last); place++ {
			value, err := values.read()
			if err != nil {
				return err
			}
			if place < int(first) { // no column holds it
				continue
			}
			if rows[place] == noRow {
				return fmt.Errorf("column %d has an entry in no row of %d", column+1, m.Rows)
			}
			if rows[place] >= uint32(m.Rows) {
				return fmt.Errorf("column %d has an entry in row %d of %d", column+1, rows[place]+1, m.Rows)
			}
			if err := m.add(int(rows[place]), column, value); err != nil {
				return err
			}
		}
	}
	for range values.count() { // spare ones
		if _, err := values.read(); err != nil {
			return err
		}
	}
	return values.end()
}

// readBounds reads the start of each column's entries, and the end of the last column's.
func (m *Matrix) readBounds(e *elements) ([]float64, error) {
	starts, err := e.numbers()
	if err != nil {
		return nil, err
	}
	if n := starts.count(); n != m.Columns+1 {
		return nil, fmt.Errorf("%d columns, but column starts for %d", m.Columns, n-1)
	}
	bounds, err := memory.Grow[float64](nil, m.Columns+1)
	if err != nil {
		return nil, err
	}
	for range m.Columns + 1 {
		bound, err := starts.read()
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, bound)
	}
	return bounds, starts.end()
}

// noRow stands for a row number that no matrix can have.
const noRow = math.MaxUint32

// readRows reads the row numbers of a sparse matrix.
func (m *Matrix) readRows(e *elements) ([]uint32, error) {
	x, err := e.numbers()
	if err != nil {
		return nil, err
	}
	var rows []uint32
	for range x.count() {
		row, err := x.read()
		if err != nil {
			return nil, err
		}
		if !(row >= 0 && row < noRow) {
			row = noRow
		}
		if rows, err = memory.Append(rows, uint32(row)); err != nil {
			return nil, err
		}
	}
	return rows, x.end()
}

// readFull reads all values, column by column.
func (m *Matrix) readFull(e *elements) error {
	values, err := e.numbers()
	if err != nil {
		return err
	}
	n := values.count()
	if m.Rows > 0 && (n%m.Rows != 0 || n/m.Rows != m.Columns) || m.Rows == 0 && n > 0 {
		return fmt.Errorf("%d values in %d rows and %d columns", n, m.Rows, m.Columns)
	}
	for i := 0; i < n; i++ {
		zeros, err := values.skipZeros()
		if err != nil {
			return err
		}
		if i += zeros; i >= n {
			break
		}
		v, err := values.read()
		if err != nil {
			return err
		}
		if err := m.add(i%m.Rows, i/m.Rows, v); err != nil {
			return err
		}
	}
	return values.end()
}

func (m *Matrix) add(row, column int, value float64) (err error) {
	if value != 0 {
		m.Entries, err = memory.Append(m.Entries, Entry{uint32(row), uint32(column), value})
	}
	return err
}
