package textfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// parquetMagic begins a parquet file, and ends it.
const parquetMagic = "PAR1"

// A parquetReader reads the texts of a column of a parquet file, each followed by a line feed. Rows with null have no text.
// Package parquet believes what a file says about its sizes, so the reader asks for the memory of a row group before it reads it.
type parquetReader struct {
	file   *parquet.File
	column int
	group  int // that is read next

	pages  parquet.Pages // of the group before; or nil
	page   parquet.Page  // of these; or nil
	values parquet.ValueReader
	done   func() // of the memory for the group
	left   int64  // rows of the group
	row    int64  // of the next value, counted from 1

	some, pending []parquet.Value // of the page: room for some, and those that were read and not used
	buffer, text  []byte          // text is the part of buffer that was not read
	err           error
}

// newParquet opens a file of so many bytes. A column in a group is a.b. A file without the column is an error that wraps errNoField.
func newParquet(file io.ReaderAt, size int64, field string) (_ *parquetReader, err error) {
	defer explainPanic(&err)
	var tail [8]byte
	if size < int64(len(parquetMagic)+len(tail)) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := file.ReadAt(tail[:], size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != parquetMagic || footer > size-int64(len(parquetMagic)+len(tail)) {
		return nil, io.ErrUnexpectedEOF
	}
	const described = 16 // bytes of memory for a byte of the footer
	done, err := memory.Room(described * footer)
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	column, err := findColumn(f.Schema(), field)
	return &parquetReader{file: f, column: column, row: 1, some: make([]parquet.Value, 64)}, err
}

// explainPanic makes an error of a panic: package parquet panics about some damaged
// files.
func explainPanic(err *error) {
	if recover() != nil {
		*err = errors.New("the file is damaged: its data are not what its headers say")
	}
}

func findColumn(schema *parquet.Schema, field string) (int, error) {
	leaf, ok := schema.Lookup(field)
	if !ok {
		leaf, ok = schema.Lookup(strings.Split(field, ".")...)
	}
	switch {
	case !ok:
		var names []string
		for _, path := range schema.Columns() {
			names = append(names, strings.Join(path, "."))
		}
		return 0, fmt.Errorf("%w: --field %s: its columns are %.200s", errNoField, field, strings.Join(names, ", "))
	case leaf.Node.Type().Kind() != parquet.ByteArray || leaf.MaxRepetitionLevel > 0:
		return 0, &recordError{"column " + field, fmt.Errorf("it holds %s, not a text for each row", strings.TrimSuffix(fmt.Sprint(leaf.Node), ";"))}
	}
	return leaf.ColumnIndex, nil
}

// Read implements io.Reader.
func (r *parquetReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if err := r.more(); err == io.EOF {
			r.err = err
		} else if err != nil {
			r.err = &recordError{fmt.Sprintf("row %d", r.row), err}
		}
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// more uses a value, reads some, or goes to the next page or row group.
func (r *parquetReader) more() (err error) {
	defer explainPanic(&err)
	switch {
	case len(r.pending) > 0:
		if value := r.pending[0]; !value.IsNull() {
			r.buffer = appendText(r.buffer[:0], value.ByteArray())
			r.text = r.buffer
		}
		r.pending = r.pending[1:]
		r.row++
		r.left--
		return nil
	case r.pages == nil:
		return r.nextGroup()
	case r.page == nil:
		if r.page, err = r.pages.ReadPage(); err == io.EOF {
			return r.endGroup()
		}
		if err == nil {
			r.values = r.page.Values()
		}
		return err
	}
	n, err := r.values.ReadValues(r.some)
	r.pending = r.some[:n]
	if err != io.EOF {
		return err
	}
	if n == 0 { // otherwise the end comes again
		parquet.Release(r.page)
		r.page = nil
	}
	return nil
}

func (r *parquetReader) nextGroup() error {
	groups := r.file.Metadata().RowGroups
	if r.group == len(groups) {
		return io.EOF
	}
	chunk := &groups[r.group].Columns[r.column].MetaData
	if chunk.Codec == parquetformat.Lz4Raw || chunk.Codec == parquetformat.Lz4 { // package parquet returns zeros for some pages
		return errors.New("the column is compressed with LZ4, which is not read: write the file with zstd or snappy")
	}
	var err error
	if r.done, err = memory.Room(chunk.TotalCompressedSize + chunk.TotalUncompressedSize); err != nil {
		return err
	}
	r.pages = r.file.RowGroups()[r.group].ColumnChunks()[r.column].Pages()
	r.left = groups[r.group].NumRows
	r.group++
	return nil
}

// endGroup ends the row group.
func (r *parquetReader) endGroup() error {
	if r.left != 0 {
		return io.ErrUnexpectedEOF
	}
	return r.Close()
}

// Close implements io.Closer.
func (r *parquetReader) Close() error {
	if r.pages == nil {
		return nil
	}
	if r.page != nil {
		parquet.Release(r.page)
	}
	err := r.pages.Close()
	r.done()
	r.pages, r.page = nil, nil
	return err
}
