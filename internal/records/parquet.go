package records

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// ParquetMagic begins a parquet file, and ends it.
const ParquetMagic = "PAR1"

// Parquet returns the texts of a column of a parquet file of so many bytes, each
// followed by a line feed. A column in a group is a.b. Rows with null have no text. NUL
// bytes become spaces. The error of a page is an [Error] with the row that it begins
// with; a file without the column is one that wraps [ErrNoField]. Up to threads pages
// are taken apart at the same time. Pages are read here and not by package parquet, which
// believes what they say about their size and their values.
func Parquet(file io.ReaderAt, size int64, field string, threads int) (_ io.ReadCloser, err error) {
	defer explainPanic(&err)
	p, err := openParquet(file, size)
	if err != nil {
		return nil, err
	}
	column, err := findColumn(p, field)
	if err != nil {
		return nil, err
	}
	pages := &pageReader{in: file, groups: p.Metadata().RowGroups, column: column.ColumnIndex, nested: column.MaxDefinitionLevel}
	return parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		open, err := pages.next()
		if err == io.EOF {
			return nil, nil, io.EOF
		}
		if err != nil {
			return nil, nil, &Error{fmt.Sprintf("row %d", pages.row+1), err}
		}
		return func() parallel.Block {
			text, err := open()
			if err != nil {
				return parallel.Block{Err: &Error{fmt.Sprintf("row %d", text.row), err}}
			}
			start, err := io.ReadAll(io.LimitReader(text, pageText))
			return parallel.Block{Data: start, Rest: text, Err: err}
		}, nil, nil
	}), nil
}

func openParquet(file io.ReaderAt, size int64) (_ *parquet.File, err error) {
	defer explainPanic(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, err
	}
	return parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// explainPanic makes an error of a panic: package parquet panics about some damaged
// files.
func explainPanic(err *error) {
	switch cause := recover().(type) {
	case nil:
	case runtime.Error: // such as an index out of range
		*err = errors.New("the file is damaged: its data are not what its headers say")
	default:
		*err = fmt.Errorf("the file is damaged: %v", cause)
	}
}

// checkFooter refuses a footer that the file cannot hold, before memory is allocated
// for it.
func checkFooter(file io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < int64(len(ParquetMagic)+len(tail)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := file.ReadAt(tail[:], size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != ParquetMagic || footer > size-int64(len(ParquetMagic)+len(tail)) {
		return io.ErrUnexpectedEOF
	}
	described := &compact{in: bufio.NewReader(io.NewSectionReader(file, size-int64(len(tail))-footer, footer)), left: footer}
	elements := map[int64]int64{} // of its lists
	err := described.fields(func(id int64, kind byte) (err error) {
		if kind != thriftList {
			return described.skip(kind, 0)
		}
		elements[id], err = described.skipList(0)
		return err
	})
	if err != nil {
		return whole(err)
	}
	const columns, groups, references = 2, 4, 24 // fields, and bytes for each column of each group
	done, err := memory.Room(2*footer + described.made + references*elements[columns]*elements[groups])
	if err == nil {
		done()
	}
	return err
}

// findColumn returns the number of a column of texts.
func findColumn(p *parquet.File, field string) (parquet.LeafColumn, error) {
	schema := p.Schema()
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
		return leaf, fmt.Errorf("%w: --field %s: its columns are %.200s", ErrNoField, field, strings.Join(names, ", "))
	case leaf.Node.Type().Kind() != parquet.ByteArray || leaf.MaxRepetitionLevel > 0:
		return leaf, fmt.Errorf("column %s holds %s, not a text for each row", field, leaf.Node)
	}
	return leaf, nil
}

// A pageReader reads the pages of a column, one row group after the other.
type pageReader struct {
	in         io.ReaderAt
	groups     []format.RowGroup // still to come
	column     int
	nested     int    // how deep the column lies in what may be null
	chunk      *chunk // that is being read; or nil
	dictionary *dictionary
	row        int64 // of the next page, counted from 0
	end        int64 // the row behind the chunk
}

// next returns what takes the texts out of the next page, which several goroutines may do for pages of their own.
func (r *pageReader) next() (open func() (*pageTexts, error), err error) {
	for {
		if r.chunk == nil {
			if len(r.groups) == 0 {
				return nil, io.EOF
			}
			if err := r.begin(); err != nil {
				return nil, err
			}
		}
		header, body, err := r.chunk.page()
		if err == io.EOF && r.row == r.end {
			r.chunk = nil
			continue
		}
		if err != nil {
			return nil, whole(err)
		}
		codec, dictionary, row := r.chunk.codec, r.dictionary, r.row+1
		switch header.kind {
		case format.DictionaryPage:
			if r.dictionary, err = header.dictionary(body, codec); err != nil {
				return nil, err
			}
		case format.DataPage, format.DataPageV2:
			if header.values > r.end-r.row {
				return nil, errDamaged
			}
			r.row += header.values
			return func() (*pageTexts, error) {
				next, err := header.rows(body, codec, dictionary, r.nested)
				return &pageTexts{next: next, row: row}, err
			}, nil
		}
	}
}

// begin begins the next row group.
func (r *pageReader) begin() (err error) {
	group := r.groups[0]
	r.groups, r.dictionary = r.groups[1:], nil
	if r.column >= len(group.Columns) {
		return errors.New("its group has too few columns")
	}
	column := &group.Columns[r.column]
	if column.CryptoMetadata.Value != nil {
		return errors.New("the column is encrypted, and is not read")
	}
	r.chunk, err = newChunk(r.in, &column.MetaData)
	r.end = r.row + group.NumRows
	return err
}
