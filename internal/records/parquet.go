package records

import (
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
// are taken apart at the same time.
func Parquet(file io.ReaderAt, size int64, field string, threads int) (_ io.ReadCloser, err error) {
	defer explainPanic(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	column, err := findColumn(p, field)
	if err != nil {
		return nil, err
	}
	pages := &pageReader{in: file, file: p, leaf: column}
	return parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		page, row, err := pages.next()
		if err == io.EOF {
			return nil, nil, io.EOF
		}
		if err != nil {
			return nil, nil, &Error{fmt.Sprintf("row %d", row), err}
		}
		return func() parallel.Block {
			text := &pageTexts{page: page, row: row}
			start, err := io.ReadAll(io.LimitReader(text, pageText))
			return parallel.Block{Data: start, Rest: text, Err: err}
		}, nil, nil
	}), nil
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
	done, err := memory.Room(4 * footer) // what is made of it takes more
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
	in    io.ReaderAt
	file  *parquet.File
	leaf  parquet.LeafColumn
	group int           // the next one
	pages parquet.Pages // of the group that is being read
	sizes *pageSizes    // of pages
	row   int64         // of the next page, counted from 0
}

// next returns the next page and the number of its first row, counted from 1.
func (r *pageReader) next() (page parquet.Page, row int64, err error) {
	defer explainPanic(&err)
	for {
		if r.pages == nil {
			if r.group == len(r.file.RowGroups()) {
				return nil, 0, io.EOF
			}
			if err := r.begin(); err != nil {
				return nil, r.row + 1, err
			}
		}
		done, err := r.sizes.room()
		if err != nil {
			return nil, r.row + 1, err
		}
		page, err := r.pages.ReadPage()
		done()
		if err == io.EOF {
			err = r.pages.Close()
			if r.pages = nil; err == nil {
				continue
			}
		}
		if err != nil {
			return nil, r.row + 1, err
		}
		row := r.row + 1
		r.row += page.NumRows()
		return page, row, nil
	}
}

// errLZ4: package parquet returns zeros in place of most texts of this codec.
var errLZ4 = errors.New("the column is compressed with LZ4, which is not read: write the file with zstd or snappy")

// begin begins the next row group.
func (r *pageReader) begin() error {
	chunks, described := r.file.RowGroups()[r.group].ColumnChunks(), r.file.Metadata().RowGroups[r.group].Columns
	column := r.leaf.ColumnIndex
	if column >= len(chunks) || column >= len(described) {
		return errors.New("its group has too few columns")
	}
	if described[column].MetaData.Codec == format.Lz4Raw {
		return errLZ4
	}
	r.pages, r.sizes = chunks[column].Pages(), newPageSizes(r.in, &described[column].MetaData, r.leaf.MaxDefinitionLevel > 0)
	r.group++
	return nil
}
