package textfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquet "github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// parquetMagic begins a parquet file, and ends it.
const parquetMagic = "PAR1"

// A parquetReader reads the texts of a column of a parquet file, each followed by a line feed. Rows with null have no text.
// It uses the encodings of package parquet, not the package: that brings HTTP, and takes a quarter of the time to compile this
// program. They believe what a file says about its sizes, so the reader asks for the memory of a page before it reads it.
type parquetReader struct {
	file   io.ReaderAt
	column parquetColumn
	groups []parquet.RowGroup // still to come

	pages      *bufio.Reader // of the row group; nil: of none
	codec      parquet.CompressionCodec
	dictionary parquetTexts
	page       *parquetPage // or nil
	left       int64        // rows of the group
	row        int64        // of the next value, counted from 1

	buffer, text []byte // text is the part of buffer that was not read
	err          error
}

// A parquetColumn is a leaf of the schema.
type parquetColumn struct {
	*parquet.SchemaElement
	name     string // a.b is column b of group a
	number   int
	levels   int  // how many of it and its groups may be null, or repeat
	repeated bool // it or a group has any number of values for a row
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
	data := make([]byte, footer)
	if _, err := file.ReadAt(data, size-int64(len(tail))-footer); err != nil {
		return nil, err
	}
	var metadata parquet.FileMetaData
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(bytes.NewReader(data))).Decode(&metadata); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	column, err := findColumn(metadata.Schema, field)
	return &parquetReader{file: file, column: column, groups: metadata.RowGroups, row: 1}, err
}

var errDamaged = errors.New("the file is damaged: its data are not what its headers say")

// explainPanic makes an error of a panic. An index out of range is found where it is used, and package parquet panics, too.
func explainPanic(err *error) {
	if recover() != nil {
		*err = errDamaged
	}
}

// findColumn returns a column of texts.
func findColumn(schema []parquet.SchemaElement, field string) (parquetColumn, error) {
	columns := parquetColumns(schema)
	i := slices.IndexFunc(columns, func(c parquetColumn) bool { return c.name == field })
	if i < 0 {
		var names []string
		for _, c := range columns {
			names = append(names, c.name)
		}
		return parquetColumn{}, fmt.Errorf("%w: --field %s: its columns are %.200s", errNoField, field, strings.Join(names, ", "))
	}
	column := columns[i]
	if column.Type.V != parquet.ByteArray || column.repeated {
		return column, fmt.Errorf("column %s holds %s, not a text for each row", field, column.Type.V)
	}
	return column, nil
}

// parquetColumns returns the leaves of a schema, whose elements come before the elements that they hold.
func parquetColumns(schema []parquet.SchemaElement) (columns []parquetColumn) {
	next := 1
	var add func(in parquetColumn, deep, count int)
	add = func(in parquetColumn, deep, count int) {
		for range count {
			e := &schema[next]
			next++
			c := parquetColumn{SchemaElement: e, name: strings.TrimPrefix(in.name+"."+e.Name, "."), levels: in.levels, number: len(columns)}
			c.repeated = in.repeated || e.RepetitionType.V == parquet.Repeated
			if e.RepetitionType.V != parquet.Required {
				c.levels++
			}
			switch {
			case deep == math.MaxUint8 || len(c.name) > 1<<16:
				panic(errDamaged)
			case e.NumChildren.V > 0:
				add(c, deep+1, int(e.NumChildren.V))
			case e.Type.Valid:
				columns = append(columns, c)
			}
		}
	}
	add(parquetColumn{}, 0, int(schema[0].NumChildren.V))
	return columns
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

// more uses a value, or goes to the next page or row group.
func (r *parquetReader) more() (err error) {
	defer explainPanic(&err)
	switch {
	case r.page != nil && r.page.left > 0:
		text, ok := r.page.next()
		if ok {
			r.buffer = appendText(r.buffer[:0], text)
			r.text = r.buffer
		}
		r.row++
		r.left--
		return nil
	case r.pages != nil:
		if err := r.nextPage(); err != io.EOF {
			return err
		}
		if r.pages = nil; r.left != 0 {
			return io.ErrUnexpectedEOF
		}
	}
	return r.nextGroup()
}

// nextGroup goes to the next row group.
func (r *parquetReader) nextGroup() error {
	if len(r.groups) == 0 {
		return io.EOF
	}
	group := r.groups[0]
	column := &group.Columns[r.column.number]
	described := &column.MetaData
	start := described.DataPageOffset
	if at := described.DictionaryPageOffset; at > 0 {
		start = min(start, at)
	}
	switch {
	case column.CryptoMetadata.Value != nil:
		return errors.New("the column is encrypted, and is not read")
	case start < 0 || described.TotalCompressedSize < 0:
		return errDamaged
	}
	r.groups, r.left, r.codec = r.groups[1:], group.NumRows, described.Codec
	r.pages = bufio.NewReader(io.NewSectionReader(r.file, start, described.TotalCompressedSize))
	r.page, r.dictionary = nil, parquetTexts{}
	return nil
}

// Close implements io.Closer.
func (r *parquetReader) Close() error { return nil }
