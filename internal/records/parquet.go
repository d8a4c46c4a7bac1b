package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

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
	pages := &pageReader{groups: p.RowGroups(), column: column}
	return parallel.NewBlocks(threads, func() (func() ([]byte, error), io.Reader, error) {
		page, row, err := pages.next()
		if err == io.EOF {
			return nil, nil, io.EOF
		}
		if err != nil {
			return nil, nil, &Error{fmt.Sprintf("row %d", row), err}
		}
		return func() ([]byte, error) {
			text, err := pageTexts(page)
			if err != nil {
				err = &Error{fmt.Sprintf("row %d", row), err}
			}
			return text, err
		}, nil, nil
	}), nil
}

// explainPanic makes an error of a panic: package parquet panics about some damaged
// files.
func explainPanic(err *error) {
	if cause := recover(); cause != nil {
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
func findColumn(p *parquet.File, field string) (int, error) {
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
		return 0, fmt.Errorf("%w: --field %s: its columns are %.200s", ErrNoField, field, strings.Join(names, ", "))
	case leaf.Node.Type().Kind() != parquet.ByteArray || leaf.MaxRepetitionLevel > 0:
		return 0, fmt.Errorf("column %s holds %s, not a text for each row", field, leaf.Node)
	}
	return leaf.ColumnIndex, nil
}

// A pageReader reads the pages of a column, one row group after the other.
type pageReader struct {
	groups []parquet.RowGroup
	column int
	pages  parquet.Pages // of the group that is being read
	row    int64         // of the next page, counted from 0
}

// next returns the next page and the number of its first row, counted from 1.
func (r *pageReader) next() (page parquet.Page, row int64, err error) {
	defer explainPanic(&err)
	for {
		if r.pages == nil {
			if len(r.groups) == 0 {
				return nil, 0, io.EOF
			}
			chunks := r.groups[0].ColumnChunks()
			if r.column >= len(chunks) {
				return nil, r.row + 1, errors.New("its group has too few columns")
			}
			r.pages, r.groups = chunks[r.column].Pages(), r.groups[1:]
		}
		page, err := r.pages.ReadPage()
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

// pageTexts returns the texts of a page, and releases it.
func pageTexts(page parquet.Page) (text []byte, err error) {
	defer explainPanic(&err)
	defer parquet.Release(page)
	var values [256]parquet.Value
	for reader := page.Values(); ; {
		n, readErr := reader.ReadValues(values[:])
		for _, value := range values[:n] {
			if value.IsNull() {
				continue
			}
			bytes := value.ByteArray()
			// A few bytes of a page can stand for many long texts.
			if text, err = memory.Grow(text, len(bytes)+1); err != nil {
				return nil, err
			}
			text = appendText(text, bytes)
		}
		if readErr == io.EOF {
			return text, nil
		}
		if readErr != nil {
			return nil, readErr
		}
		if n == 0 {
			return nil, io.ErrNoProgress
		}
	}
}
